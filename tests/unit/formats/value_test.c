/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/value.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

#define D   "\xE2\x80\xA6" /* … */
#define BAD "\xEF\xBF\xBD" /* U+FFFD */

/** A metric without the parts that do not matter here. Strings are borrowed. */
static struct metric metric_of(enum reduce reduce, const char *regex, const char *pointer)
{
    return (struct metric){
        .kind = METRIC_VALUE, .reduce = reduce, .regex = (char *)regex, .pointer = (char *)pointer};
}

/* clang-format off */
static const struct {
    const char *name;
    enum reduce reduce;
    const char *regex, *pointer;
    const char *output;
    double want;
    size_t want_n;
} good[] = {
    {"one number",                  REDUCE_UNSET,  NULL, NULL, "42\n", 42, 1},
    {"without a newline",           REDUCE_UNSET,  NULL, NULL, "42", 42, 1},
    {"white space around",          REDUCE_UNSET,  NULL, NULL, "\n \t -1.5e3 \r\n\n", -1500, 1},
    {"zero",                        REDUCE_UNSET,  NULL, NULL, "-0\n", 0, 1},
    {"a vanishing number is zero",  REDUCE_UNSET,  NULL, NULL, "1e-999", 0, 1},
    {"the largest",                 REDUCE_UNSET,  NULL, NULL, "1e100", 1e100, 1},
    {"the lowest",                  REDUCE_SUM,    NULL, NULL, "-6e99\n-4e99", -1e100, 2},
    {"median by default of many",   REDUCE_MEDIAN, NULL, NULL, "3\n1\n2\n", 2, 3},
    {"median of an even number",    REDUCE_MEDIAN, NULL, NULL, "1\n2\n3\n10\n", 2.5, 4},
    {"mean",                        REDUCE_MEAN,   NULL, NULL, "1\n2\n6\n", 3, 3},
    {"min",                         REDUCE_MIN,    NULL, NULL, "3\n-1\n2\n", -1, 3},
    {"max",                         REDUCE_MAX,    NULL, NULL, "3\n-1\n2\n", 3, 3},
    {"sum",                         REDUCE_SUM,    NULL, NULL, "3\n\n\n-1\n2", 4, 3},
    {"carriage returns",            REDUCE_SUM,    NULL, NULL, "3\r\n4\r\n", 7, 2},
    {"reduce with one number",      REDUCE_SUM,    NULL, NULL, "3\n", 3, 1},

    {"a capture",                   REDUCE_UNSET,  "p50=([0-9.]+)", NULL, "runs=9 p50=1.25 p99=7\n", 1.25, 1},
    {"the whole match",             REDUCE_UNSET,  "[0-9]+", NULL, "took 12 ms\n", 12, 1},
    {"only the first group",        REDUCE_UNSET,  "([0-9]+)/([0-9]+)", NULL, "3/4", 3, 1},
    {"white space in the group",    REDUCE_UNSET,  "time:( *[0-9]+)", NULL, "time:   5", 5, 1},
    {"line ends anchor",            REDUCE_UNSET,  "^([0-9]+)$", NULL, "a 1\n2\r\n3 b\n", 2, 1},
    {"several lines",               REDUCE_SUM,    "t=([0-9]+)", NULL, "t=1\nx\nt=2\n", 3, 2},
    {"several on a line",           REDUCE_SUM,    "t=([0-9]+)", NULL, "t=1 t=2 t=4", 7, 3},
    {"an anchor matches once",      REDUCE_SUM,    "^t([0-9])", NULL, "t1t2", 1, 1},

    {"a pointer",                   REDUCE_UNSET,  NULL, "/p/50", "{\"p\":{\"50\":1.5}}", 1.5, 1},
    {"the whole document",          REDUCE_UNSET,  NULL, "", " 17 ", 17, 1},
    {"an array",                    REDUCE_MAX,    NULL, "/a", "{\"a\":[1,5,2]}", 5, 3},
    {"an array of one",             REDUCE_UNSET,  NULL, "/a", "{\"a\":[5]}", 5, 1},
    {"an item",                     REDUCE_UNSET,  NULL, "/a/1", "{\"a\":[1,5,2]}", 5, 1},
    {"escapes",                     REDUCE_UNSET,  NULL, "/a~1b/~0", "{\"a/b\":{\"~\":3}}", 3, 1},
    {"more than 64 bits elsewhere", REDUCE_UNSET,  NULL, "/a", "{\"a\":1,\"id\":18446744073709551615}", 1, 1},
    {"more than 64 bits here",      REDUCE_UNSET,  NULL, "/a", "{\"a\":18446744073709551616}", 18446744073709551616.0, 1},
};

