/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"
#include "unit/report/verdicts.h"
#include "unit/run.h"
#include <math.h>

static const struct style plain = {0};

/* clang-format off */
static const struct {
    enum bisection_state state;
    enum verdict_kind kind;
    int want;
} statuses[] = {
    {BISECTION_DONE,      VERDICT_CULPRIT,        0},
    {BISECTION_DONE,      VERDICT_NOT_REPRODUCED, 3},
    {BISECTION_DONE,      VERDICT_RANGE,          4},
    {BISECTION_DONE,      VERDICT_INCONCLUSIVE,   4},
    {BISECTION_DONE,      VERDICT_FAILED,         1},
    {BISECTION_QUEUED,    VERDICT_NONE,           5},
    {BISECTION_RESOLVING, VERDICT_NONE,           5},
    {BISECTION_RUNNING,   VERDICT_NONE,           5},
    {BISECTION_CANCELED,  VERDICT_NONE,           4},
    {BISECTION_CANCELED,  VERDICT_INCONCLUSIVE,   4},
};
/* clang-format on */

START_TEST(each_verdict_has_its_exit_status)
{
    struct verdict v = {.state = statuses[_i].state, .kind = statuses[_i].kind};

    ck_assert_int_eq(verdict_exit_status(&v), statuses[_i].want);
}
END_TEST

START_TEST(culprit_in_full)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "storage: batch inserts", 1);
    add_candidate(v, 'b', .004);
    summary_write(v, &plain, &out);
    ck_assert_str_eq(buf_str(&out),
                     "culprit: aaaaaaaaaa storage: batch inserts\n"
                     "\n"
                     "  author      Jane Doe <jane@example.org>\n"
                     "  change      1550 -> 2498 ms: +947.8 ms, +61.1 %\n"
                     "              95 % interval +921 to +974.1 ms\n"
                     "  before      1550 ms  ###############          12 runs\n"
                     "  after       2498 ms  ######################## 14 runs\n"
                     "  confidence  99.3 % (99 % asked for)\n"
                     "  next best   bbbbbbbbbb 0.4 %\n"
                     "  metric      ts on linux-x64, changes under 1 % are not looked for\n"
                     "  range       214 commits, 1111111111..9999999999\n"
                     "  evidence    9 builds (and 2 reused), 47 runs, 5m12s\n");
}
END_TEST

/* clang-format off */
static const struct {
    struct excluded excluded;
    const char *want; /* NULL: no line */
} exclusions[] = {
    {{0, 0, 0}, NULL},
    {{3, 9, 0}, "excluded    12 commits: 9 build to the same bytes, 3 touch nothing the build reads\n"},
    {{1, 1, 1}, "excluded    3 commits: 1 builds to the same bytes, 1 touches nothing the build reads, "
                "1 looks like documentation and costs no run\n"},
    {{0, 0, 2}, "excluded    2 commits: 2 look like documentation and cost no run\n"},
    {{1, 0, 0}, "excluded    1 commit: 1 touches nothing the build reads\n"},
};
/* clang-format on */

START_TEST(what_was_excluded_is_counted)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "x", 1);
    v->excluded = exclusions[_i].excluded;
    summary_write(v, &plain, &out);
    const char *line = strstr(buf_str(&out), "excluded");
    if (!exclusions[_i].want)
        ck_assert_ptr_null(line);
    else
        ck_assert_msg(line && strncmp(line, exclusions[_i].want, strlen(exclusions[_i].want)) == 0,
                      "%s", buf_str(&out));
}
END_TEST

START_TEST(what_was_done_to_revisions_is_said)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "x", 1);
    v->n_fixed = 2;
    v->fixed = mem_array(2, sizeof(*v->fixed));
    v->fixed[0].revision = revision_of('a');
    v->fixed[1].revision = revision_of('b');
    strings_add(&v->fixed[0].applied, "old.patch");
    strings_add(&v->fixed[0].applied, "A=\033[1m");
    v->n_confirmations = 1;
    v->confirmations = mem_array(1, sizeof(*v->confirmations));
    v->confirmations[0].message = mem_dup("reverting it on head brings back ts");
    summary_write(v, &plain, &out);
    ck_assert_msg(strstr(buf_str(&out), "  on head     reverting it on head brings back ts\n"
                                        "  built with  old.patch, A=\uFFFD[1m (aaaaaaaaaa)\n"
                                        "              nothing else (bbbbbbbbbb)\n"),
                  "%s", buf_str(&out));
}
END_TEST

START_TEST(a_ratio_from_zero_is_left_out)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "x", 1);
    v->culprits[0].good.mean = 0;
    v->culprits[0].ratio = NAN;
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "0 -> 2498 ms: +947.8 ms\n"));
    ck_assert_ptr_null(strstr(buf_str(&out), "nan"));
}
END_TEST

