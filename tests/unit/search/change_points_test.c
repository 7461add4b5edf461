/* SPDX-License-Identifier: Apache-2.0 */
#include "search/change_points.h"

#include "base/mem.h"
#include "search/dice.h"
#include "search/perfherder_alerts.h"
#include "series.h"
#include "unit/run.h"
#include <math.h>
#include <stdlib.h>

#define ALL(s) s, LEN(s)

/* Expected: the tests of Apache Otava, and for the rest a second implementation, straight from the
 * formulas and with p from an integral of the density. */
static const double otava[] = {1.02, .95, .99, 1,   1.12, 1,  1.01, .98, 1.01, .96,
                               .5,   .51, .48, .48, .55,  .5, .49,  .51, .5,   .49};

/* clang-format off */
static const struct {
    const char *name;
    const double *values;
    uint32_t n;
    struct change_rule rule;
    uint32_t n_want, want[8]; /* 0: anywhere, for ties that rounding decides */
    double p; /* of the first; negative: not looked at */
    uint32_t n_perfherder, perfherder[4];
} rows[] = {
    {"as Otava has it",              ALL(otava),        {10, .0001, 0}, 1, {10}, 3.627606e-17, 0, {0}},
    {"a flat series",                d4, 15,            {50, .001, 0},  0, {0}, -1,            0, {0}},
    {"two values",                   d4 + 14, 2,        {50, .001, 0},  0, {0}, -1,            0, {0}},
    {"no value",                     d4, 0,             {50, .001, 0},  0, {0}, -1,            0, {0}},
    /* Both agree, Perfherder within a push. */
    {"D2: ten percent",              ALL(d2),           {50, .001, 0},  1, {12}, 1.016512e-16, 1, {12}},
    {"D4: no noise at all",          ALL(d4),           {50, .001, 0},  1, {15}, 0,            1, {15}},
    {"D10: four sd",                 ALL(d10),          {50, .001, 0},  1, {31}, 5.178108e-21, 1, {31}},
    {"D6: two modes in turn",        ALL(d6),           {50, .001, 0},  0, {0}, -1,            0, {0}},
    {"D7: one outlier",              ALL(d7),           {50, .001, 0},  0, {0}, -1,            0, {0}},
    /* Perfherder wants twelve values after a change, and before it. */
    {"D1: eight and eight",          ALL(d1),           {50, .001, 0},  1, {8},  0,            0, {0}},
    {"D3: eleven after it",          d2, LEN(d2) - 1,   {50, .001, 0},  1, {12}, 7.865143e-16, 0, {0}},
    /* Its t needs 7, as much as two sd in 24 values do not reach; this one is off by three pushes,
     * which is what first and last are for. */
    {"D9: two sd",                   ALL(d9),           {50, .001, 0},  1, {27}, 2.379171e-12, 0, {0}},
    /* A drift is no step: Perfherder sees none, this one a stair of them. */
    {"D8: a drift",                  ALL(d8),           {50, .001, 0},  8, {0}, -1, 0, {0}},
    /* It counts a change twice where t has two tops, and has none where the next one is too near. */
    {"four steps",                   ALL(steps),        {50, .001, 0},  4, {40, 65, 125, 155}, 1.077846e-23, 4, {40, 65, 125, 127}},
    /* The smallest goes first, and without it those beside it are smaller too. */
    {"four steps of over 2.5 percent", ALL(steps), {50, .001, .025}, 4, {40, 65, 125, 155}, 1.077846e-23, 4, {40, 65, 125, 127}},
    {"three percent is more than some have", ALL(steps), {50, .001, .03}, 0, {0}, -1, 4, {40, 65, 125, 127}},
    {"half of them at a time", ALL(steps), {25, .001, 0}, 4, {40, 67, 125, 155}, 2.884883e-23, 4, {40, 65, 125, 127}},
};
/* clang-format on */

