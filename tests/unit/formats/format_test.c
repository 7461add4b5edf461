/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "unit/formats/rows.h"
#include <string.h>

#define HYPERFINE "{\"results\":[{\"command\":\"a\",\"times\":[1,2,3]}]}"
#define UNKNOWN   "the output is in no format that is known by its looks"

/* clang-format off */
static const struct format_row rows[] = {
    {"hyperfine by its looks",      "auto", HYPERFINE, 2, "in s"},
    {"Perfherder in a log",         "auto:suite=a", "x\nPERFHERDER_DATA: {\"framework\":{\"name\":\"f\"},\"suites\":[{\"name\":\"a\",\"value\":5,\"subtests\":[]}]}\n", 5, NULL},
    {"numbers",                     "auto:reduce=max", "1\n2\n", 2, NULL},
    {"Go",                          "auto:field=B/op", "pkg: a\nBenchmarkX 1 5 ns/op 6 B/op\n", 6, "in B/op"},
    {"a direction is either",       "auto", "[{\"benchmark\":\"a\",\"mode\":\"thrpt\",\"primaryMetric\":{\"score\":3,\"scoreUnit\":\"ops/s\",\"rawData\":[[3]]}}]", 3, "in ops/s"},
    {"a metric's unit holds for it", "auto:unit=ms", HYPERFINE, 2000, NULL},

    {"text",                "auto", "hello\n", NAN, UNKNOWN},
    {"other JSON",          "auto", "{\"a\":1}", NAN, UNKNOWN},
    {"broken JSON",         "auto", "{\"a\":", NAN, "JSON line 1, column 5: unexpected token near end of file"},
    {"nothing",             "auto", "", NAN, "the output is empty"},
    {"a format that is told, and cannot be read", "auto", "{\"results\":[{\"command\":\"a\",\"times\":[]}]}", NAN, "a: times: times is an empty list"},
    {"its reader's words say which it is", "auto", "{\"results\":[{\"command\":\"a\"},{}]}", NAN, "hyperfine: result 2: \"command\" is missing; expected a string"},
};

static const char *const neither[] = {"", "hello", "{}", "[]", "{\"a\":1}", "1 2", "a,b\n1,2\n", "a b c", "Benchmark", "[1,2]"};
/* clang-format on */

START_TEST(reads)
{
    format_row_check(&rows[_i]);
}
END_TEST

START_TEST(looks_like_nothing)
{
    format_looks_check(neither[_i], METRIC_AUTO);
}
END_TEST

START_TEST(every_kind_of_results_has_a_row)
{
    for (enum metric_kind k = 0; k < METRIC_KIND_COUNT; k++) {
        const struct format *f = format_of(k);
        ck_assert_int_eq(f != NULL,
                         metric_is_results(k) || k == METRIC_VALUE || k == METRIC_SLOWSQL);
        ck_assert(!f || (f->list != NULL) == metric_is_results(k));
    }
}
END_TEST

static void list(enum metric_kind kind, const char *text, struct results *out)
{
    struct err e = {0};

    ck_assert_msg(format_list(kind, text, strlen(text), out, &e) == ERR_OK, "%s", e.text);
}

START_TEST(a_list_has_units_directions_and_stamps)
{
    AUTO(results_fini) struct results r = {0};

    list(METRIC_PYTEST,
         "{\"machine_info\":{},\"commit_info\":{\"id\":\"abc\"},\"datetime\":\"2026-08-19\","
         "\"benchmarks\":[{\"fullname\":\"t\",\"stats\":{\"median\":2,\"ops\":NaN}}]}",
         &r);
    ck_assert_uint_eq(r.n, 2);
    ck_assert_str_eq(r.stamp.revision, "abc");
    ck_assert_str_eq(r.stamp.time, "2026-08-19");
    ck_assert_str_eq(r.items[0].field, "median");
    ck_assert_str_eq(r.items[0].unit, "s");
    ck_assert_int_eq(r.items[0].better, BETTER_LOWER);
    ck_assert(r.items[0].is_main && r.items[0].values[0] == 2);
    ck_assert_int_eq(r.items[1].better, BETTER_HIGHER);
    ck_assert_str_eq(r.items[1].fault, "ops is NaN");
    ck_assert_uint_eq(r.items[1].n, 0);
}
END_TEST

START_TEST(rows_of_a_series_have_stamps_of_their_own)
{
    AUTO(results_fini) struct results r = {0};

    list(METRIC_AUTO, "time,commit,ms\n1787130842,abc,4\n1787130843,,5\n", &r);
    ck_assert_uint_eq(r.n, 1);
    ck_assert_uint_eq(r.items[0].n, 2);
    ck_assert_str_eq(r.items[0].stamps[0].revision, "abc");
    ck_assert_str_eq(r.items[0].stamps[1].time, "1787130843");
    ck_assert_ptr_null(r.items[0].stamps[1].revision);
}
END_TEST

START_TEST(too_many_values_are_refused)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(metric_free) struct metric *m = metric_new("m", METRIC_PLAIN);
    AUTO(values_fini) struct values v = {0};
    AUTO(results_fini) struct results r = {0};
    struct values none = {0};
    struct err e = {0};

    for (int i = 0; i < VALUES_MOST; i++)
        buf_adds(&text, "1\n");
    ck_assert_int_eq(format_read(m, text.data, text.len, &v, &e), ERR_OK);
    buf_adds(&text, "1\n");
    ck_assert_int_eq(format_read(m, text.data, text.len, &none, &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "cannot measure: more than 10000 numbers");
    while (text.len < 2 * (RESULT_VALUES_MOST + 1))
        buf_adds(&text, "1\n");
    ck_assert_int_eq(format_list(METRIC_PLAIN, text.data, text.len, &r, &e), ERR_LIMIT);
    ck_assert_str_eq(e.text, "more than 100000 results or 1000000 values");
}
END_TEST

START_TEST(an_overflow_is_no_value)
{
    const struct format_row sum = {
        "a sum over the limit", "plain:reduce=sum", "6e99\n6e99\n", NAN,
        "reduced, they are too large: 1.2e100 is over the limit of 1e100"};
    const struct format_row one = {"one number over it", "plain:reduce=sum", "1\n1e200\n", NAN,
                                   "the value: 1e200 is over the limit of 1e100"};

    format_row_check(&sum);
    format_row_check(&one);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(rows)},
        {looks_like_nothing, LEN(neither)},
        {every_kind_of_results_has_a_row, 1},
        {a_list_has_units_directions_and_stamps, 1},
        {rows_of_a_series_have_stamps_of_their_own, 1},
        {too_many_values_are_refused, 1},
        {an_overflow_is_no_value, 1},
    };

    return unit_run("format", tests, LEN(tests));
}
