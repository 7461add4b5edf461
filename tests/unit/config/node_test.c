/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "config/node.h"
#include "unit/run.h"
#include <string.h>

#define TEXT(s) s, sizeof(s) - 1

/* clang-format off */
static const struct {
    const char *name;
    const char *text;
    size_t n;
    const char *want; /* beginning of the error, and a word of it after '|' */
} bad[] = {
    {"an empty file",             TEXT(""),                       "f:1:1: |empty"},
    {"comments alone",            TEXT("# nothing\n"),            "f:1:1: |empty"},
    {"a duplicate key",           TEXT("a: 1\nb: 2\na: 3\n"),     "f:3:1: a: |first on line 1"},
    {"a duplicate key inside",    TEXT("m: {x: 1, y: 2, x: 3}"),  "f:1:17: x: |given twice"},
    {"an anchor on a scalar",     TEXT("a: &x 1\n"),              "f:1:4: |anchors"},
    {"an anchor on a map",        TEXT("a: &x {b: 1}\n"),         "f:1:4: |anchors"},
    {"an anchor on a list",       TEXT("a: &x [1]\n"),            "f:1:4: |anchors"},
    {"an alias",                  TEXT("a: 1\nb: *a\n"),          "f:2:4: |aliases"},
    {"an alias as a key",         TEXT("*a : 1\n"),               "f:1:1: |plain key"},
    {"a tag",                     TEXT("a: !!str 1\n"),           "f:1:4: |tags"},
    {"a tag of one's own",        TEXT("a: !x {}\n"),             "f:1:4: |tags"},
    {"a tag on a key",            TEXT("!x a: 1\n"),              "f:1:1: |tags"},
    {"a map as a key",            TEXT("? {a: 1}\n: 2\n"),        "f:1:3: |plain key"},
    {"a tab for indentation",     TEXT("a:\n\tb: 1\n"),           "f:2:1: |tab"},
    {"a tab after spaces",        TEXT("a:\n  \tb: 1\n"),         "f:2:3: |tab"},
    {"a tab before a comment",    TEXT("a: 1\t# x\n"),            "f:1:5: |tab"},
    {"a NUL byte",                TEXT("a: 1\0\n"),               "f:1:5: |NUL"},
    {"a NUL byte by escape",      TEXT("a: \"x\\0y\"\n"),         "f:1:4: |NUL"},
    {"a NUL byte in a key",       TEXT("\"a\\0b\": 1\n"),         "f:1:1: |NUL"},
    {"a control character",       TEXT("a: \x01\n"),              "f:|not valid YAML"},
    {"Latin-1",                   TEXT("name: M\xFCller\n"),      "f:1:8: |UTF-8"},
    {"an overlong sequence",      TEXT("name: \xC0\xAF\n"),       "f:1:7: |UTF-8"},
    {"a surrogate",               TEXT("x: 1\ny: \xED\xA0\x80"),  "f:2:4: |UTF-8"},
    {"UTF-16",                    TEXT("\xFF\xFE" "a\0"),         "f:1:1: |UTF-8"},
    {"an open quote",             TEXT("a: \"x\n"),               "f:2:1: |not valid YAML"},
    {"an open list",              TEXT("a: [1, 2\n"),             "f:2:1: |not valid YAML"},
    {"wrong indentation",         TEXT("a:\n  b: 1\n c: 2\n"),    "f:3:2: |not valid YAML"},
    {"a colon too many",          TEXT("a: b: c\n"),              "f:1:5: |not valid YAML"},
    {"two documents",             TEXT("a: 1\n---\nb: 2\n"),      "f:2:1: |one document"},
    {"a value where none can be", TEXT("@x\n"),                   "f:1:1: |not valid YAML"},
};

