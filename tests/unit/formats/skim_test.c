/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "base/mem.h"
#include "formats/skim.h"
#include "unit/run.h"
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *text;
    int want; /* bytes of the value; -1: there is none */
} values[] = {
    {"an empty object",               "{}", 2},
    {"what follows is left alone",    "{} x", 2},
    {"nested",                        "{\"a\":[{\"b\":{}},[]]},", 19},
    {"a bracket in a string",         "[\"]\",\"}{\"]", 10},
    {"an escaped quote",              "[\"\\\"]\"]", 7},
    {"an escaped backslash",          "[\"\\\\\",1]", 8},
    {"three backslashes and a quote", "[\"\\\\\\\"]\"]", 9},
    {"brackets of two kinds",         "[1,2}", -1},
    {"brackets that cross",           "{\"a\":[1}]", -1},
    {"cut",                           "{\"a\":[1", -1},
    {"cut in a string",               "{\"a", -1},
    {"cut after a backslash",         "[\"\\", -1},
    {"closed before it is opened",    "]", -1},
    {"nothing",                       "", -1},
    {"a string",                      "\"abc\"d", 5},
    {"an empty string",               "\"\"", 2},
    {"true",                          "true,", 4},
    {"false",                         "false", 5},
    {"null",                          "null}", 4},
    {"half a word",                   "nul", -1},
    {"a number",                      "-12.50e+3,", 9},
    {"zero",                          "0", 1},
    {"a leading zero",                "01", -1},
    {"a lone sign",                   "-", -1},
    {"no fraction",                   "1.", -1},
    {"no exponent",                   "1e", -1},
    {"NaN",                           "NaN", -1},
};
/* clang-format on */

/** In a block of exactly its size, so that a sanitizer sees a byte read past it. */
static char *exact(const char *text, size_t n)
{
    char *copy = mem_resize(NULL, n ? n : 1, 1);

    memcpy(copy, text, n);
    return copy;
}

START_TEST(finds_where_a_value_ends)
{
    size_t n = strlen(values[_i].text);
    AUTO(mem_free) char *text = exact(values[_i].text, n);
    const char *after = skim_value(text, text + n);

    ck_assert_msg((after ? (int)(after - text) : -1) == values[_i].want, "%s: %d", values[_i].name,
                  after ? (int)(after - text) : -1);
}
END_TEST

/** A document with something that needs care at every distance from where a block begins. */
START_TEST(blocks_do_not_matter)
{
    static const char *const cores[] = {
        "\"\\\\\\\"]}{[\"",
        "{\"a\":[\"\\\"}\"]}",
        "[[],{},\"\\\\\"]",
        "\"]\",{\"x\":{}}",
    };

    for (size_t k = 0; k < LEN(cores); k++)
        for (size_t before = 0; before < 140; before++) {
            AUTO(buf_fini) struct buf text = {0};
            buf_addc(&text, '[');
            for (size_t i = 0; i < before; i++)
                buf_adds(&text, "1,");
            buf_adds(&text, cores[k]);
            buf_addc(&text, ']');
            size_t want = text.len;
            AUTO(mem_free) char *all = exact(text.data, text.len);
            ck_assert_ptr_eq(skim_value(all, all + want), all + want);
            ck_assert_ptr_null(skim_value(all, all + want - 1));
        }
}
END_TEST

START_TEST(depth_has_a_limit)
{
    AUTO(buf_fini) struct buf text = {0};

    for (int i = 0; i < SKIM_DEPTH; i++)
        buf_addc(&text, '[');
    for (int i = 0; i < SKIM_DEPTH; i++)
        buf_addc(&text, ']');
    ck_assert_ptr_eq(skim_value(text.data, text.data + text.len), text.data + text.len);
    buf_clear(&text);
    for (int i = 0; i <= SKIM_DEPTH; i++)
        buf_addc(&text, '[');
    for (int i = 0; i <= SKIM_DEPTH; i++)
        buf_addc(&text, ']');
    ck_assert_ptr_null(skim_value(text.data, text.data + text.len));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *text;
    const char *keys; /* joined by commas; then ! if it breaks */
} objects[] = {
    {"none",                  "{}", ""},
    {"spaces",                "{ \"a\" : 1 , \"b\":[2]\n}", "a,b,"},
    {"a comma too many",      "{\"a\":1,}", "a,!"},
    {"no comma",              "{\"a\":1 \"b\":2}", "a,!"},
    {"no colon",              "{\"a\" 1}", "!"},
    {"no value",              "{\"a\":}", "!"},
    {"a key without quotes",  "{a:1}", "!"},
    {"cut",                   "{\"a\":1", "a,!"},
    {"a bad literal",         "{\"a\":tru}", "!"},
};
/* clang-format on */