static const struct {
    const char *name;
    enum reduce reduce;
    const char *regex, *pointer;
    const char *output;
    const char *want; /* after "cannot measure: "; a last * stands for the library's own words */
} bad[] = {
    {"nothing",              REDUCE_UNSET,  NULL, NULL, "", "no number: the output is empty"},
    {"white space",          REDUCE_UNSET,  NULL, NULL, " \n\r\n\t", "no number: the output is empty"},
    {"nothing to reduce",    REDUCE_MEDIAN, NULL, NULL, "\n", "no number: the output is empty"},
    {"two lines",            REDUCE_UNSET,  NULL, NULL, "1\n2\n", "2 numbers, set reduce"},
    {"two words",            REDUCE_UNSET,  NULL, NULL, "1 2", "2 numbers, set reduce"},
    {"the same twice",       REDUCE_UNSET,  NULL, NULL, "1\n1\n", "2 numbers, set reduce"},
    {"two on a line",        REDUCE_SUM,    NULL, NULL, "1 2\n3\n", "\"1 2\" is not a number"},
    {"nan",                  REDUCE_UNSET,  NULL, NULL, "nan\n", "nan"},
    {"-nan",                 REDUCE_UNSET,  NULL, NULL, "-nan\n", "nan"},
    {"NaN among numbers",    REDUCE_MEDIAN, NULL, NULL, "1\nNaN\n2\n", "nan"},
    {"nan with a payload",   REDUCE_UNSET,  NULL, NULL, "nan(0x7)", "nan"},
    {"inf",                  REDUCE_UNSET,  NULL, NULL, "inf\n", "inf"},
    {"-Infinity",            REDUCE_UNSET,  NULL, NULL, "-Infinity", "inf"},
    {"past a double",        REDUCE_UNSET,  NULL, NULL, "1e999", "\"1e999\" is not a number"},
    {"over the limit",       REDUCE_UNSET,  NULL, NULL, "1e200\n", "1e200 is over the limit of 1e100"},
    {"below it",             REDUCE_MEDIAN, NULL, NULL, "1\n-1.7976931348623157e308\n3\n", "-1.79769e308 is over the limit of 1e100"},
    {"over it in JSON",      REDUCE_UNSET,  NULL, "/a", "{\"a\":1e101}", "1e101 is over the limit of 1e100"},
    {"a sum over it",        REDUCE_SUM,    NULL, NULL, "6e99\n6e99\n", "reduced, they are too large: 1.2e100 is over the limit of 1e100"},
    {"text",                 REDUCE_UNSET,  NULL, NULL, "hello\n", "\"hello\" is not a number"},
    {"a unit",               REDUCE_UNSET,  NULL, NULL, "12 ms\n", "\"12 ms\" is not a number"},
    {"a unit at the digits", REDUCE_UNSET,  NULL, NULL, "12ms\n", "\"12ms\" is not a number"},
    {"a decimal comma",      REDUCE_UNSET,  NULL, NULL, "1,5\n", "\"1,5\" is not a number"},
    {"thousands",            REDUCE_UNSET,  NULL, NULL, "1'000\n", "\"1'000\" is not a number"},
    {"hexadecimal",          REDUCE_UNSET,  NULL, NULL, "0x1F", "\"0x1F\" is not a number"},
    {"a number, then words", REDUCE_UNSET,  NULL, NULL, "12\nDone in 3 s\n", "\"Done in 3 s\" is not a number"},
    {"terminal escapes",     REDUCE_UNSET,  NULL, NULL, "\x1B[1m12\x1B[0m", "\"" BAD "[1m12" BAD "[0m\" is not a number"},
    {"broken UTF-8",         REDUCE_UNSET,  NULL, NULL, "\xFF\xFE" "1", "\"" BAD BAD "1\" is not a number"},
    {"long text is cut",     REDUCE_UNSET,  NULL, NULL,
     "0123456789 123456789 123456789 123456789 123456789 123456789 123456789x",
     "\"0123456789 123456789 123456789 123456789 123456789 123456" D "\" is not a number"},
    {"a lone sign",          REDUCE_UNSET,  NULL, NULL, "-", "\"-\" is not a number"},
    {"a lone dot",           REDUCE_UNSET,  NULL, NULL, ".", "\".\" is not a number"},
    {"half an exponent",     REDUCE_UNSET,  NULL, NULL, "1e", "\"1e\" is not a number"},
    {"true",                 REDUCE_UNSET,  NULL, NULL, "true", "\"true\" is not a number"},
    {"nano is no nan",       REDUCE_UNSET,  NULL, NULL, "nano", "\"nano\" is not a number"},

    {"no match",             REDUCE_UNSET,  "p50=([0-9]+)", NULL, "p99=3\n", "no number: regex p50=([0-9]+) matches nothing"},
    {"nothing to match",     REDUCE_UNSET,  "([0-9]+)", NULL, "", "no number: the output is empty"},
    {"two matches",          REDUCE_UNSET,  "t=([0-9]+)", NULL, "t=1\nt=2\n", "2 numbers, set reduce"},
    {"a group of text",      REDUCE_UNSET,  "t=([a-z]+)", NULL, "t=abc\n", "\"abc\" is not a number"},
    {"a group of nan",       REDUCE_UNSET,  "t=(.*)", NULL, "t=nan\n", "nan"},
    {"an empty group",       REDUCE_UNSET,  "t=([0-9]*)", NULL, "t=\n", "regex t=([0-9]*) matches without a number"},
    {"an empty match",       REDUCE_SUM,    "([0-9]*)", NULL, "abc", "regex ([0-9]*) matches without a number"},
    {"a group not taken",    REDUCE_UNSET,  "a([0-9])|b", NULL, "b", "regex a([0-9])|b matches without a number"},
    {"across lines",         REDUCE_UNSET,  "a.([0-9])", NULL, "a\n1", "no number: regex a.([0-9]) matches nothing"},
    {"no regex",             REDUCE_UNSET,  "([0-9]", NULL, "1", "regex ([0-9]: *"},

    {"no document",          REDUCE_UNSET,  NULL, "/a", "", "no number: the output is empty"},
    {"broken JSON",          REDUCE_UNSET,  NULL, "/a", "{\"a\":1", "JSON line 1, column 6: *"},
    {"words before JSON",    REDUCE_UNSET,  NULL, "/a", "Running\n{\"a\":1}", "JSON line 1, *"},
    {"two documents",        REDUCE_UNSET,  NULL, "/a", "{\"a\":1}\n{\"a\":1}", "JSON line 2, *"},
    {"NaN in JSON",          REDUCE_UNSET,  NULL, "/a", "{\"a\":NaN}", "JSON line 1, *"},
    {"too large in JSON",    REDUCE_UNSET,  NULL, "/a", "{\"a\":1e999}", "JSON line 1, *"},
    {"nothing there",        REDUCE_UNSET,  NULL, "/b", "{\"a\":1}", "no number: the output has nothing at /b"},
    {"text there",           REDUCE_UNSET,  NULL, "/a", "{\"a\":\"1\"}", "/a holds \"1\", which is not a number"},
    {"null there",           REDUCE_UNSET,  NULL, "/a", "{\"a\":null}", "/a holds null, which is not a number"},
    {"true there",           REDUCE_UNSET,  NULL, "/a", "{\"a\":true}", "/a holds true, which is not a number"},
    {"an object there",      REDUCE_UNSET,  NULL, "/a", "{\"a\":{\"b\":1}}", "/a holds {\"b\":1.0}, which is not a number"},
    {"two there",            REDUCE_UNSET,  NULL, "/a", "{\"a\":[1,2]}", "2 numbers, set reduce"},
    {"none there",           REDUCE_SUM,    NULL, "/a", "{\"a\":[]}", "no number: /a is an empty array"},
    {"text among them",      REDUCE_SUM,    NULL, "/a", "{\"a\":[1,\"x\"]}", "/a holds \"x\", which is not a number"},
    {"an array of arrays",   REDUCE_SUM,    NULL, "/a", "{\"a\":[[1]]}", "/a holds [1.0], which is not a number"},
    {"a pointer that is none", REDUCE_UNSET, NULL, "a", "{\"a\":1}", "no number: the output has nothing at a"},
};
/* clang-format on */

