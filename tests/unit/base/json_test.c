/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/mem.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

static json *parsed(const char *text)
{
    struct err e = {0};
    json *v = NULL;

    ck_assert_msg(json_parse(text, strlen(text), &v, &e) == ERR_OK, "%s: %s", text, e.text);
    return v;
}

static void check_dump(const json *v, enum json_layout layout, const char *want)
{
    AUTO(buf_fini) struct buf out = {0};

    json_dump(v, layout, &out);
    ck_assert_str_eq(buf_str(&out), want);
}

/* clang-format off */
static const char *const round_trips[] = {
    "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
    "0.1", "1.0", "-0.0", "1e+300", "4.94065645841247e-324", "1.7976931348623157e+308", "0.30000000000000004",
    "\"\"", "\"\\b\\f\\n\\r\\t\\\"\\\\\\u0001\\u007f\"", "\"\xC3\xA4\xF0\x9F\x8E\x88\"",
    "[]", "{}", "[1,[2,[]],{\"a\":{}}]", "{\"b\":1,\"a\":[true,null]}",
};

static const struct {
    const char *name;
    const char *text;
    const char *want; /* part of the message */
} refused[] = {
    {"nothing",               "",                    "line 1"},
    {"white space only",      " \n ",                "line 2"},
    {"an open array",         "[1,\n2",              "line 2"},
    {"a trailing comma",      "[1,]",                "column"},
    {"two documents",         "{} {}",               "end of file"},
    {"trailing garbage",      "[1]x",                "end of file"},
    {"a comment",             "/* */ 1",             "line 1"},
    {"single quotes",         "{'a':1}",             "line 1"},
    {"a bare key",            "{a:1}",               "line 1"},
    {"a key twice",           "{\"a\":1,\"a\":2}",   "duplicate"},
    {"NaN",                   "NaN",                 "line 1"},
    {"Infinity",              "[-Infinity]",         "line 1"},
    {"hexadecimal",           "0x10",                "line 1"},
    {"a leading zero",        "01",                  "line 1"},
    {"a leading plus",        "+1",                  "line 1"},
    {"no digit after a dot",  "1.",                  "line 1"},
    {"no digit before a dot", ".5",                  "line 1"},
    {"a real out of range",   "1e999",               "overflow"},
    {"an integer too large",  "9223372036854775808", "too big"},
    {"a raw control",         "\"a\nb\"",            "line 1"},
    {"an unknown escape",     "\"\\x\"",             "line 1"},
    {"half a surrogate pair", "\"\\ud800\"",         "line 1"},
    {"a NUL escape",          "\"\\u0000\"",         "line 1"},
    {"broken UTF-8",          "\"\xC3(\"",           "decode byte"},
    {"overlong UTF-8",        "\"\xC0\xAF\"",        "decode byte"},
    {"a byte order mark",     "\xEF\xBB\xBF{}",      "line 1"},
    {"a cut word",            "tru",                 "line 1"},
};
/* clang-format on */

START_TEST(writes_what_it_reads)
{
    AUTO(json_free) json *v = parsed(round_trips[_i]);

    check_dump(v, JSON_COMPACT, round_trips[_i]);
}
END_TEST

START_TEST(refuses)
{
    struct err e = {0};
    json *v = NULL;

    ck_assert_msg(json_parse(refused[_i].text, strlen(refused[_i].text), &v, &e) == ERR_INVALID,
                  "%s", refused[_i].name);
    ck_assert_ptr_null(v);
    ck_assert_msg(strstr(e.text, refused[_i].want) != NULL, "%s: %s", refused[_i].name, e.text);
}
END_TEST

START_TEST(a_nul_byte_is_no_end)
{
    json *v = NULL;

    ck_assert_int_eq(json_parse("[1]\0", 4, &v, NULL), ERR_INVALID);
    ck_assert_int_eq(json_parse("[1]junk", 3, &v, NULL), ERR_OK);
    json_free(v);
}
END_TEST

