/* SPDX-License-Identifier: Apache-2.0 */
#include "search/perfherder_alerts.h"

#include "base/mem.h"
#include "series.h"
#include "unit/run.h"
#include <math.h>
#include <stdlib.h>

static struct push *pushes_of(const double *values, uint32_t n, uint32_t each)
{
    struct push *pushes = mem_array(n / each + 1, sizeof(*pushes));

    for (uint32_t i = 0; i < n / each; i++)
        pushes[i] = (struct push){values + (size_t)i * each, each};
    return pushes;
}

START_TEST(level_weighs_the_nearest_most)
{
    static const double one[] = {1, 2, 3, 4}, two[] = {1, 3, 4, 4}, late[] = {0, 0, 1, 2};
    struct push w1[] = {{one, 1}, {one + 1, 1}, {one + 2, 1}, {one + 3, 1}};
    struct push w2[] = {{two, 2}, {two + 2, 2}};
    struct push t1[] = {{late, 1}, {late + 1, 1}, {late + 2, 1}, {late + 3, 1}};

    struct push_level w = push_level_of(w1, 1, 4, WEIGHTS_LINEAR);
    ck_assert(w.n == 4 && w.mean == 2 && w.variance == 2);
    w = push_level_of(w2, 1, 2, WEIGHTS_EVEN);
    ck_assert(w.n == 4 && w.mean == 3 && w.variance == 2);
    w = push_level_of(&w1[3], -1, 4, WEIGHTS_LINEAR);
    ck_assert_double_eq(w.mean, 3);

    struct push_level back = push_level_of(&t1[1], -1, 2, WEIGHTS_EVEN);
    struct push_level fore = push_level_of(&t1[2], 1, 2, WEIGHTS_EVEN);
    ck_assert_double_eq_tol(push_t(&back, &fore), 3, 1e-12);
    ck_assert_double_eq(push_t(&back, &back), 0);
}
END_TEST

#define NONE   UINT32_MAX
#define ALL(s) s, LEN(s)
#define USUAL  12, 24, 12, 7
/* clang-format off */
static const struct {
    const char *name;
    const double *values;
    uint32_t n, each; /* values a push */
    uint32_t min_back, max_back, fore;
    double t;
    uint32_t want;
    double t_there, t_before, t_after; /* negative: not looked at */
    double before, after;
    bool is_alert;
} rows[] = {
    {"D1: from zero, a change and no alert",    ALL(d1), 1, 5, 5, 5, 2,          8, INFINITY, -1, -1,          0, 1, false},
    {"D2: ten percent after twelve pushes",     ALL(d2), 1, USUAL,              12, 22.575184, 8.548779, 8.7353, 100.083333, 110.083333, true},
    {"D3: eleven values after it are too few",  d2, LEN(d2) - 1, 1, USUAL,    NONE, -1, -1, -1, 0, 0, false},
    {"D4: no noise at all",                     ALL(d4), 1, USUAL,              15, INFINITY, 9.838699, 9.838699, .5, 1, true},
    {"D5: two values a push",                   ALL(d5), 2, USUAL,               6, 18.571570, -1, -1, 100, 110, true},
    {"D6: two modes in turn",                   ALL(d6), 1, USUAL,            NONE, -1, -1, -1, 0, 0, false},
    {"D7: one outlier",                         ALL(d7), 1, USUAL,            NONE, -1, -1, -1, 0, 0, false},
    {"D8: a drift is never seen",               ALL(d8), 1, USUAL,            NONE, -1, -1, -1, 0, 0, false},
    {"D9: two percent in one percent of noise", ALL(d9), 1, USUAL,            NONE, -1, -1, -1, 0, 0, false},
    {"D10: four, found a push late",            ALL(d10), 1, USUAL,             31, 8.303856, -1, -1, 100.611757, 104.085729, true},
};
/* clang-format on */

/* t beside a change, by the same levels. */
static double t_at(const struct push *pushes, uint32_t n, uint32_t at)
{
    uint32_t back = at < 12 ? at : 12, fore = n - at < 12 ? n - at : 12;
    struct push_level b = push_level_of(&pushes[at - 1], -1, back, WEIGHTS_LINEAR);
    struct push_level f = push_level_of(&pushes[at], 1, fore, WEIGHTS_LINEAR);

    return push_t(&b, &f);
}

