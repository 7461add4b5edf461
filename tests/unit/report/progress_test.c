/* SPDX-License-Identifier: Apache-2.0 */
#include "report/progress.h"
#include "unit/report/verdicts.h"
#include "unit/run.h"
#include <math.h>

static const struct style wide = {.width = 100};

START_TEST(a_flat_belief_leaves_the_whole_range)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);

    ck_assert_uint_eq(progress_candidates(v), 214);
    add_candidate(v, 'a', .1);
    ck_assert_uint_eq(progress_candidates(v), 214);
    add_candidate(v, 'b', .6);
    ck_assert_uint_eq(progress_candidates(v), 2);
}
END_TEST

START_TEST(two_lines_say_it_all)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};
    struct buf lines[PROGRESS_LINES] = {{0}};

    add_candidate(v, 'a', .61);
    add_candidate(v, 'b', .22);
    v->p_no_change = .03;
    v->activity = mem_dup("measuring aaaaaaa 3/8");
    progress_live(v, 125, &wide, lines);
    first = lines[0];
    second = lines[1];
    ck_assert_str_eq(buf_str(&first), "2 of 214 commits left | aaaaaaa 61 %, bbbbbbb 22 % | "
                                      "no change 3 %");
    ck_assert_str_eq(buf_str(&second),
                     "measuring aaaaaaa 3/8 | 9 builds, 47 runs, about 30 to go | 2m05s");
}
END_TEST

/* nan, while nothing is measured, counts for nothing. */
START_TEST(a_belief_that_is_not_there_yet_leaves_all)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);

    add_candidate(v, 'a', .1);
    v->p_no_change = NAN;
    ck_assert_uint_eq(progress_candidates(v), 214);
}
END_TEST

START_TEST(lines_never_wrap)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);
    AUTO(buf_fini) struct buf first = {0};
    AUTO(buf_fini) struct buf second = {0};
    struct buf lines[PROGRESS_LINES] = {{0}};
    struct style narrow = {.width = 40, .is_utf8 = true};

    v->activity = mem_dup("ööööööööööööööööööööööööööööööööööööööööööööööööööööö");
    progress_live(v, 1, &narrow, lines);
    first = lines[0];
    second = lines[1];
    size_t columns = 0;
    for (size_t i = 0; i < second.len; i++)
        columns += ((unsigned char)second.data[i] & 0xc0) != 0x80;
    ck_assert_uint_eq(columns, 39);
}
END_TEST

START_TEST(a_plain_line_is_one_line)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);
    AUTO(buf_fini) struct buf out = {0};

    v->activity = mem_dup("building\n\033[1m");
    v->expected_runs = NAN;
    progress_plain(v, 3.2, &out);
    ck_assert_str_eq(buf_str(&out), "214 of 214 commits left; building\xEF\xBF\xBD\xEF\xBF\xBD[1m; "
                                    "9 builds, 47 runs; 3s\n");
}
END_TEST

START_TEST(before_the_history_is_read)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NONE);
    AUTO(buf_fini) struct buf out = {0};

    v->state = BISECTION_RESOLVING;
    v->cost = (struct cost){0};
    v->expected_runs = NAN;
    progress_plain(v, -1, &out);
    ck_assert_str_eq(buf_str(&out), "reading the history; 0 builds, 0 runs\n");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_flat_belief_leaves_the_whole_range, 1},
        {two_lines_say_it_all, 1},
        {a_belief_that_is_not_there_yet_leaves_all, 1},
        {lines_never_wrap, 1},
        {a_plain_line_is_one_line, 1},
        {before_the_history_is_read, 1},
    };
    return unit_run("progress", tests, LEN(tests));
}
