/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/text.h"
#include "unit/run.h"
#include <string.h>

#define X "\xEF\xBF\xBD" /* U+FFFD */
#define D "\xE2\x80\xA6" /* U+2026 */

/* clang-format off */
static const struct {
    const char *name;
    const char *text;
    const char *want;
} repairs[] = {
    {"plain text passes",           "abc",                    "abc"},
    {"good UTF-8 passes",           "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x88", "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\x88"},
    {"a lone continuation",         "a\x80z",                 "a" X "z"},
    {"a cut sequence",              "\xE2\x82",               X X},
    {"an overlong slash",           "\xC0\xAF",               X X},
    {"a surrogate",                 "\xED\xA0\x80",           X X X},
    {"past U+10FFFF",               "\xF4\x90\x80\x80",       X X X X},
    {"no UTF-8 at all",             "\xFE\xFF",               X X},
    {"Latin-1",                     "M\xFCller",              "M" X "ller"},
};

static const struct {
    const char *name;
    const char *text;
    size_t max;
    const char *want;
} cleans[] = {
    {"fits exactly",             "abcdef",            6,  "abcdef"},
    {"cut with an ellipsis",     "abcdefg",           6,  "abc" D},
    {"cut between characters",   "a\xE2\x82\xAC\xE2\x82\xAC", 6, "a" D},
    {"no room for the ellipsis", "abc",               2,  ""},
    {"no room at all",           "abc",               0,  ""},
    {"empty",                    "",                  10, ""},
    {"an escape sequence",       "\x1B[31mred",       40, X "[31mred"},
    {"a newline",                "a\nb\tc\r",         40, "a" X "b" X "c" X},
    {"C1 control",               "a\xC2\x9B" "b",     40, "a" X "b"},
    {"bidi override",            "a\xE2\x80\xAE" "b", 40, "a" X "b"},
    {"bidi isolate",             "a\xE2\x81\xA6" "b", 40, "a" X "b"},
    {"delete",                   "a\x7F" "b",         40, "a" X "b"},
    {"a tag character",          "a\xF3\xA0\x81\x81", 40, "a" X},
};

static const struct {
    const char *text;
    const char *quoted;
    const char *shell;
} quotes[] = {
    {"",         "\"\"",             "''"},
    {"a-b/c.d",  "\"a-b/c.d\"",      "a-b/c.d"},
    {"a b",      "\"a b\"",          "'a b'"},
    {"it's",     "\"it's\"",         "'it'\\''s'"},
    {"\"\\",     "\"\\\"\\\\\"",     "'\"\\'"},
    {"a\n\t\x01", "\"a\\n\\t\\x01\"", "'a\n\t\x01'"},
    {"$HOME",    "\"$HOME\"",        "'$HOME'"},
    {"~",        "\"~\"",            "'~'"},
    {"a;b",      "\"a;b\"",          "'a;b'"},
};

static const struct {
    const char *a, *b;
    size_t want; /* Levenshtein, by hand */
} distances[] = {
    {"", "", 0}, {"abc", "abc", 0}, {"abc", "", 3}, {"", "abc", 3},
    {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"repo", "repoo", 1}, {"ab", "ba", 2},
};

static const struct {
    const char *typed;
    const char *want; /* of master, metric, measure, build, NULL */
} nearest[] = {
    {"metrc", "metric"}, {"mesure", "measure"}, {"biuld", "build"}, {"metric", "metric"},
    {"xyzzy", NULL}, {"", NULL}, {"m", NULL}, {"mastr", "master"},
};

