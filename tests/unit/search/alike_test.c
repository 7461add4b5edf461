/* SPDX-License-Identifier: Apache-2.0 */
#include "search/alike.h"

#include "base/mem.h"
#include "search/dag.h"
#include "unit/run.h"
#include "world.h"
#include <string.h>

/** Commits of which u or v, but not both, is it or descends from it: by marks of all ancestors. */
static void mark_between(const struct range *r, uint32_t u, uint32_t v, bool *is_between)
{
    AUTO(dag_free) struct dag *d = dag_new(r);
    uint8_t *of_u = mem_array(r->n, 1), *of_v = mem_array(r->n, 1);

    dag_mark_ancestors(d, u, of_u);
    dag_mark_ancestors(d, v, of_v);
    for (uint32_t c = 0; c < r->n; c++)
        is_between[c] |= of_u[c] != of_v[c] && r->commits[c].is_candidate;
    mem_free(of_u);
    mem_free(of_v);
}

static uint32_t draw(uint64_t seed, uint32_t n)
{
    return (uint32_t)(uniform_of(seed) * n);
}

/** Of no two revisions with one root are the ancestors told apart by what is left. */
static void check_roots(const struct alike *a, const struct range *r)
{
    uint32_t *root = mem_array(r->n, sizeof(*root));
    bool *is_between = mem_array(r->n, sizeof(*is_between));

    alike_roots(a, root);
    for (uint32_t v = 0; v < r->n; v++) {
        ck_assert_uint_le(root[v], v);
        ck_assert_uint_eq(root[root[v]], root[v]);
        memset(is_between, 0, r->n * sizeof(*is_between));
        mark_between(r, v, root[v], is_between);
        for (uint32_t c = 0; c < r->n; c++)
            ck_assert(!is_between[c] || alike_exclusion(a, c) != EXCLUDED_NOT);
    }
    mem_free(root);
    mem_free(is_between);
}

START_TEST(exactly_what_lies_between_is_excluded)
{
    struct world w = {.n = 60, .p_merge = _i % 2 ? .3 : 0, .seed = (uint64_t)_i};
    AUTO(range_free) struct range *r = world_range(&w);
    AUTO(alike_free) struct alike *a = alike_new(r, false);
    bool is_between[61] = {0};
    uint32_t n = 0, n_told = 0;

    for (uint64_t k = 0; k < 4; k++) {
        uint32_t u = draw(w.seed * 8 + 2 * k, r->n), v = draw(w.seed * 8 + 2 * k + 1, r->n);
        mark_between(r, u, v, is_between);
        n_told += alike_link(a, u, v);
        ck_assert(alike_is_same(a, u, v));
        ck_assert_uint_eq(alike_link(a, v, u), 0);
    }
    for (uint32_t c = 0; c < r->n; c++) {
        ck_assert_msg((alike_exclusion(a, c) == EXCLUDED_SAME_BYTES) == is_between[c],
                      "seed %d: commit %u", _i, c);
        n += is_between[c];
    }
    ck_assert_uint_eq(n, n_told);
    check_roots(a, r);
}
END_TEST

/** A line of candidates 1 to 9 after the good commit 0; `trees` and `matters` have a letter each.
 */
/* clang-format off */
static const struct {
    const char *name, *trees, *matters;
    const char *want;   /* - searched, u untouched, s same bytes */
    const char *fixups; /* a digit each; NULL: none */
} lines[] = {
    {"all differ",                                       "abcdefghij", "yyyyyyyyyy", "----------", NULL},
    {"the paths know of two",                            "abcdefghij", "yynyynyyyy", "--u--u----", NULL},
    {"a tree as its parent's touches nothing",           "abccdefghi", "yyynyyyyyy", "---u------", NULL},
    {"a change and the commit that undoes it",           "abcbdefghi", "yyyyyyyyyy", "--ss------", NULL},
    {"and the one that does it once more",               "abcbcefghi", "yyyyyyyyyy", "--sss-----", NULL},
    {"back to where good was",                           "abcadefghi", "yyyyyyyyyy", "-sss------", NULL},
    {"with nothing left to search nothing is believed",  "aaaaaaaaaa", "ynnnnnnnnn", "----------", NULL},
    {"nor when only the ends' trees say so",             "abcdefghia", "yyyyyyyyyy", "----------", NULL},
    {"a fixup begins where nothing was touched",         "abccdefghi", "yyynyyyyyy", "----------", "0001111111"},
    {"the same tree with another fixup",                 "abcbdefghi", "yyyyyyyyyy", "----------", "0001111111"},
    {"the same tree with the same fixup",                "abcbdefghi", "yyyyyyyyyy", "--ss------", "0101111111"},
};
/* clang-format on */

START_TEST(trees_and_paths_are_free_evidence)
{
    struct world w = {.n = 9, .seed = 1};
    AUTO(range_free) struct range *r = world_range(&w);

    for (uint32_t v = 0; v < r->n; v++) {
        memset(r->commits[v].tree.hex, lines[_i].trees[v], 40);
        r->commits[v].matters = lines[_i].matters[v] == 'y';
        if (lines[_i].fixups)
            r->commits[v].fixups = (uint64_t)(lines[_i].fixups[v] - '0');
    }
    AUTO(alike_free) struct alike *a = alike_new(r, false);
    for (uint32_t v = 0; v < r->n; v++)
        ck_assert_msg("-us"[alike_exclusion(a, v)] == lines[_i].want[v], "%s: commit %u",
                      lines[_i].name, v);
    check_roots(a, r);
}
END_TEST

START_TEST(documentation_stands_on_what_it_is_likely_to_repeat)
{
    struct world w = {.n = 9, .seed = 1};
    AUTO(range_free) struct range *r = world_range(&w);

    r->commits[4].is_prose = r->commits[5].is_prose = true;
    AUTO(alike_free) struct alike *a = alike_new(r, false);
    AUTO(alike_free) struct alike *off = alike_new(r, true);
    ck_assert_uint_eq(alike_base(a, 4), 3);
    ck_assert_uint_eq(alike_base(a, 5), 3);
    ck_assert_uint_eq(alike_base(a, 6), UINT32_MAX);
    ck_assert_uint_eq(alike_base(off, 5), UINT32_MAX);
    ck_assert_uint_eq(alike_link(off, 3, 5), 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {exactly_what_lies_between_is_excluded, 60},
        {trees_and_paths_are_free_evidence, LEN(lines)},
        {documentation_stands_on_what_it_is_likely_to_repeat, 1},
    };

    return unit_run("alike", tests, LEN(tests));
}