START_TEST(several_culprits_have_shares)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "first", .26);
    add_culprit(v, 'b', "second", .74);
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "culprits: 2 commits share the change\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "\n1. aaaaaaaaaa first\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "\n2. bbbbbbbbbb second\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "share       74 %"));
}
END_TEST

START_TEST(a_range_lists_its_set)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_RANGE);
    AUTO(buf_fini) struct buf out = {0};

    add_candidate(v, '3', .5);
    add_candidate(v, '4', .5);
    add_untestable(v, '3');
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "range: one of 2 commits\n  A sentence.\n\n"
                                                "  3333333333  cannot be tested\n"
                                                "  4444444444\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), ", 1 cannot be tested\n"));
}
END_TEST

START_TEST(a_long_range_says_how_much_is_left_out)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_RANGE);
    AUTO(buf_fini) struct buf out = {0};

    for (int i = 0; i < 40; i++)
        add_candidate(v, 'c', .025);
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "and 21 more (--json has all)\n"));
}
END_TEST

START_TEST(not_reproduced_says_how_sure)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NOT_REPRODUCED);
    AUTO(buf_fini) struct buf out = {0};

    v->p_no_change = .996;
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "not reproduced\n  A sentence.\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "no change   99.6 % (99 % asked for)\n"));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    enum verdict_kind kind;
    enum bisection_state state;
    double p_no_change, effect;
    const char *message, *has, *lacks;
} lines[] = {
    {"belief without evidence",  VERDICT_INCONCLUSIVE, BISECTION_DONE, NAN, 1, "x", "inconclusive\n", "no change"},
    {"belief with evidence",     VERDICT_INCONCLUSIVE, BISECTION_DONE, .3, 1, "x", "no change   30.0 %", "nan"},
    {"no minimum effect yet",    VERDICT_FAILED, BISECTION_DONE, NAN, NAN, "x", "ts on linux-x64\n", "changes under"},
    {"an effect of next to nil", VERDICT_FAILED, BISECTION_DONE, NAN, 2e-6, "x", "ts on linux-x64\n", "changes under"},
    {"an effect of ten times",   VERDICT_FAILED, BISECTION_DONE, NAN, 1000, "x", "changes under 10 times the good level are", "1e+03"},
    {"canceled is said once",    VERDICT_NONE, BISECTION_CANCELED, NAN, 1, "canceled", "canceled\n\n", "canceled\n  canceled"},
};
/* clang-format on */

START_TEST(a_line_says_what_is_known)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(lines[_i].kind);
    AUTO(buf_fini) struct buf out = {0};

    v->state = lines[_i].state;
    v->p_no_change = lines[_i].p_no_change;
    v->min_effect_percent = lines[_i].effect;
    mem_free(v->message);
    v->message = mem_dup(lines[_i].message);
    summary_write(v, &plain, &out);
    ck_assert_msg(strstr(buf_str(&out), lines[_i].has) != NULL, "%s: %s", lines[_i].name,
                  buf_str(&out));
    ck_assert_msg(strstr(buf_str(&out), lines[_i].lacks) == NULL, "%s: %s", lines[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(a_ratio_of_next_to_nil_is_left_out)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "x", 1);
    v->culprits[0].ratio = 1 + 2e-8;
    summary_write(v, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "+947.8 ms\n"));
}
END_TEST

START_TEST(a_comparison_in_full)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_REGRESSED);
    AUTO(buf_fini) struct buf out = {0};

    v->is_comparison = true;
    add_culprit(v, '9', "x", 1);
    v->change = mem_alloc(sizeof(*v->change));
    *v->change = v->culprits[--v->n_culprits];
    summary_write(v, &plain, &out);
    const char *text = buf_str(&out);
    ck_assert_int_eq(verdict_exit_status(v), 0);
    ck_assert_ptr_nonnull(strstr(text, "regressed: head 9999999999 against base 1111111111\n"));
    ck_assert_ptr_nonnull(strstr(text, "  base        1550 ms"));
    ck_assert_ptr_nonnull(strstr(text, "  head        2498 ms"));
    ck_assert_ptr_nonnull(strstr(text, "  changed     99.9 % (99 % asked for)\n"));
    ck_assert_ptr_null(strstr(text, "  range "));
}
END_TEST

START_TEST(hostile_text_stays_on_its_line)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};

    add_culprit(v, 'a', "x\033]0;owned\a\nculprit: me", 1);
    mem_free(v->metric_unit);
    v->metric_unit = mem_dup("\033[2J");
    summary_write(v, &plain, &out);
    ck_assert_ptr_null(strchr(buf_str(&out), '\033'));
    ck_assert_ptr_null(strstr(buf_str(&out), "\nculprit: me"));
}
END_TEST