static const struct {
    const char *pattern, *path;
    bool want;
} globs[] = {
    {"a", "a", true}, {"a", "b", false}, {"", "", true}, {"", "a", false}, {"a", "", false},
    {"*", "a", true}, {"*", "", true}, {"*", "a/b", false}, {"*.c", "x.c", true},
    {"*.c", "d/x.c", false}, {"*.c", ".c", true}, {"*.c", "x.cc", false}, {"a*b*c", "aXbYc", true},
    {"a*b*c", "abbc", true}, {"a*b*c", "ab", false}, {"a*/b", "ax/b", true}, {"a*/b", "ax/y/b", false},
    {"?", "a", true}, {"?", "/", false}, {"?", "", false}, {"a?c", "abc", true},
    {"**", "a/b/c", true}, {"**", "", true}, {"**/x", "x", true}, {"**/x", "a/x", true},
    {"**/x", "a/b/x", true}, {"**/x", "ax", false}, {"a/**/x", "a/x", true}, {"a/**/x", "a/b/c/x", true},
    {"a/**/x", "ab/x", false}, {"a/**", "a/b/c", true}, {"a/**", "a", false}, {"a/**", "a/", true},
    {"a/**", "b/a/x", false}, {"a/**/b/**/c", "a/1/b/2/3/c", true}, {"a/**/b/**/c", "a/1/2/c", false},
    {"**/*.c", "a/b/x.c", true}, {"**/*.c", "x.c", true}, {"**/a*b/c", "x/ab/ayb/c", true},
    {"src/", "src/a/b.c", true}, {"src/", "src", false}, {"src/", "srcs/a", false},
    {"src/", "x/src/a", false}, {"*places.sqlite*", "places.sqlite-wal", true},
    {"[abc]", "b", true}, {"[abc]", "d", false}, {"[a-c]x", "bx", true}, {"[!a-c]", "b", false},
    {"[!a-c]", "d", true}, {"[^a]", "b", true}, {"[]]", "]", true}, {"[]-]", "-", true},
    {"[a-]", "-", true}, {"[!/]", "/", false}, {"a[/]b", "a/b", false}, {"[", "[", true},
    {"[a", "[a", true}, {"[a", "a", false}, {"\\*", "*", true}, {"\\*", "a", false}, {"\\", "\\", true},
    {"a***b", "a/x/b", true}, {"***", "a/b", true},
    {"a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    {"**a**a**a**a**a**a**a**b", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false},
};

static const struct {
    const char *text;
    bool is_ok;
    double want;
} nums[] = {
    {"1", true, 1}, {"-1.5", true, -1.5}, {"+2", true, 2}, {" 3 \n", true, 3}, {"1e3", true, 1000},
    {"1.e3", true, 1000}, {".5", true, .5}, {"5.", true, 5}, {"-.5E-1", true, -.05}, {"1e-400", true, 0},
    {"007", true, 7}, {"1e308", true, 1e308},
    {"", false, 0}, {" ", false, 0}, {".", false, 0}, {"-", false, 0}, {"e5", false, 0}, {"1e", false, 0},
    {"1e+", false, 0}, {"1 2", false, 0}, {"1,5", false, 0}, {"1ms", false, 0}, {"nan", false, 0},
    {"NaN", false, 0}, {"inf", false, 0}, {"-Infinity", false, 0}, {"0x10", false, 0}, {"1e999", false, 0},
    {"-1e999", false, 0}, {"--1", false, 0}, {"1-", false, 0}, {"\xC2\xA0" "1", false, 0}, {"1d5", false, 0},
};

static const struct {
    const char *text;
    bool is_ok;
    int64_t want;
} ints[] = {
    {"0", true, 0}, {"-5", true, -5}, {"+5", true, 5}, {"100", true, 100}, {"0100", true, 100},
    {"-6", false, 0}, {"101", false, 0}, {"", false, 0}, {" 5", false, 0}, {"5 ", false, 0},
    {"5.0", false, 0}, {"0x5", false, 0}, {"1e1", false, 0}, {"-", false, 0}, {"+-5", false, 0},
    {"99999999999999999999", false, 0}, {"-99999999999999999999", false, 0}, {"five", false, 0},
};

static const struct {
    const char *text;
    int64_t want; /* -1: refused */
} sizes[] = {
    {"0", 0}, {"512", 512}, {"64K", 65536}, {"16M", 16777216}, {"4G", INT64_C(4294967296)},
    {"1T", INT64_C(1099511627776)}, {"9223372036854775807", INT64_MAX},
    {"", -1}, {"K", -1}, {"-1", -1}, {"1k", -1}, {"1KB", -1}, {"1.5G", -1}, {" 1", -1}, {"1 K", -1},
    {"9223372036854775808", -1}, {"9999999T", -1}, {"99999999999999999999999", -1}, {"1e3", -1},
};
/* clang-format on */

START_TEST(repairs_utf8)
{
    AUTO(buf_fini) struct buf out = {0};

    text_repair(&out, repairs[_i].text, strlen(repairs[_i].text));
    ck_assert_msg(strcmp(buf_str(&out), repairs[_i].want) == 0, "%s", repairs[_i].name);
}
END_TEST

START_TEST(cleans_for_a_terminal)
{
    AUTO(buf_fini) struct buf out = {0};

    buf_adds(&out, "before:");
    text_clean(&out, cleans[_i].text, strlen(cleans[_i].text), cleans[_i].max);
    ck_assert_msg(strcmp(buf_str(&out) + 7, cleans[_i].want) == 0, "%s: %s", cleans[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(quotes_for_logs_and_shells)
{
    AUTO(buf_fini) struct buf log = {0};
    AUTO(buf_fini) struct buf shell = {0};

    text_quote(&log, quotes[_i].text);
    text_shell(&shell, quotes[_i].text);
    ck_assert_str_eq(buf_str(&log), quotes[_i].quoted);
    ck_assert_str_eq(buf_str(&shell), quotes[_i].shell);
}
END_TEST

START_TEST(counts_edits)
{
    ck_assert_uint_eq(text_distance(distances[_i].a, distances[_i].b), distances[_i].want);
}
END_TEST

START_TEST(guesses_what_was_meant)
{
    static const char *const names[] = {"master", "metric", "measure", "build"};
    const char *got = text_nearest(nearest[_i].typed, names, LEN(names));

    if (nearest[_i].want)
        ck_assert_msg(got && strcmp(got, nearest[_i].want) == 0, "%s", nearest[_i].typed);
    else
        ck_assert_msg(got == NULL, "%s gave %s", nearest[_i].typed, got);
}
END_TEST

START_TEST(matches_globs)
{
    ck_assert_msg(text_glob(globs[_i].pattern, globs[_i].path) == globs[_i].want, "%s on %s",
                  globs[_i].pattern, globs[_i].path);
}
END_TEST

START_TEST(reads_numbers)
{
    double v = -7;
    struct err e = {0};
    enum err_code rc = text_num(nums[_i].text, &v, &e);

    ck_assert_msg((rc == ERR_OK) == nums[_i].is_ok, "\"%s\"", nums[_i].text);
    ck_assert_msg(v == (nums[_i].is_ok ? nums[_i].want : -7), "\"%s\"", nums[_i].text);
    ck_assert_msg(nums[_i].is_ok || e.text[0], "\"%s\"", nums[_i].text);
}
END_TEST

START_TEST(reads_integers)
{
    int64_t v = -7;
    struct err e = {0};
    enum err_code rc = text_int(ints[_i].text, -5, 100, &v, &e);

    ck_assert_msg((rc == ERR_OK) == ints[_i].is_ok, "\"%s\"", ints[_i].text);
    ck_assert_msg(v == (ints[_i].is_ok ? ints[_i].want : -7), "\"%s\"", ints[_i].text);
    ck_assert_msg(ints[_i].is_ok || e.text[0], "\"%s\"", ints[_i].text);
}
END_TEST

START_TEST(reads_sizes)
{
    int64_t v = -7;
    struct err e = {0};
    enum err_code rc = text_size(sizes[_i].text, &v, &e);

    ck_assert_msg((rc == ERR_OK) == (sizes[_i].want >= 0), "\"%s\"", sizes[_i].text);
    ck_assert_msg(v == (sizes[_i].want >= 0 ? sizes[_i].want : -7), "\"%s\"", sizes[_i].text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {repairs_utf8, LEN(repairs)},
        {cleans_for_a_terminal, LEN(cleans)},
        {quotes_for_logs_and_shells, LEN(quotes)},
        {counts_edits, LEN(distances)},
        {guesses_what_was_meant, LEN(nearest)},
        {matches_globs, LEN(globs)},
        {reads_numbers, LEN(nums)},
        {reads_integers, LEN(ints)},
        {reads_sizes, LEN(sizes)},
    };
    return unit_run("text", tests, LEN(tests));
}