static const struct {
    const char *path;
    size_t line, column;
} paths[] = {
    {"a: wrong",                       1, 1},
    {"m.startup.regex: wrong",         4, 5},
    {"m.startup.nosuch: missing",      3, 3}, /* the last thing on the way */
    {"m.startup.more.x: wrong",        5, 18}, /* of two keys that fit, the longer one */
    {"list[1]: wrong",                 8, 5},
    {"list[9]: wrong",                 6, 1},
    {"list[1x]: wrong",                6, 1},
    {"nosuch: wrong",                  1, 1},
    {"",                               1, 1},
};
static const char tree[] = "a: 1\n"
                           "m:\n"
                           "  startup:\n"
                           "    regex: x\n"
                           "  startup.more: {x: 1}\n"
                           "list:\n"
                           "  - 0\n"
                           "  - 1\n";
/* clang-format on */

START_TEST(faults_are_named_with_their_place)
{
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};
    const char *bar = strchr(bad[_i].want, '|');

    ck_assert_msg(node_parse("f", bad[_i].text, bad[_i].n, &root, &e) == ERR_INVALID, "%s",
                  bad[_i].name);
    ck_assert_msg(root == NULL, "%s", bad[_i].name);
    ck_assert_msg(strncmp(e.text, bad[_i].want, (size_t)(bar - bad[_i].want)) == 0, "%s: %s",
                  bad[_i].name, e.text);
    ck_assert_msg(strstr(e.text, bar + 1) != NULL, "%s: %s", bad[_i].name, e.text);
}
END_TEST

START_TEST(columns_count_characters)
{
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};
    static const char text[] = "\xC3\xA4\xC3\xB6: [\xE2\x82\xAC, x]\n";

    ck_assert_msg(node_parse("f", text, sizeof(text) - 1, &root, &e) == ERR_OK, "%s", e.text);
    const struct node *list = root->members[0].value;
    ck_assert_uint_eq(list->at.column, 5);
    ck_assert_uint_eq(list->members[1].at.column, 9);
}
END_TEST

START_TEST(paths_lead_to_places)
{
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};

    ck_assert_msg(node_parse("f", tree, sizeof(tree) - 1, &root, &e) == ERR_OK, "%s", e.text);
    const struct mark at = node_find(root, paths[_i].path);
    ck_assert_msg(at.line == paths[_i].line && at.column == paths[_i].column, "%s: %zu:%zu",
                  paths[_i].path, at.line, at.column);
}
END_TEST

START_TEST(deep_nesting_ends)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};

    for (size_t i = 0; i < 100000; i++)
        buf_addc(&text, '[');
    ck_assert_int_eq(node_parse("f", text.data, text.len, &root, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "deep") != NULL, "%s", e.text);
}
END_TEST

START_TEST(many_values_end)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};

    for (size_t i = 0; i < 20001; i++)
        buf_adds(&text, "- 1\n");
    ck_assert_int_eq(node_parse("f", text.data, text.len, &root, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "too many") != NULL, "%s", e.text);
}
END_TEST

START_TEST(many_keys_are_compared_in_time)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};

    for (size_t i = 0; i < 19000; i++)
        buf_printf(&text, "key%zu: 1\n", i);
    ck_assert_msg(node_parse("f", text.data, text.len, &root, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(root->n, 19000);
}
END_TEST

START_TEST(quoted_nothing_is_text)
{
    AUTO(node_free) struct node *root = NULL;
    struct err e = {0};
    static const char text[] = "a:\nb: ~\nc: null\nd: \"\"\ne: 'null'\n";

    ck_assert_msg(node_parse("f", text, sizeof(text) - 1, &root, &e) == ERR_OK, "%s", e.text);
    ck_assert(node_is_null(node_at(root, "a")));
    ck_assert(node_is_null(node_at(root, "b")));
    ck_assert(node_is_null(node_at(root, "c")));
    ck_assert(!node_is_null(node_at(root, "d")));
    ck_assert(!node_is_null(node_at(root, "e")));
    ck_assert_ptr_null(node_at(root, "f"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {faults_are_named_with_their_place, LEN(bad)},
        {columns_count_characters, 1},
        {paths_lead_to_places, LEN(paths)},
        {deep_nesting_ends, 1},
        {many_values_end, 1},
        {many_keys_are_compared_in_time, 1},
        {quoted_nothing_is_text, 1},
    };

    return unit_run("node", tests, LEN(tests));
}
