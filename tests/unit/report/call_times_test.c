/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "report/call_times.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

enum { MAX_CALLS = 3, PLAIN_RUNS = 4 };

/* Differences as traced runs state them, in milliseconds, and untraced runs of the two builds,
 * whose elapsed time is up and down by 1 % by turns. Tracing costs 6 us a call. */
static const struct {
    const char *name;
    struct {
        const char *call, *path;
        double n[SIDES], ms[SIDES], want_ms[SIDES];
    } calls[MAX_CALLS];
    double elapsed_ms[SIDES], user_ms[SIDES], system_ms[SIDES];
    bool is_parallel;
    double want_error_ms;
} rows[] = {
    /* By hand: at least (6.5 - .7) ms / 60000 = 96.67 ns a call, at most (11.7 - 4.8 - .7) ms /
     * 60000
     * + 50 ns = 153.33 ns; in between 125 +- 16.36 ns. Untraced time is known to 1.2 * .577 % of
     * 11.7 ms, 1.35 ns a call. What the two have beside: 24 - 3 - 21.3 - 6.2 + 7.5 = 1 ms. Of
     * fsync, 198 * 4.2 us. */
    {"many cheap calls take what an untraced run has for them",
     {{"write", "/dev/null", {60000, 0}, {68, 0}, {7.5, 0}},
      {"fsync", "/x.db", {2, 200}, {.7, 21.3}, {.7, 21.3}}},
     {11.7, 24},
     {4.8, 3},
     {6.5, 6},
     false,
     1.382556},
    /* At least 7.5 / 60000 = 125 ns, at most 25.5 - 17.6 / 60000 + 50 = 181.67 ns. */
    {"so they do where they are more, however much tracing states",
     {{"write", "/dev/null", {0, 60000}, {0, 640}, {0, 9.2}}},
     {3, 25.5},
     {2.5, 17.6},
     {.5, 7.5},
     false,
     1.343334},
    {"or nothing is stated at all, since they are too many to time",
     {{"write", "", {0, 60000}, {NAN, NAN}, {0, 9.2}}},
     {3, 25.5},
     {2.5, 17.6},
     {.5, 7.5},
     false,
     1.343334},
    {"as many on both sides do not differ in what tracing cannot tell",
     {{"write", "/dev/null", {60000, 60000}, {30, 68}, {7, 7}}},
     {10, 10},
     {3, 3},
     {4, 4},
     false,
     0},
    {"few of them take what is stated, and may take what tracing costs",
     {{"write", "/x.db", {0, 200}, {0, .8}, {0, .8}}},
     {10, 30},
     {3, 3},
     {1, 9},
     false,
     .84},
    /* 10 ms, and 3 * 1.2 * .57735 % of it. */
    {"no call takes longer than the untraced run",
     {{"fsync", "/a", {300, 300}, {15, 7.5}, {7.65589, 7.5}},
      {"fsync", "/b", {100, 100}, {5, 2.5}, {2.55196, 2.5}}},
     {10, 10},
     {1, 1},
     {1, 1},
     false,
     0},
    {"user time beside calls, of another thread, leaves them room",
     {{"write", "/dev/null", {0, 60000}, {0, 640}, {0, 15.75}}},
     {3, 25.5},
     {2.5, 40},
     {.5, 7.5},
     true,
     NAN},
    {"what waits is none of this",
     {{"poll", "", {0, 60000}, {0, 640}, {0, 640}}},
     {3, 25.5},
     {2.5, 17.6},
     {.5, 7.5},
     false,
     0},
};

static struct inspection *seen_of(int row)
{
    struct inspection *v = mem_alloc(sizeof(*v));

    v->cost_us = 6;
    v->is_pinned = !rows[row].is_parallel;
    for (int k = 0; k < PLAIN_RUNS; k++)
        for (int side = 0; side < SIDES; side++) {
            struct inspected_run *r = inspection_add_run(v);
            r->build = (uint32_t)side;
            r->how = INSPECTED_PLAIN;
            r->seconds = rows[row].elapsed_ms[side] * 1e-3 * (k % 2 ? 1.01 : .99);
            r->has_usage = true;
            r->usage.user_s = rows[row].user_ms[side] * 1e-3;
            r->usage.system_s = rows[row].system_ms[side] * 1e-3;
        }
    return v;
}

static void add_rows(struct explanation *v, int row)
{
    for (size_t i = 0; i < MAX_CALLS && rows[row].calls[i].call; i++) {
        struct difference *d = explanation_add_difference(v);
        d->call = mem_dup(rows[row].calls[i].call);
        d->path = mem_dup(rows[row].calls[i].path);
        d->group = mem_dup("other");
        for (int side = 0; side < SIDES; side++) {
            d->count[side] = rows[row].calls[i].n[side];
            d->seconds[side] = rows[row].calls[i].ms[side] * 1e-3;
        }
    }
}

START_TEST(times_are_as_by_hand)
{
    AUTO(inspection_free) struct inspection *seen = seen_of(_i);
    AUTO(explanation_free) struct explanation *v = mem_alloc(sizeof(*v));

    add_rows(v, _i);
    const double error_ms = 1e3 * call_times_settle(v, seen);
    for (size_t i = 0; i < v->n_differences; i++)
        for (int side = 0; side < SIDES; side++) {
            const double ms = 1e3 * v->differences[i].seconds[side];
            ck_assert_msg(fabs(ms - rows[_i].calls[i].want_ms[side]) < 1e-4, "%s: %s takes %g ms",
                          rows[_i].name, v->differences[i].call, ms);
        }
    ck_assert_msg(isnan(rows[_i].want_error_ms) || fabs(error_ms - rows[_i].want_error_ms) < 1e-4,
                  "%s: error %.6f ms", rows[_i].name, error_ms);
}
END_TEST

START_TEST(slower_runs_that_the_change_is_of_are_no_contradiction)
{
    AUTO(inspection_free) struct inspection *seen = seen_of(5);
    AUTO(explanation_free) struct explanation *v = mem_alloc(sizeof(*v));

    add_rows(v, 5);
    v->change_s = -.012; /* the parent's 20 ms are within 10 + 12 */
    (void)call_times_settle(v, seen);
    ck_assert_double_eq_tol(v->differences[0].seconds[BEFORE], .015, 1e-9);
    ck_assert_double_eq_tol(v->differences[1].seconds[BEFORE], .005, 1e-9);
}
END_TEST

START_TEST(without_untraced_runs_times_are_as_stated)
{
    AUTO(inspection_free) struct inspection *seen = mem_alloc(sizeof(*seen));
    AUTO(explanation_free) struct explanation *v = mem_alloc(sizeof(*v));

    seen->cost_us = 6;
    add_rows(v, 0);
    double error_s = call_times_settle(v, seen);
    ck_assert_double_eq_tol(v->differences[0].seconds[BEFORE], .068, 1e-9);
    ck_assert_double_eq_tol(error_s, .7 * 6e-6 * (60000 - 198), 1e-9);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {times_are_as_by_hand, LEN(rows)},
        {slower_runs_that_the_change_is_of_are_no_contradiction, 1},
        {without_untraced_runs_times_are_as_stated, 1},
    };

    return unit_run("call_times", tests, LEN(tests));
}
