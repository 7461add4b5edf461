/* SPDX-License-Identifier: Apache-2.0 */
#include "report/git_log.h"
#include "unit/report/verdicts.h"
#include "unit/run.h"
#include <math.h>

/*
 * 1 (good) -- 2 -- 3 -- 4 -- 6 -- 9 (bad)
 *              \            /
 *               5 ---------'
 * Indices by age: 1 2 5 3 4 6 9.
 */
static struct range *history(void)
{
    static const struct {
        char digit;
        int parents[2]; /* -1: none */
    } rows[] = {{'1', {-1, -1}}, {'2', {0, -1}}, {'5', {1, -1}}, {'3', {1, -1}},
                {'4', {3, -1}},  {'6', {4, 2}},  {'9', {5, -1}}};
    struct range *r = mem_alloc(sizeof(*r));

    r->n = LEN(rows);
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t i = 0; i < r->n; i++) {
        struct commit *c = &r->commits[i];
        *c = (struct commit){.id = revision_of(rows[i].digit), .is_candidate = i > 0};
        c->subject = mem_printf("commit %c", rows[i].digit);
        c->author = mem_dup("a");
        c->parents = mem_array(2, sizeof(*c->parents));
        for (int k = 0; k < 2; k++)
            if (rows[i].parents[k] >= 0)
                c->parents[c->n_parents++] = (uint32_t)rows[i].parents[k];
    }
    r->good = 0;
    r->bad = r->n - 1;
    r->n_candidates = r->n - 1;
    r->good_is_ancestor = true;
    return r;
}

static struct tried tried_of(char digit, double mean, const char *why)
{
    return (struct tried){revision_of(digit), why ? 0 : 3, mean, why};
}

static bool has_line(const struct buf *out, const char *word, char digit)
{
    AUTO(mem_free) char *line = mem_printf("\ngit bisect %s %s\n", word, revision_of(digit).hex);

    return strstr(buf_str(out), line) != NULL;
}

START_TEST(ancestry_decides_not_the_level)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(range_free) struct range *r = history();
    AUTO(buf_fini) struct buf out = {0};
    /* A noisy mean of 3 lies nearer to the bad level, yet 3 is below the culprit. */
    struct tried tried[] = {tried_of('1', 1550, NULL), tried_of('9', 2498, NULL),
                            tried_of('3', 2400, NULL), tried_of('6', 2490, NULL),
                            tried_of('4', 2500, NULL), tried_of('5', 1540, NULL)};

    add_culprit(v, '4', "slow", 1);
    git_log_write(v, r, tried, LEN(tried), &out);
    ck_assert(has_line(&out, "bad", '9') && has_line(&out, "good", '1'));
    ck_assert(has_line(&out, "good", '3') && has_line(&out, "bad", '6'));
    ck_assert(has_line(&out, "bad", '4'));
    /* 5 is a branch beside the culprit: git would ask for merge bases if it were told. */
    ck_assert(!has_line(&out, "good", '5') && !has_line(&out, "bad", '5'));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "# tried: [5555555555555555555555555555555555555555]"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out),
                                 "# first bad commit: [4444444444444444444444444444444444444444] "
                                 "commit 4\n"));
}
END_TEST

START_TEST(the_culprit_is_the_last_bad)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(range_free) struct range *r = history();
    AUTO(buf_fini) struct buf out = {0};
    struct tried tried[] = {tried_of('4', 2500, NULL), tried_of('6', 2490, NULL)};

    add_culprit(v, '4', "slow", 1);
    git_log_write(v, r, tried, LEN(tried), &out);
    const char *last = NULL;
    for (const char *at = buf_str(&out); (at = strstr(at, "git bisect bad ")); at++)
        last = at;
    ck_assert_ptr_nonnull(last);
    ck_assert_int_eq(strncmp(last, "git bisect bad 4444", 19), 0);
    /* Its parent was not measured, so git is told what follows. */
    ck_assert(has_line(&out, "good", '3'));
}
END_TEST

START_TEST(a_stretch_becomes_skips)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_RANGE);
    AUTO(range_free) struct range *r = history();
    AUTO(buf_fini) struct buf out = {0};
    struct tried tried[] = {tried_of('2', 1550, NULL), tried_of('3', NAN, "make: *** x\ny"),
                            tried_of('4', 2500, NULL)};

    add_candidate(v, '3', .5);
    add_candidate(v, '4', .5);
    add_untestable(v, '3');
    git_log_write(v, r, tried, LEN(tried), &out);
    ck_assert(has_line(&out, "skip", '3') && has_line(&out, "bad", '4'));
    ck_assert(has_line(&out, "good", '2'));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "# only skipped commits left to test\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "# possible first bad commit: [3333"));
    ck_assert_ptr_null(strstr(buf_str(&out), "\ny"));
}
END_TEST

START_TEST(without_the_range_levels_decide)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_CULPRIT);
    AUTO(buf_fini) struct buf out = {0};
    struct tried tried[] = {tried_of('3', 1560, NULL), tried_of('6', 2400, NULL)};

    add_culprit(v, '4', "slow\ngit bisect good me", 1);
    git_log_write(v, NULL, tried, LEN(tried), &out);
    ck_assert(has_line(&out, "good", '3') && has_line(&out, "bad", '6'));
    ck_assert(has_line(&out, "bad", '4'));
    ck_assert_ptr_null(strstr(buf_str(&out), "\ngit bisect good me"));
}
END_TEST

START_TEST(without_an_answer_tries_are_comments)
{
    AUTO(verdict_free) struct verdict *v = verdict_of(VERDICT_NOT_REPRODUCED);
    AUTO(range_free) struct range *r = history();
    AUTO(buf_fini) struct buf out = {0};
    struct tried tried[] = {tried_of('3', 1560, NULL)};

    git_log_write(v, r, tried, LEN(tried), &out);
    ck_assert(!has_line(&out, "good", '3') && !has_line(&out, "bad", '3'));
    ck_assert_ptr_nonnull(strstr(buf_str(&out), "# A sentence.\n"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {ancestry_decides_not_the_level, 1},
        {the_culprit_is_the_last_bad, 1},
        {a_stretch_becomes_skips, 1},
        {without_the_range_levels_decide, 1},
        {without_an_answer_tries_are_comments, 1},
    };
    return unit_run("git_log", tests, LEN(tests));
}