START_TEST(next_steps_work_where_the_reader_is)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};
    struct place there = {.repository = "/home/me/my repo", .store = "/tmp/store"};

    add_culprit(v, 'a', "x", 1);
    next_write(v, &there, &plain, &out);
    const char *text = buf_str(&out);
    ck_assert_ptr_nonnull(strstr(text, "  git -C '/home/me/my repo' show aaaaaaaaaa"));
    ck_assert_ptr_nonnull(strstr(text, "  bisectctl log 4f3a9c1d aaaaaaaaaa --store /tmp/store"));
    ck_assert_ptr_nonnull(strstr(text, "  bisectctl replay 4f3a9c1d --store /tmp/store"));
    ck_assert_ptr_nonnull(
        strstr(text, "bisectctl export 4f3a9c1d --format git-bisect-log --store /tmp/store"));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    enum verdict_kind kind;
    enum bisection_state state;
    const char *message;
    bool has_tasks;
    const char *has, *lacks;
} steps[] = {
    {"the time is over",     VERDICT_INCONCLUSIVE, BISECTION_DONE, "the time budget is used up", true, "--budget-time", "--budget-runs"},
    {"the runs are over",    VERDICT_INCONCLUSIVE, BISECTION_DONE, "the budget of 12 runs is used up", true, "--budget-runs", "--budget-time"},
    {"nothing tells more",   VERDICT_INCONCLUSIVE, BISECTION_DONE, "no further run is expected to tell", true, "--min-effect", "--budget"},
    {"an end fails",         VERDICT_FAILED, BISECTION_DONE, "no good", true, "  bisectctl log 4f3a9c1d\n", "anew"},
    {"it never began",       VERDICT_FAILED, BISECTION_DONE, "no such revision", false, "give the command again", "bisectctl"},
    {"an abort names one",   VERDICT_FAILED, BISECTION_DONE, "measuring 0123456789 asked to abort: 134", true, "  bisectctl log 4f3a9c1d 0123456789\n", "anew"},
    {"canceled in between",  VERDICT_NONE, BISECTION_CANCELED, "canceled", true, "  bisectctl log 4f3a9c1d\n", "failed"},
    {"canceled at once",     VERDICT_NONE, BISECTION_CANCELED, "canceled", false, "anew", "bisectctl"},
};
/* clang-format on */

START_TEST(the_next_step_fits_the_end)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(steps[_i].kind);
    AUTO(buf_fini) struct buf out = {0};
    struct place here = {0};

    v->state = steps[_i].state;
    if (!steps[_i].has_tasks) {
        v->range_size = 0;
        v->cost = (struct cost){0};
    }
    mem_free(v->message);
    v->message = mem_dup(steps[_i].message);
    next_write(v, &here, &plain, &out);
    ck_assert_msg(strstr(buf_str(&out), steps[_i].has) != NULL, "%s: %s", steps[_i].name,
                  buf_str(&out));
    ck_assert_msg(strstr(buf_str(&out), steps[_i].lacks) == NULL, "%s: %s", steps[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(reasons_stand_above_their_commands)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};
    struct place far = {.coordinator = "http://h:1", .token_file = "a b"};

    add_culprit(v, 'a', "x", 1);
    next_write(v, &far, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "\nWhat to type next:\n"
                                                "  # the commit itself\n"
                                                "  git show aaaaaaaaaa\n"
                                                "  # how it was built and measured\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out),
                                 "  bisectctl export 4f3a9c1d --format git-bisect-log "
                                 "--coordinator http://h:1 --token-file 'a b' > bisect.log\n"));
}
END_TEST

/* Each verdict ends in something to type. */
START_TEST(every_verdict_has_a_next_step)
{
    AUTO(verdict_free) struct verdict *v = verdict_of((enum verdict_kind)_i);
    AUTO(buf_fini) struct buf out = {0};
    struct place here = {0};

    next_write(v, &here, &plain, &out);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "\n  bisectctl "));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {each_verdict_has_its_exit_status, LEN(statuses)},
        {culprit_in_full, 1},
        {what_was_excluded_is_counted, LEN(exclusions)},
        {what_was_done_to_revisions_is_said, 1},
        {a_ratio_from_zero_is_left_out, 1},
        {several_culprits_have_shares, 1},
        {a_range_lists_its_set, 1},
        {a_long_range_says_how_much_is_left_out, 1},
        {not_reproduced_says_how_sure, 1},
        {a_line_says_what_is_known, LEN(lines)},
        {a_ratio_of_next_to_nil_is_left_out, 1},
        {a_comparison_in_full, 1},
        {hostile_text_stays_on_its_line, 1},
        {the_next_step_fits_the_end, LEN(steps)},
        {reasons_stand_above_their_commands, 1},
        {next_steps_work_where_the_reader_is, 1},
        {every_verdict_has_a_next_step, VERDICT_COUNT},
    };
    return unit_run("summary", tests, LEN(tests));
}