START_TEST(depth_has_a_limit)
{
    AUTO(buf_fini) struct buf b = {0};
    struct err e = {0};
    json *v = NULL;

    for (int i = 0; i < 64; i++)
        buf_addc(&b, '[');
    for (int i = 0; i < 64; i++)
        buf_addc(&b, ']');
    ck_assert_int_eq(json_parse(buf_str(&b), b.len, &v, &e), ERR_OK);
    json_free(v);
    buf_clear(&b);
    for (int i = 0; i < 100000; i++)
        buf_adds(&b, "{\"a\":[");
    ck_assert_int_eq(json_parse(buf_str(&b), b.len, &v, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "JSON nested deeper than 64 levels");
    json_free(
        parsed("\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[\""));
}
END_TEST

START_TEST(layouts_differ_in_space_and_order)
{
    AUTO(json_free) json *v = parsed("{\"b\":[1,2],\"a\":{}}");

    check_dump(v, JSON_COMPACT, "{\"b\":[1,2],\"a\":{}}");
    check_dump(v, JSON_SORTED, "{\"a\":{},\"b\":[1,2]}");
    check_dump(v, JSON_PRETTY, "{\n  \"b\": [\n    1,\n    2\n  ],\n  \"a\": {}\n}");
}
END_TEST

START_TEST(building_repairs_and_never_fails)
{
    AUTO(json_free) json *v = json_new_object();

    json_put(v, "bad \xFF key", json_new_string("bad \xC3 text"));
    json_put(v, "nan", json_new_real(NAN));
    json_put(v, "inf", json_new_real(INFINITY));
    json_put(v, "none", json_new_string(NULL));
    json_put(v, "list", json_push(json_push(json_new_array(), json_new_bool(true)), NULL));
    json_put(v, "nan", json_new_int(1)); /* put again: replaced where it was */
    json_put(v, "gone", json_new_null());
    json_remove(v, "gone");
    check_dump(v, JSON_COMPACT,
               "{\"bad \xEF\xBF\xBD key\":\"bad \xEF\xBF\xBD text\",\"nan\":1,\"inf\":null,"
               "\"none\":null,\"list\":[true,null]}");
}
END_TEST

START_TEST(reading_has_defaults)
{
    AUTO(json_free) json *v = parsed("{\"s\":\"x\",\"i\":7,\"r\":1.5,\"b\":true,\"n\":null}");

    ck_assert_str_eq(json_str(json_at(v, "s"), "-"), "x");
    ck_assert_str_eq(json_str(json_at(v, "i"), "-"), "-");
    ck_assert_int_eq(json_int(json_at(v, "i"), -1), 7);
    ck_assert_int_eq(json_int(json_at(v, "r"), -1), -1);
    ck_assert_double_eq(json_num(json_at(v, "i"), -1), 7);
    ck_assert_double_eq(json_num(json_at(v, "r"), -1), 1.5);
    ck_assert(json_bool(json_at(v, "b"), false));
    ck_assert(json_bool(json_at(v, "absent"), true));
    ck_assert(json_is_null(json_at(v, "n")) && json_is_null(NULL));
    ck_assert(!json_is_object(NULL) && !json_is_array(v) && json_is_object(v));
    ck_assert_uint_eq(json_len(v), 5);
    ck_assert_uint_eq(json_len(NULL), 0);
    ck_assert_ptr_null(json_at(NULL, "x"));
    ck_assert_ptr_null(json_item(v, 0));
}
END_TEST

START_TEST(keys_come_in_order)
{
    AUTO(json_free) json *v = parsed("{\"z\":1,\"a\":2,\"m\":3}");
    AUTO(buf_fini) struct buf keys = {0};

    for (const char *k = json_first_key(v); k; k = json_next_key(v, k))
        buf_adds(&keys, k);
    ck_assert_str_eq(buf_str(&keys), "zam");
    AUTO(json_free) json *none = json_new_object();
    ck_assert_ptr_null(json_first_key(none));
    ck_assert_ptr_null(json_first_key(NULL));
}
END_TEST

/* clang-format off */
#define RFC6901 "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,\"e^f\":3,\"g|h\":4," \
                "\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,\"m~n\":8}"
static const struct {
    const char *pointer;
    const char *want; /* section 5 of RFC 6901; NULL: leads nowhere */
} pointers[] = {
    {"", RFC6901},
    {"/foo", "[\"bar\",\"baz\"]"}, {"/foo/0", "\"bar\""}, {"/", "0"}, {"/a~1b", "1"},
    {"/c%d", "2"}, {"/e^f", "3"}, {"/g|h", "4"}, {"/i\\j", "5"}, {"/k\"l", "6"}, {"/ ", "7"},
    {"/m~0n", "8"},
    {"foo", NULL}, {"/nope", NULL}, {"/foo/2", NULL}, {"/foo/-", NULL}, {"/foo/00", NULL},
    {"/foo/01", NULL}, {"/foo/+1", NULL}, {"/foo/", NULL}, {"/foo/0/x", NULL},
    {"/foo/99999999999999999999", NULL}, {"/m~n", NULL}, {"/m~2n", NULL}, {"/m~", NULL},
    {"#/foo", NULL},
};
/* clang-format on */

START_TEST(follows_pointers)
{
    AUTO(json_free) json *v = parsed(RFC6901);
    const json *found = json_pointer(v, pointers[_i].pointer);

    if (pointers[_i].want)
        check_dump(found, JSON_COMPACT, pointers[_i].want);
    else
        ck_assert_msg(found == NULL, "%s", pointers[_i].pointer);
}
END_TEST

START_TEST(needed_keys_are_named)
{
    AUTO(json_free) json *v = parsed("{\"s\":1}");
    struct err e = {0};
    const char *s = NULL;
    int64_t i = 0;
    double d = 0;
    json *child = NULL;

    ck_assert_int_eq(json_need_str(v, "s", &s, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "\"s\": expected a string");
    ck_assert_int_eq(json_need_num(v, "t", &d, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "\"t\" is missing; expected a number");
    ck_assert_int_eq(json_need_int(v, "s", &i, &e), ERR_OK);
    ck_assert_int_eq(i, 1);
    ck_assert_int_eq(json_need_array(v, "s", &child, &e), ERR_INVALID);
    ck_assert_int_eq(json_need_object(NULL, "s", &child, &e), ERR_INVALID);
    ck_assert_ptr_null(child);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {writes_what_it_reads, LEN(round_trips)},
        {refuses, LEN(refused)},
        {a_nul_byte_is_no_end, 1},
        {depth_has_a_limit, 1},
        {layouts_differ_in_space_and_order, 1},
        {building_repairs_and_never_fails, 1},
        {reading_has_defaults, 1},
        {keys_come_in_order, 1},
        {follows_pointers, LEN(pointers)},
        {needed_keys_are_named, 1},
    };
    return unit_run("json", tests, LEN(tests));
}