START_TEST(reads)
{
    const struct metric m = metric_of(good[_i].reduce, good[_i].regex, good[_i].pointer);
    AUTO(values_fini) struct values v = {0};
    struct err e = {0};
    enum err_code rc = value_read(&m, good[_i].output, strlen(good[_i].output), &v, &e);

    ck_assert_msg(rc == ERR_OK, "%s: %s", good[_i].name, e.text);
    ck_assert_msg(v.reduced == good[_i].want, "%s: %g", good[_i].name, v.reduced);
    ck_assert_msg(v.n == good[_i].want_n, "%s: %zu", good[_i].name, v.n);
}
END_TEST

START_TEST(refuses_with_a_reason)
{
    const struct metric m = metric_of(bad[_i].reduce, bad[_i].regex, bad[_i].pointer);
    const char *prefix = "cannot measure: ";
    const size_t n = strcspn(bad[_i].want, "*");
    struct values v = {0};
    struct err e = {0};
    enum err_code rc = value_read(&m, bad[_i].output, strlen(bad[_i].output), &v, &e);
    const char *got = e.text + strlen(prefix);

    ck_assert_msg(rc == ERR_INVALID, "%s", bad[_i].name);
    ck_assert_msg(strncmp(e.text, prefix, strlen(prefix)) == 0, "%s: %s", bad[_i].name, e.text);
    /* A regex of the table may hold the star itself. */
    if (bad[_i].want[n] == '*' && bad[_i].want[n + 1] == '\0')
        ck_assert_msg(strncmp(got, bad[_i].want, n) == 0, "%s: %s", bad[_i].name, e.text);
    else
        ck_assert_msg(strcmp(got, bad[_i].want) == 0, "%s: %s", bad[_i].name, e.text);
    ck_assert_ptr_null(v.items);
    ck_assert_uint_eq(v.n, 0);
}
END_TEST

