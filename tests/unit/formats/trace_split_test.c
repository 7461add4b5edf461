/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_split.h"
#include "unit/run.h"

enum { ROWS = 3, SPANS = 4 };

/* Times of rows by hand: each moment once, to what works if anything does. */
static const struct {
    const char *name;
    struct {
        uint32_t row;
        int64_t start_ns, ns;
        enum trace_rank rank;
    } spans[SPANS];
    size_t n;
    double want_ns[ROWS];
} rows[] = {
    {"nothing open gives nothing", {{0}}, 0, {0, 0, 0}},
    {"calls one after another keep their time",
     {{0, 100, 10, TRACE_WORKS}, {1, 110, 5, TRACE_WORKS}, {0, 200, 1, TRACE_WORKS}}, 3, {11, 5, 0}},
    {"two at once have half each",
     {{0, 0, 10, TRACE_WORKS}, {1, 0, 10, TRACE_WORKS}}, 2, {5, 5, 0}},
    {"a part that overlaps is shared, the rest is not",
     {{0, 0, 10, TRACE_WORKS}, {1, 6, 10, TRACE_WORKS}}, 2, {8, 8, 0}},
    {"three threads on one row sum up to the time gone by",
     {{0, 0, 9, TRACE_WORKS}, {0, 0, 9, TRACE_WORKS}, {0, 0, 9, TRACE_WORKS}}, 3, {9, 0, 0}},
    {"who waits has what no one works in",
     {{0, 0, 100, TRACE_AWAITS}, {1, 20, 30, TRACE_WORKS}}, 2, {70, 30, 0}},
    {"two who wait share that",
     {{0, 0, 10, TRACE_AWAITS}, {1, 0, 10, TRACE_AWAITS}, {2, 0, 4, TRACE_WORKS}}, 3, {3, 3, 4}},
    {"a parent that attends to its child takes nothing from what that waits for",
     {{0, 0, 10, TRACE_ATTENDS}, {1, 2, 6, TRACE_AWAITS}}, 2, {4, 6, 0}},
    {"a call of no length, or less, has nothing",
     {{0, 5, 0, TRACE_WORKS}, {1, 5, -3, TRACE_WORKS}, {2, 5, 1, TRACE_WORKS}}, 3, {0, 0, 1}},
    {"order of adding is no matter",
     {{1, 6, 10, TRACE_WORKS}, {0, 0, 10, TRACE_WORKS}}, 2, {8, 8, 0}},
};

START_TEST(each_moment_is_given_out_once)
{
    AUTO(trace_split_free) struct trace_split *s = trace_split_new();
    double got_ns[ROWS] = {0};

    for (size_t i = 0; i < rows[_i].n; i++)
        trace_split_add(s, rows[_i].spans[i].row, rows[_i].spans[i].start_ns, rows[_i].spans[i].ns,
                        rows[_i].spans[i].rank);
    trace_split_give(s, got_ns);
    for (size_t i = 0; i < ROWS; i++)
        ck_assert_msg(got_ns[i] > rows[_i].want_ns[i] - 1e-9 &&
                          got_ns[i] < rows[_i].want_ns[i] + 1e-9,
                      "%s: row %zu has %g", rows[_i].name, i, got_ns[i]);
}
END_TEST

static const struct {
    const char *call, *path;
    enum trace_rank want;
} ranks[] = {
    {"fsync", "/x.db", TRACE_WORKS},
    {"read", "/x.db", TRACE_WORKS},
    {"read", "pipe:[47528]", TRACE_ATTENDS},
    {"read", "TCP:[127.0.0.1:1->127.0.0.1:2]", TRACE_AWAITS},
    {"poll", "", TRACE_AWAITS},
    {"clock_nanosleep", "", TRACE_AWAITS},
    {"wait4", "", TRACE_ATTENDS},
    {"futex", "", TRACE_ATTENDS},
    {"nosuchcall", "", TRACE_WORKS},
};

START_TEST(calls_have_ranks)
{
    ck_assert_msg(trace_rank_of(ranks[_i].call, ranks[_i].path) == ranks[_i].want, "%s on %s",
                  ranks[_i].call, ranks[_i].path);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{each_moment_is_given_out_once, LEN(rows)},
                                       {calls_have_ranks, LEN(ranks)}};

    return unit_run("trace_split", tests, LEN(tests));
}
