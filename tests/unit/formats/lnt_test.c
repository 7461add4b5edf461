/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_LNT
#define DOCUMENT(tests)                                                                            \
    "{\"format_version\":\"2\",\"machine\":{\"name\":\"m\"},\"run\":{\"start_time\":\"2026-08-"    \
    "19T10:00:00\",\"end_time\":\"2026-08-19T10:01:00\",\"llvm_project_revision\":\"abc\"},"       \
    "\"tests\":[" tests "]}"
#define EXAMPLE                                                                                    \
    DOCUMENT("{\"name\":\"a.b\",\"execution_time\":[0.1,0.3,0.2],\"compile_time\":1.5,\"hash\":"   \
             "\"d41d8\",\"execution_status\":0,\"mem_bytes\":2048}")

/* clang-format off */
static const struct format_row rows[] = {
    {"execution time goes first",     "lnt", EXAMPLE, .2, "in s"},
    {"in milliseconds",               "lnt:unit=ms", EXAMPLE, 200, NULL},
    {"compile time",                  "lnt:field=compile_time", EXAMPLE, 1.5, "in s"},
    {"memory",                        "lnt:field=mem_bytes,unit=KiB", EXAMPLE, 2, NULL},
    {"compile time where it is alone", "lnt", DOCUMENT("{\"name\":\"a\",\"compile_time\":3}"), 3, "in s"},
    {"a metric of its own",           "lnt", DOCUMENT("{\"name\":\"a\",\"widgets\":3}"), 3, NULL},
    {"a higher score is better",      "lnt:worse=down", DOCUMENT("{\"name\":\"a\",\"score\":3}"), 3, NULL},
    {"version 2 as a number",         "lnt", "{\"format_version\":2,\"tests\":[{\"name\":\"a\",\"compile_time\":3}]}", 3, "in s"},
    {"text",                          "lnt:test=nts.a.b", "nts.a.b.execution_time 0.25\nnts.a.b.compile_time 1\nnts.c.execution_time 9\n", .25, "in s"},
    {"repeated lines are values",     "lnt", "a.execution_time 1\n\na.execution_time 3\n", 2, "in s"},
    {"a hash in text is no number",   "lnt", "a.execution_time 1\na.hash d41d8\n", 1, "in s"},

    {"a status that is no pass",  "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":1,\"execution_status\":1}"), NAN, "a: execution_time: execution_status is 1, not a pass"},
    {"in text too",               "lnt:field=compile_time", "a.compile_time 1\na.compile_status 2\n", NAN, "a: compile_time: compile_status is 2, not a pass"},
    {"a status in words",         "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":1,\"execution_status\":\"FAIL\"}"), NAN, "a: execution_time: execution_status is \"FAIL\", which is not a number"},
    {"a time in words",           "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":\"fast\"}"), NAN, "a: execution_time: execution_time is \"fast\", which is not a number"},
    {"null",                      "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":null}"), NAN, "a: execution_time: execution_time is null, not a number"},
    {"NaN in a list",             "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":[1,NaN]}"), NAN, "a: execution_time: execution_time is NaN"},
    {"no values",                 "lnt", DOCUMENT("{\"name\":\"a\",\"execution_time\":[]}"), NAN, "a: execution_time: execution_time is an empty list"},
    {"no tests",                  "lnt", DOCUMENT(""), NAN, "no number: no test in the output"},
    {"another version",           "lnt", "{\"format_version\":\"1\",\"tests\":[]}", NAN, "format_version is not \"2\""},
    {"two metrics of its own",    "lnt", DOCUMENT("{\"name\":\"a\",\"x\":3,\"y\":4}"), NAN, "2 results: name one by field; there are: a: x, a: y"},
    {"a score and worse=up",      "lnt", DOCUMENT("{\"name\":\"a\",\"score\":3}"), NAN, "a: score: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
    {"no such test",              "lnt:test=c", "a.execution_time 1\nb.execution_time 1\n", NAN, "no test 'c'; there are: a, b"},
    {"text that is none",         "lnt", "hello world\n", NAN, "line 1: \"hello world\" is not \"test.metric value\""},
    {"nan in text",               "lnt", "a.execution_time nan\n", NAN, "a: execution_time: execution_time is nan"},
    {"JSON cut off",              "lnt", "{\"format_version\":\"2\"", NAN, "JSON line 1, column 21: '}' expected near end of file"},
    {"nothing",                   "lnt", "\n", NAN, "no number: no test in the output"},
};
static const char *const like[] = {EXAMPLE, "nts.a.b.execution_time 0.25\nnts.c.execution_time 9\n"};
/* clang-format on */

START_TEST(reads)
{
    format_row_check(&rows[_i]);
}
END_TEST

START_TEST(looks)
{
    format_looks_check(like[_i], KIND);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(rows)},
        {looks, LEN(like)},
    };

    return unit_run("lnt", tests, LEN(tests));
}
