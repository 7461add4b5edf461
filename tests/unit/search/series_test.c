/* SPDX-License-Identifier: Apache-2.0 */
#include "search/series.h"

#include "base/mem.h"
#include "search/dice.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

enum { N = 2000, FIRST = 100, LAST = N - 101, COMMITS = LAST - FIRST + 1 };

/** A value for each place; FIRST to LAST are commits of the range, good the first, bad the last.
 * The level rises by `step` at each of `at`. */
struct story {
    double step;
    uint32_t n_steps, at[3];
};

static void tell(const struct story *story, struct series_point points[N])
{
    for (uint32_t i = 0; i < N; i++) {
        double level = 100;
        for (uint32_t k = 0; k < story->n_steps; k++)
            level += i >= story->at[k] ? story->step : 0;
        points[i].commit = i >= FIRST && i <= LAST ? i - FIRST : SERIES_OUTSIDE;
        points[i].value = level + dice_normal(7, i);
    }
}

/* clang-format off */
static const struct {
    const char *name;
    struct story story;
    uint32_t n_before, n_after; /* points beside that count as good, and as bad */
    uint32_t near;              /* a step with points all around it; 0: none */
} rows[] = {
    {"no change at all",              {0, 0, {0}},                24, 24, 0},
    {"one in the middle",             {4, 1, {1000}},             24, 24, 1000},
    {"one just before good",          {4, 1, {FIRST - 5}},         5, 24, 0},
    {"one just after bad",            {4, 1, {LAST + 9}},         24,  8, 0},
    {"three, one of them in between", {4, 3, {90, 700, LAST + 4}}, 10,  3, 700},
};
/* clang-format on */

START_TEST(keeps_what_matters)
{
    struct series_point *points = mem_array(N, sizeof(*points));
    uint32_t *as = mem_array(N, sizeof(*as)), *runs = mem_array(COMMITS, sizeof(*runs));
    struct series s = {
        .n = N, .points = points, .n_commits = COMMITS, .bad = COMMITS - 1, .most = 48};
    uint32_t n_commits = 0, n_before = 0, n_after = 0;

    tell(&rows[_i].story, points);
    series_choose(&s, as);
    for (uint32_t i = 0; i < N; i++) {
        if (as[i] == SERIES_OUTSIDE)
            continue;
        n_before += i < FIRST;
        n_after += i > LAST;
        ck_assert(i < FIRST ? as[i] == 0 : i > LAST ? as[i] == s.bad : as[i] == i - FIRST);
        n_commits += runs[as[i]]++ == 0;
    }
    ck_assert_msg(n_commits <= s.most && n_commits >= s.most / 2, "%s: %u commits", rows[_i].name,
                  n_commits);
    /* Never one from beyond a change; where that is not sure to the point, a few less. */
    ck_assert_msg(n_before <= rows[_i].n_before && n_before + 2 >= rows[_i].n_before,
                  "%s: %u before", rows[_i].name, n_before);
    ck_assert_msg(n_after <= rows[_i].n_after && n_after + 2 >= rows[_i].n_after, "%s: %u after",
                  rows[_i].name, n_after);
    ck_assert(runs[0] > 0 && runs[COMMITS - 1] > 0);
    for (uint32_t i = rows[_i].near; i && i < rows[_i].near + 4; i++)
        ck_assert_msg(runs[i - FIRST] && runs[i - FIRST - 4], "%s: %u is left out", rows[_i].name,
                      i);
    mem_free(points);
    mem_free(as);
    mem_free(runs);
}
END_TEST

START_TEST(keeps_a_short_series_whole)
{
    struct series_point points[60];
    uint32_t as[60];
    struct series s = {
        .n = 60, .points = points, .n_commits = 31, .good = 0, .bad = 30, .most = 48};

    /* Two values a commit, some of them long after. */
    for (uint32_t i = 0; i < 60; i++)
        points[i] = (struct series_point){i % 30, 100 + dice_normal(3, i)};
    series_choose(&s, as);
    for (uint32_t i = 0; i < 60; i++)
        ck_assert_uint_eq(as[i], i % 30);
}
END_TEST

START_TEST(takes_few_values_of_one_commit)
{
    struct series_point points[100];
    uint32_t as[100], n = 0;
    struct series s = {.n = 100, .points = points, .n_commits = 2, .good = 0, .bad = 1, .most = 48};

    for (uint32_t i = 0; i < 100; i++)
        points[i] = (struct series_point){1, 100};
    series_choose(&s, as);
    for (uint32_t i = 0; i < 100; i++)
        n += as[i] == 1;
    ck_assert_uint_eq(n, SERIES_RUNS);
}
END_TEST

/* Where the series has no point of an end, what lies beside the range is not known to be on its
 * level. */
START_TEST(leaves_out_what_lies_beside_an_end_it_does_not_have)
{
    struct series_point points[N];
    uint32_t as[N];
    struct series s = {.n = N,
                       .points = points,
                       .n_commits = COMMITS + 2,
                       .good = COMMITS,
                       .bad = COMMITS + 1,
                       .most = 48};

    tell(&(struct story){0, 0, {0}}, points);
    series_choose(&s, as);
    for (uint32_t i = 0; i < N; i++)
        ck_assert((i >= FIRST && i <= LAST) || as[i] == SERIES_OUTSIDE);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    size_t n;
    double values[5], limit;
} limits[] = {
    {"nothing",                    0, {0}, INFINITY},
    {"one value",                  1, {-2}, 2000},
    {"a slip among others",        5, {1e30, 100, 101, 99, 100}, 100000},
    {"a slip below zero",          4, {100, -1e30, 101, 99}, 100000},
    {"half of them",               4, {3, 9e9, 1, 8e8}, 3000},
    {"zeros say nothing of sizes", 3, {0, 0, 7}, INFINITY},
};
/* clang-format on */

START_TEST(knows_a_slip_by_its_size)
{
    double limit = series_limit(limits[_i].values, limits[_i].n);

    ck_assert_msg(limit == limits[_i].limit, "%s: %g", limits[_i].name, limit);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {keeps_what_matters, LEN(rows)},
        {keeps_a_short_series_whole, 1},
        {takes_few_values_of_one_commit, 1},
        {leaves_out_what_lies_beside_an_end_it_does_not_have, 1},
        {knows_a_slip_by_its_size, LEN(limits)},
    };

    return unit_run("series", tests, LEN(tests));
}
