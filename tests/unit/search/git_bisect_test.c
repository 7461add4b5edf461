/* SPDX-License-Identifier: Apache-2.0 */
#include "search/git_bisect.h"

#include "base/mem.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/*
 *     fork:   0 - 1 - 2 - 3 - 6 - 7      0 is good, 7 is bad
 *                  \- 4 - 5 -/
 *
 * Candidates at or below each: 1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 6, 7: 7. Of 7, 3 and 5 leave 3
 * and 4, which is best; 3 is older.
 *
 *     comb:   0 - 1 - 4 - 5 - 6          merges of commits that hang on good itself
 *              \- 2 -/   /
 *              \- 3 ----/
 *
 * At or below: 1: 1, 2: 1, 3: 1, 4: 3, 5: 5, 6: 6. Of 6, 4 splits in half.
 */
struct shape {
    uint32_t n;
    int parents[8][3]; /* -1 ends */
};
static const struct shape line = {
    8, {{-1}, {0, -1}, {1, -1}, {2, -1}, {3, -1}, {4, -1}, {5, -1}, {6, -1}}};
static const struct shape forked = {
    8, {{-1}, {0, -1}, {1, -1}, {2, -1}, {1, -1}, {4, -1}, {3, 5, -1}, {6, -1}}};
static const struct shape comb = {
    7, {{-1}, {0, -1}, {0, -1}, {0, -1}, {1, 2, -1}, {4, 3, -1}, {5, -1}}};

static const struct {
    const char *name;
    const struct shape *shape;
    const char *answers;   /* to each commit asked for in turn: g, b, s */
    uint32_t asked[8];     /* by hand */
    const char *remaining; /* the first bad, or all that it could be; by hand */
} rows[] = {
    {"a line, always good", &line, "ggg", {3, 5, 6}, "7"},
    {"a line, always bad", &line, "bb", {3, 1}, "1"},
    {"a line, the middle", &line, "bgb", {3, 1, 2}, "2"},
    {"one side of a fork is good: the other and the merge stay", &forked, "gbg", {3, 5, 4}, "5"},
    {"one side of a fork is bad: the other is out", &forked, "bb", {3, 1}, "1"},
    {"both sides are good: the merge", &forked, "ggb", {3, 5, 6}, "6"},
    {"a merge counts each commit below it once", &comb, "bb", {4, 1}, "1"},
    {"what is only in the second parent", &comb, "bgg", {4, 1, 2}, "4"},
    {"above the first merge", &comb, "gb", {4, 3}, "3"},
    {"above both merges", &comb, "ggb", {4, 3, 5}, "5"},
};

static struct dag *dag_of(const struct shape *s)
{
    struct dag *d = mem_alloc(sizeof(*d));
    uint32_t n = 0;

    d->n = s->n;
    d->first = mem_array(s->n + 1, sizeof(*d->first));
    d->parents = mem_array(3 * s->n, sizeof(*d->parents));
    d->is_mainline = mem_array(s->n, sizeof(*d->is_mainline));
    for (uint32_t v = 0; v < s->n; v++) {
        d->first[v] = n;
        for (uint32_t i = 0; s->parents[v][i] >= 0; i++)
            d->parents[n++] = (uint32_t)s->parents[v][i];
    }
    d->first[s->n] = n;
    return d;
}

static struct git_bisect *bisect_of(const struct dag *d, uint64_t key)
{
    uint8_t is_candidate[8] = {0, 1, 1, 1, 1, 1, 1, 1};

    return git_bisect_new(d, is_candidate, d->n - 1, key);
}

START_TEST(asks_for_what_git_asks_for)
{
    AUTO(dag_free) struct dag *d = dag_of(rows[_i].shape);
    AUTO(git_bisect_free) struct git_bisect *g = bisect_of(d, 1);
    char remaining[9] = "";
    size_t n = 0, i = 0;

    for (uint32_t v; (v = git_bisect_next(g)) != UINT32_MAX; i++) {
        ck_assert_msg(i < strlen(rows[_i].answers), "%s: asks for %u too", rows[_i].name, v);
        ck_assert_msg(v == rows[_i].asked[i], "%s: asks for %u, not %u", rows[_i].name, v,
                      rows[_i].asked[i]);
        git_bisect_mark(g, v, rows[_i].answers[i] == 'g' ? GIT_GOOD : GIT_BAD);
    }
    for (uint32_t v = 0; v < d->n; v++)
        if (git_bisect_candidates(g)[v])
            remaining[n++] = (char)('0' + v);
    ck_assert_str_eq(remaining, rows[_i].remaining);
    ck_assert_uint_eq(i, strlen(rows[_i].answers));
}
END_TEST

/* 3 to 5 cannot be tested and the culprit is 4: git says that it may be 3 to 6. */
START_TEST(skipping_leaves_what_it_could_be)
{
    AUTO(dag_free) struct dag *d = dag_of(&line);
    AUTO(git_bisect_free) struct git_bisect *g = bisect_of(d, (uint64_t)_i);
    bool is_asked[8] = {false};

    for (uint32_t v; (v = git_bisect_next(g)) != UINT32_MAX;) {
        ck_assert_msg(!is_asked[v], "asks for %u twice", v);
        is_asked[v] = true;
        git_bisect_mark(g, v, v >= 3 && v <= 5 ? GIT_SKIP : v >= 4 ? GIT_BAD : GIT_GOOD);
    }
    for (uint32_t v = 0; v < d->n; v++)
        ck_assert_uint_eq(git_bisect_candidates(g)[v], v >= 3 && v <= 6);
    ck_assert(is_asked[3] && is_asked[4] && is_asked[5]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("git_bisect");
    TCase *tc = tcase_create("git_bisect");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, asks_for_what_git_asks_for, 0, LEN(rows));
    tcase_add_loop_test(tc, skipping_leaves_what_it_could_be, 0, 20);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
