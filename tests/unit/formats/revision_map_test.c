/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/revision_map.h"

#include "unit/run.h"
#include <string.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* clang-format off */
static const struct {
    const char *name, *text;
    size_t n;
    const char *foreign, *want; /* NULL: not in there */
} good[] = {
    {"pairs with tabs",            "4b1d\t" A "\n20130623\t" B "\n", 2, "20130623", B},
    {"with a comma, with blanks",  "4b1d," A "\r\n20130623   " B "  \n", 2, "4b1d", A},
    {"comments and empty lines",   "# hg git\n\n4b1d\t" A "\n\n# end", 1, "4b1d", A},
    {"a head line",                "hg\tgit\n4b1d\t" A "\n", 1, "4b1d", A},
    {"a pair twice",               "4b1d\t" A "\n5c\t" B "\n4b1d\t" A "\n", 2, "4b1d", A},
    {"one that is not there",      "4b1d\t" A "\n", 1, "4b1", NULL},
    {"nothing",                    "", 0, "4b1d", NULL},
};
static const struct {
    const char *name, *text, *says;
} bad[] = {
    {"a short hash",               "a\t" A "\n4b1d\taaaa\n", "line 2"},
    {"capitals",                   "a\t" A "\n4b1d\tAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n", "line 2"},
    {"no second name",             "a\t" A "\n4b1d\n", "line 2"},
    {"a third one",                "a\t" A "\n4b1d\t" A "\tx\n", "line 2"},
    {"two commits of one name",    "4b1d\t" A "\na\t" A "\n4b1d\t" B "\n", "4b1d is both"},
};
/* clang-format on */

START_TEST(finds_the_commit)
{
    AUTO(revision_map_fini) struct revision_map m = {0};
    struct err e = {0};

    ck_assert_msg(revision_map_parse(good[_i].text, strlen(good[_i].text), &m, &e) == ERR_OK,
                  "%s: %s", good[_i].name, e.text);
    ck_assert_msg(m.n == good[_i].n, "%s: %zu", good[_i].name, m.n);
    const struct revision *r = revision_map_find(&m, good[_i].foreign);
    ck_assert_msg((r != NULL) == (good[_i].want != NULL), "%s", good[_i].name);
    if (r)
        ck_assert_str_eq(r->hex, good[_i].want);
}
END_TEST

START_TEST(refuses_what_is_no_pair)
{
    AUTO(revision_map_fini) struct revision_map m = {0};
    struct err e = {0};

    ck_assert_int_eq(revision_map_parse(bad[_i].text, strlen(bad[_i].text), &m, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, bad[_i].says), "%s: %s", bad[_i].name, e.text);
    ck_assert_uint_eq(m.n, 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {finds_the_commit, LEN(good)},
        {refuses_what_is_no_pair, LEN(bad)},
    };

    return unit_run("revision_map", tests, LEN(tests));
}