START_TEST(a_nul_byte_is_no_number)
{
    const struct metric m = metric_of(REDUCE_UNSET, NULL, NULL);
    const struct metric regex = metric_of(REDUCE_UNSET, "t=(.*)", NULL);
    const struct metric past = metric_of(REDUCE_UNSET, "t=([0-9])", NULL);
    AUTO(values_fini) struct values w = {0};
    struct values v = {0};
    struct err e = {0};

    ck_assert_int_eq(value_read(&m,
                                "1\0"
                                "2",
                                3, &v, &e),
                     ERR_INVALID);
    ck_assert_str_eq(e.text, "cannot measure: \"1" BAD "2\" is not a number");
    ck_assert_int_eq(value_read(&regex,
                                "t=1\0"
                                "2",
                                5, &v, &e),
                     ERR_INVALID);
    ck_assert_str_eq(e.text, "cannot measure: \"1" BAD "2\" is not a number");
    ck_assert_int_eq(value_read(&past, "\0\0t=7", 5, &w, &e), ERR_OK);
    ck_assert_double_eq(w.reduced, 7);
}
END_TEST

START_TEST(bytes_need_no_terminator)
{
    const struct metric plain = metric_of(REDUCE_UNSET, NULL, NULL);
    const struct metric regex = metric_of(REDUCE_UNSET, "([0-9]+)", NULL);
    AUTO(values_fini) struct values v = {0};
    AUTO(values_fini) struct values w = {0};

    char *exact = mem_resize(NULL, 2, 1); /* the sanitizer sees a byte read past it */
    memcpy(exact, "12", 2);
    ck_assert_int_eq(value_read(&plain, exact, 2, &v, NULL), ERR_OK);
    ck_assert_int_eq(value_read(&regex, exact, 2, &w, NULL), ERR_OK);
    ck_assert(v.reduced == 12 && w.reduced == 12);
    mem_free(exact);
}
END_TEST