static void check_perfherder(const double *values, uint32_t n, const uint32_t *want,
                             uint32_t n_want, const char *name)
{
    struct push *pushes = mem_array(n + 1, sizeof(*pushes));
    struct push_change *found;

    for (uint32_t i = 0; i < n; i++)
        pushes[i] = (struct push){values + i, 1};
    uint32_t n_found = push_changes_find(pushes, n, &alert_rule_usual, &found);
    ck_assert_msg(n_found == n_want, "%s: Perfherder finds %u", name, n_found);
    for (uint32_t i = 0; i < n_found; i++)
        ck_assert_msg(found[i].at == want[i], "%s: Perfherder at %u", name, found[i].at);
    mem_free(found);
    mem_free(pushes);
}

START_TEST(finds_what_others_find)
{
    struct change_point *found;
    uint32_t n = change_points_find(rows[_i].values, rows[_i].n, &rows[_i].rule, &found);

    ck_assert_msg(n == rows[_i].n_want, "%s: %u change points", rows[_i].name, n);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert_msg(!rows[_i].want[i] || found[i].at == rows[_i].want[i], "%s: at %u",
                      rows[_i].name, found[i].at);
        ck_assert(found[i].first <= found[i].at && found[i].at <= found[i].last);
        ck_assert(found[i].first > 0 && found[i].last < rows[_i].n);
    }
    if (rows[_i].p >= 0 && n > 0)
        ck_assert_msg(fabs(found->p - rows[_i].p) <= 1e-5 * rows[_i].p, "%s: p %.9g", rows[_i].name,
                      found->p);
    check_perfherder(rows[_i].values, rows[_i].n, rows[_i].perfherder, rows[_i].n_perfherder,
                     rows[_i].name);
    mem_free(found);
}
END_TEST

START_TEST(levels_are_those_of_the_stretches_beside_it)
{
    struct change_point *found;

    ck_assert_uint_eq(change_points_find(ALL(d2), &change_rule_usual, &found), 1);
    ck_assert_double_eq_tol(found->before.mean, 100.083333, 1e-6);
    ck_assert_double_eq_tol(found->after.mean, 110.083333, 1e-6);
    ck_assert(found->before.n == 12 && found->after.n == 12);
    mem_free(found);
    ck_assert_uint_eq(change_points_find(ALL(d9), &change_rule_usual, &found), 1);
    ck_assert(found->first <= 30 && found->last >= 27); /* the step is at 30 */
    mem_free(found);
}
END_TEST

enum { TRIALS = 2000, LENGTH = 100, STEP_AT = 50 };

static uint32_t play(uint32_t trial, double step, struct change_point **found)
{
    double values[LENGTH];

    for (uint32_t i = 0; i < LENGTH; i++)
        values[i] = 100 + dice_normal(trial, i) + (i >= STEP_AT ? step : 0);
    return change_points_find(values, LENGTH, &change_rule_usual, found);
}

/* A step of 1.5 sd: where it may be holds the truth about as often as it says. */
START_TEST(places_are_as_sure_as_they_say)
{
    uint32_t n_found = 0, n_there = 0, n_near = 0;

    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct change_point *found;
        if (play(trial, 1.5, &found) == 1) {
            n_found++;
            n_there += found->first <= STEP_AT && STEP_AT <= found->last;
            n_near += found->last - found->first <= 12;
        }
        mem_free(found);
    }
    ck_assert_msg(n_found >= .95 * TRIALS, "%u found", n_found);
    ck_assert_msg(n_there >= .985 * n_found, "%u of %u hold it", n_there, n_found);
    ck_assert_msg(n_near >= .6 * n_found, "%u of %u are narrow", n_near, n_found);
}
END_TEST

START_TEST(noise_alone_is_seldom_a_change)
{
    uint32_t n_wrong = 0;

    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        struct change_point *found;
        n_wrong += play(trial, 0, &found) > 0;
        mem_free(found);
    }
    ck_assert_msg(n_wrong <= .06 * TRIALS, "%u of %u", n_wrong, TRIALS);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {finds_what_others_find, LEN(rows)},
        {levels_are_those_of_the_stretches_beside_it, 1},
        {places_are_as_sure_as_they_say, 1},
        {noise_alone_is_seldom_a_change, 1},
    };

    return unit_run("change_points", tests, LEN(tests));
}