START_TEST(finds_what_perfherder_finds)
{
    struct alert_rule rule = alert_rule_usual;
    struct push *pushes = pushes_of(rows[_i].values, rows[_i].n, rows[_i].each);
    uint32_t n_pushes = rows[_i].n / rows[_i].each;
    struct push_change *found;

    rule.min_back = rows[_i].min_back;
    rule.max_back = rows[_i].max_back;
    rule.fore = rows[_i].fore;
    rule.t = rows[_i].t;
    uint32_t n = push_changes_find(pushes, n_pushes, &rule, &found);
    ck_assert_msg(n == (rows[_i].want != NONE), "%s: %u changes", rows[_i].name, n);
    if (n > 0) {
        ck_assert_msg(found->at == rows[_i].want, "%s: at %u", rows[_i].name, found->at);
        if (isinf(rows[_i].t_there))
            ck_assert(isinf(found->t));
        else
            ck_assert_double_eq_tol(found->t, rows[_i].t_there, 1e-6);
        ck_assert_double_eq_tol(found->before, rows[_i].before, 1e-6);
        ck_assert_double_eq_tol(found->after, rows[_i].after, 1e-6);
        ck_assert(push_change_is_alert(found, &rule) == rows[_i].is_alert);
    }
    if (rows[_i].t_before >= 0) {
        ck_assert_double_eq_tol(t_at(pushes, n_pushes, rows[_i].want - 1), rows[_i].t_before, 1e-4);
        ck_assert_double_eq_tol(t_at(pushes, n_pushes, rows[_i].want + 1), rows[_i].t_after, 1e-4);
    }
    mem_free(found);
    mem_free(pushes);
}
END_TEST

/* The largest t of D8 is 6.08, of D9 7.46 at the last place, where too few values follow. */
START_TEST(t_is_as_large_as_documented)
{
    static const struct {
        const double *values;
        uint32_t n;
        double most;
        uint32_t at;
    } cases[] = {{ALL(d8), 6.082763, UINT32_MAX}, {ALL(d9), 7.456626, 59}};

    for (size_t i = 0; i < LEN(cases); i++) {
        struct push *pushes = pushes_of(cases[i].values, cases[i].n, 1);
        struct push_change *found;
        struct alert_rule rule = {.min_back = 12, .max_back = 24, .fore = 12, .t = 0};
        rule.t = cases[i].most + 1e-5;
        ck_assert_uint_eq(push_changes_find(pushes, cases[i].n, &rule, &found), 0);
        mem_free(found);
        if (cases[i].at != UINT32_MAX) {
            struct push_level b = push_level_of(&pushes[cases[i].at - 1], -1, 24, WEIGHTS_LINEAR);
            struct push_level f = push_level_of(&pushes[cases[i].at], 1, 1, WEIGHTS_LINEAR);
            ck_assert_double_eq_tol(push_t(&b, &f), cases[i].most, 1e-6);
        }
        mem_free(pushes);
    }
}
END_TEST

/* What becomes an alert of changes of one size. */
/* clang-format off */
static const struct {
    const char *name;
    struct push_change change;
    double threshold;
    bool is_absolute, want;
} alerts[] = {
    {"two percent are enough",         {.before = 100, .after = 102,  .percent = 2},   2,  false, true},
    {"a little less is not",           {.before = 100, .after = 101,  .percent = 1},   2,  false, false},
    {"a change from zero is none",     {.before = 0,   .after = 50,   .percent = 0},   2,  false, false},
    {"nor one from below zero",        {.before = -10, .after = -20,  .percent = -100}, 2, false, false},
    {"but by its size it is",          {.before = 0,   .after = 50,   .percent = 0},   10, true,  true},
    {"unless that is small",           {.before = 0,   .after = 5,    .percent = 0},   10, true,  false},
};
/* clang-format on */

START_TEST(threshold_is_percent_or_absolute)
{
    struct alert_rule rule = alert_rule_usual;

    rule.threshold = alerts[_i].threshold;
    rule.is_absolute = alerts[_i].is_absolute;
    ck_assert_msg(push_change_is_alert(&alerts[_i].change, &rule) == alerts[_i].want, "%s",
                  alerts[_i].name);
}
END_TEST

START_TEST(next_to_nothing_has_no_change)
{
    static const double one = 1;
    struct push p = {&one, 1};
    struct push_change *found;

    ck_assert_uint_eq(push_changes_find(NULL, 0, &alert_rule_usual, &found), 0);
    mem_free(found);
    ck_assert_uint_eq(push_changes_find(&p, 1, &alert_rule_usual, &found), 0);
    mem_free(found);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {level_weighs_the_nearest_most, 1}, {finds_what_perfherder_finds, LEN(rows)},
        {t_is_as_large_as_documented, 1},   {threshold_is_percent_or_absolute, LEN(alerts)},
        {next_to_nothing_has_no_change, 1},
    };

    return unit_run("perfherder_alerts", tests, LEN(tests));
}