START_TEST(walks_members)
{
    AUTO(buf_fini) struct buf keys = {0};
    const char *p = objects[_i].text + 1, *end = objects[_i].text + strlen(objects[_i].text);
    struct skim_member m;
    enum skim_step step;

    while ((step = skim_member(&p, end, &m)) == SKIM_MEMBER) {
        buf_add(&keys, m.key.s, m.key.n);
        buf_addc(&keys, ',');
    }
    if (step == SKIM_BROKEN)
        buf_addc(&keys, '!');
    else
        ck_assert_ptr_eq(p, end);
    ck_assert_msg(strcmp(buf_str(&keys), objects[_i].keys) == 0, "%s: %s", objects[_i].name,
                  buf_str(&keys));
}
END_TEST

/* clang-format off */
static const struct {
    const char *raw, *want; /* NULL: no string */
} strings[] = {
    {"", ""}, {"plain", "plain"}, {"a\\\"b", "a\"b"}, {"\\\\\\/\\b\\f\\n\\r\\t", "\\/\b\f\n\r\t"},
    {"\\u0041\\u00e9\\u20ac", "A\xC3\xA9\xE2\x82\xAC"}, {"\\ud83d\\ude00", "\xF0\x9F\x98\x80"},
    {"\\ud83d", "\xEF\xBF\xBD"}, {"\\ude00x", "\xEF\xBF\xBDx"}, {"\\ud83d\\u0041", "\xEF\xBF\xBD" "A"},
    {"\\x", NULL}, {"\\u12", NULL}, {"\\u12g4", NULL}, {"\\", NULL},
    {"a long one that goes on past a lane \\\" and on", "a long one that goes on past a lane \" and on"},
};
static const struct { const char *text; bool is; int64_t want; } ints[] = {
    {"0", true, 0}, {"-7", true, -7}, {"9223372036854775807", true, INT64_MAX},
    {"-9223372036854775808", true, INT64_MIN}, {"9223372036854775808", false, 0},
    {"1.0", false, 0}, {"1e3", false, 0}, {"", false, 0}, {"12x", false, 0}, {"+1", false, 0},
};
/* clang-format on */

START_TEST(undoes_escapes)
{
    size_t n = strlen(strings[_i].raw);
    AUTO(mem_free) char *raw = exact(strings[_i].raw, n);
    AUTO(buf_fini) struct buf out = {0};
    bool is = skim_unescape((struct span){raw, n}, &out);

    ck_assert_msg(is == (strings[_i].want != NULL), "%s", strings[_i].raw);
    if (!is)
        return;
    ck_assert_str_eq(buf_str(&out), strings[_i].want);
    ck_assert(skim_is((struct span){raw, n}, out.data, out.len));
    ck_assert(!skim_is((struct span){raw, n}, "other", 5));
}
END_TEST

START_TEST(reads_whole_numbers)
{
    int64_t got = 0;
    struct span s = {ints[_i].text, strlen(ints[_i].text)};

    ck_assert_msg(skim_int(s, &got) == ints[_i].is, "%s", ints[_i].text);
    ck_assert_int_eq(got, ints[_i].is ? ints[_i].want : 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {finds_where_a_value_ends, LEN(values)},
        {blocks_do_not_matter, 1},
        {depth_has_a_limit, 1},
        {walks_members, LEN(objects)},
        {undoes_escapes, LEN(strings)},
        {reads_whole_numbers, LEN(ints)},
    };
    return unit_run("skim", tests, LEN(tests));
}
