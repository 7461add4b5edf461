/* SPDX-License-Identifier: Apache-2.0 */
#include "search/detection.h"

#include "base/mem.h"
#include "search/dice.h"
#include "series.h"
#include "unit/run.h"
#include <math.h>

#define ALL(s) s, LEN(s)
#define BOTH   true, true
#define ONE    true, false /* a change point that Perfherder does not see */

/* Where they disagree: see change_points_test.c for why. */
/* clang-format off */
static const struct {
    const char *name;
    const double *values;
    uint32_t n, each;
    uint32_t n_want;
    struct { uint32_t at; bool is_change_point, is_perfherder, is_alert; } want[4];
} rows[] = {
    {"both see ten percent",                ALL(d2), 1, 1, {{12, BOTH, true}}},
    {"both see a step without noise",       ALL(d4), 1, 1, {{15, BOTH, true}}},
    {"and with two values a push",          ALL(d5), 2, 1, {{6, BOTH, true}}},
    {"Perfherder lacks a value after it",   d2, LEN(d2) - 1, 1, 1, {{12, ONE, false}}},
    {"from zero there is no alert",         ALL(d1), 1, 1, {{8, ONE, false}}},
    {"two sd are too little for it",        ALL(d9), 1, 1, {{27, ONE, false}}},
    {"four are not, found at the same push", ALL(d10), 1, 1, {{31, BOTH, true}}},
    {"two tops of t are one change, and one step is hidden by the next",
                                            ALL(steps), 1, 4, {{40, BOTH, true}, {65, BOTH, true}, {125, BOTH, true}, {155, ONE, false}}},
    {"nobody sees one outlier",             ALL(d7), 1, 0, {{0}}},
};
/* clang-format on */

static struct push *pushes_of(const double *values, uint32_t n, uint32_t each)
{
    struct push *pushes = mem_array(n / each + 1, sizeof(*pushes));

    for (uint32_t i = 0; i < n / each; i++)
        pushes[i] = (struct push){values + (size_t)i * each, each};
    return pushes;
}

START_TEST(says_who_sees_it)
{
    uint32_t n_pushes = rows[_i].n / rows[_i].each;
    struct push *pushes = pushes_of(rows[_i].values, rows[_i].n, rows[_i].each);
    struct detected *found;
    uint32_t n = detect_changes(pushes, n_pushes, &found);

    ck_assert_msg(n == rows[_i].n_want, "%s: %u", rows[_i].name, n);
    for (uint32_t i = 0; i < n; i++) {
        const struct detected *d = &found[i];
        ck_assert_msg(d->at == rows[_i].want[i].at, "%s: at %u", rows[_i].name, d->at);
        ck_assert_msg(d->is_change_point == rows[_i].want[i].is_change_point &&
                          d->is_perfherder == rows[_i].want[i].is_perfherder &&
                          d->is_alert == rows[_i].want[i].is_alert,
                      "%s: %u", rows[_i].name, d->at);
        ck_assert(d->good < d->at && d->at <= d->bad && d->bad < n_pushes);
        ck_assert(isnan(d->t) == !d->is_perfherder && isnan(d->p) == !d->is_change_point);
        ck_assert(!d->is_perfherder || (d->good < d->t_at && d->t_at <= d->bad));
    }
    mem_free(found);
    mem_free(pushes);
}
END_TEST

enum { TRIALS = 1000, LENGTH = 100, STEP_AT = 50 };

/* The range that is suggested for a step of 2 sd holds it. */
START_TEST(suggested_range_holds_the_change)
{
    uint32_t n_found = 0, n_there = 0;

    for (uint32_t trial = 0; trial < TRIALS; trial++) {
        double values[LENGTH];
        struct detected *found;
        for (uint32_t i = 0; i < LENGTH; i++)
            values[i] = 100 + dice_normal(trial, i) + (i >= STEP_AT ? 2 : 0);
        struct push *pushes = pushes_of(values, LENGTH, 1);
        if (detect_changes(pushes, LENGTH, &found) == 1) {
            n_found++;
            n_there += found->good < STEP_AT && STEP_AT <= found->bad;
        }
        mem_free(found);
        mem_free(pushes);
    }
    ck_assert_msg(n_found >= .95 * TRIALS, "%u", n_found);
    ck_assert_msg(n_there >= .985 * n_found, "%u of %u", n_there, n_found);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {says_who_sees_it, LEN(rows)},
        {suggested_range_holds_the_change, 1},
    };

    return unit_run("detection", tests, LEN(tests));
}
