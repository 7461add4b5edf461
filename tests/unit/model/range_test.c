/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/range_index.h"
#include "model/revision.h"
#include "unit/run.h"
#include <string.h>

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "cccccccccccccccccccccccccccccccccccccccc"

static const char range[] =
    "{\"good\":0,\"bad\":2,\"good_is_ancestor\":false,\"merge_bases\":[1],\"commits\":["
    "{\"id\":\"" A "\",\"tree\":\"" B "\",\"subject\":\"s\",\"author\":\"n <m>\",\"time\":-5,"
    "\"parents\":[]},"
    "{\"id\":\"" B "\",\"tree\":null,\"time\":0,\"parents\":[0]},"
    "{\"id\":\"" C "\",\"tree\":null,\"time\":7,\"candidate\":true,\"mainline\":true,"
    "\"matters\":true,\"prose\":true,\"parents\":[0,1]}]}";

#define ROW "{\"id\":\"" A "\"}"

/* clang-format off */
static const struct {
    const char *hex;
    bool is_good;
} revisions[] = {
    {A, true}, {"0123456789abcdef0123456789abcdef01234567", true},
    {"", false}, {"abc", false}, {A "a", false},
    {"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false},
    {"gggggggggggggggggggggggggggggggggggggggg", false},
    {" aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
};

static const struct {
    const char *json;
    const char *want;
} bad[] = {
    {"[]", "expected an object"},
    {"{\"bad\":0,\"good_is_ancestor\":true,\"commits\":[" ROW "]}", "good: missing"},
    {"{\"good\":0,\"bad\":0,\"commits\":[" ROW "]}", "good_is_ancestor: missing"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true}", "commits: expected a list of commits"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[]}", "commits: expected a list of commits"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[1]}", "commits[0]: expected an object"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[{}]}", "commits[0].id: missing"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[{\"id\":\"x\"}]}", "commits[0].id: expected a commit's 40 hex digits"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[{\"id\":\"" A "\",\"parents\":[0]}]}", "commits[0].parents: expected the index of an earlier commit, got 0"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[{\"id\":\"" A "\",\"parents\":[-1]}]}", "commits[0].parents: expected the index"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[{\"id\":\"" A "\",\"parents\":{}}]}", "commits[0].parents: expected a list of indices"},
    {"{\"good\":1,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[" ROW "]}", "good: expected the index of a commit, got 1"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"commits\":[" ROW "," ROW "]}", "bad: expected the index of the last commit, got 0"},
    {"{\"good\":0,\"bad\":0,\"good_is_ancestor\":true,\"merge_bases\":[1],\"commits\":[" ROW "]}", "merge_bases: expected the index"},
};
/* clang-format on */

START_TEST(revisions_are_forty_hex_digits)
{
    struct revision r = {""};

    ck_assert_msg((revision_parse(revisions[_i].hex, &r, NULL) == ERR_OK) == revisions[_i].is_good,
                  "%s", revisions[_i].hex);
    ck_assert_int_eq(revision_is_set(&r), revisions[_i].is_good);
}
END_TEST

static struct range *parse(const char *text)
{
    AUTO(json_free) json *v = NULL;
    struct range *r = NULL;
    struct err e = {0};

    ck_assert_int_eq(json_parse(text, strlen(text), &v, &e), ERR_OK);
    ck_assert_msg(range_from_json(v, &r, &e) == ERR_OK, "%s", e.text);
    return r;
}

START_TEST(a_copy_outlives_its_range)
{
    struct range *r = parse(range);
    AUTO(range_free) struct range *copy = range_copy(r);
    AUTO(buf_fini) struct buf before = {0}, after = {0};
    AUTO(json_free) json *v = range_to_json(r);

    range_free(r);
    AUTO(json_free) json *w = range_to_json(copy);
    json_dump(v, JSON_COMPACT, &before);
    json_dump(w, JSON_COMPACT, &after);
    ck_assert_str_eq(buf_str(&before), buf_str(&after));
    ck_assert_uint_eq(copy->n_candidates, 1);
}
END_TEST

START_TEST(hostile_text_is_written_as_a_tree_would_be)
{
    AUTO(range_free) struct range *r = parse(range);
    AUTO(buf_fini) struct buf want = {0}, got = {0};

    mem_free(r->commits[0].subject);
    r->commits[0].subject = mem_dup("\"quoted\" \\ \x01\n\x80 \xc3\xa9 \xe2\x80\xae");
    mem_free(r->commits[0].author);
    r->commits[0].author = NULL;
    AUTO(json_free) json *v = range_to_json(r);
    json_dump(v, JSON_COMPACT, &want);
    range_write(r, &got);
    ck_assert_str_eq(buf_str(&got), buf_str(&want));
}
END_TEST

START_TEST(an_index_finds_what_a_search_finds)
{
    AUTO(range_free) struct range *r = parse(range);

    memcpy(r->commits[2].id.hex, A, 39); /* many share the beginning of their hash */
    AUTO(range_index_free) struct range_index *x = range_index_new(r);
    for (uint32_t i = 0; i < r->n; i++)
        ck_assert_uint_eq(range_index_find(x, &r->commits[i].id), i);
    ck_assert_uint_eq(range_index_find(x, &(struct revision){""}), UINT32_MAX);
    ck_assert_uint_eq(range_index_find(x, &(struct revision){C}), UINT32_MAX);
}
END_TEST

START_TEST(ranges_go_round)
{
    AUTO(json_free) json *v = NULL;
    AUTO(range_free) struct range *r = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    ck_assert_int_eq(json_parse(range, strlen(range), &v, &e), ERR_OK);
    ck_assert_msg(range_from_json(v, &r, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(r->n, 3);
    ck_assert_uint_eq(r->n_candidates, 1);
    ck_assert_uint_eq(r->commits[2].n_parents, 2);
    ck_assert_int_eq(r->commits[0].time_s, -5);
    ck_assert(r->commits[2].matters && !r->commits[1].matters);
    ck_assert_uint_eq(range_find(r, &r->commits[1].id), 1);
    ck_assert_uint_eq(range_find(r, &(struct revision){""}), UINT32_MAX);
    AUTO(json_free) json *out = range_to_json(r);
    json_dump(out, JSON_COMPACT, &text);
    ck_assert_str_eq(buf_str(&text), range);
    buf_clear(&text);
    range_write(r, &text);
    ck_assert_str_eq(buf_str(&text), range);
}
END_TEST

START_TEST(wrong_ranges_are_explained)
{
    AUTO(json_free) json *v = NULL;
    AUTO(range_free) struct range *r = NULL;
    struct err e = {0};

    ck_assert_int_eq(json_parse(bad[_i].json, strlen(bad[_i].json), &v, &e), ERR_OK);
    ck_assert_msg(range_from_json(v, &r, &e) == ERR_INVALID, "%s", bad[_i].json);
    ck_assert_msg(strncmp(e.text, bad[_i].want, strlen(bad[_i].want)) == 0, "%s: %s", bad[_i].json,
                  e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {revisions_are_forty_hex_digits, LEN(revisions)},
        {ranges_go_round, 1},
        {a_copy_outlives_its_range, 1},
        {hostile_text_is_written_as_a_tree_would_be, 1},
        {an_index_finds_what_a_search_finds, 1},
        {wrong_ranges_are_explained, LEN(bad)},
    };

    return unit_run("range", tests, LEN(tests));
}