START_TEST(values_have_a_limit)
{
    const struct metric m = metric_of(REDUCE_SUM, NULL, NULL);
    const struct metric unset = metric_of(REDUCE_UNSET, NULL, NULL);
    AUTO(buf_fini) struct buf out = {0};
    AUTO(values_fini) struct values v = {0};
    struct values none = {0};
    struct err e = {0};

    for (int i = 0; i < VALUES_MOST; i++)
        buf_adds(&out, "1\n");
    ck_assert_int_eq(value_read(&m, out.data, out.len, &v, &e), ERR_OK);
    ck_assert_double_eq(v.reduced, VALUES_MOST);
    buf_adds(&out, "1\n");
    ck_assert_int_eq(value_read(&m, out.data, out.len, &none, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "cannot measure: more than 10000 numbers");
    ck_assert_int_eq(value_read(&unset, out.data, out.len, &none, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "cannot measure: 10001 numbers, set reduce");
}
END_TEST

START_TEST(lines_for_a_regex_have_a_limit)
{
    const struct metric slow = metric_of(REDUCE_UNSET, "([a-z]+)=1", NULL); /* quadratic in 'a's */
    const struct metric m = metric_of(REDUCE_UNSET, "p50=([0-9]+)", NULL);
    AUTO(buf_fini) struct buf out = {0};
    AUTO(values_fini) struct values v = {0};
    struct values none = {0};
    struct err e = {0};

    memset(buf_room(&out, 16 * MIB), 'a', 16 * MIB);
    out.len = 16 * MIB;
    ck_assert_int_eq(value_read(&slow, out.data, out.len, &none, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "lines too long for regex") != NULL, "%s", e.text);
    for (size_t i = 100; i < out.len; i += 100)
        out.data[i] = '\n';
    memcpy(out.data + out.len - 7, " p50=12", 7);
    ck_assert_msg(value_read(&m, out.data, out.len, &v, &e) == ERR_OK, "%s", e.text);
    ck_assert_double_eq(v.reduced, 12);
}
END_TEST

START_TEST(every_format_is_found_by_its_kind)
{
    for (size_t i = 0; i < n_formats; i++)
        ck_assert_ptr_eq(format_of(formats[i].kind), &formats[i]);
    ck_assert_ptr_nonnull(format_of(METRIC_VALUE));
    ck_assert_ptr_null(format_of(METRIC_EXIT));
    ck_assert_ptr_null(format_of(METRIC_WALL));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(good)},
        {refuses_with_a_reason, LEN(bad)},
        {a_nul_byte_is_no_number, 1},
        {bytes_need_no_terminator, 1},
        {values_have_a_limit, 1},
        {lines_for_a_regex_have_a_limit, 1},
        {every_format_is_found_by_its_kind, 1},
    };
    return unit_run("value", tests, LEN(tests));
}
