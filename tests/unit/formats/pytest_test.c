/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_PYTEST
#define BENCH(name, stats)                                                                         \
    "{\"group\":null,\"name\":\"" name "\",\"fullname\":\"t.py::" name                             \
    "\",\"params\":null,\"stats\":{" stats "}}"
#define STATS                                                                                      \
    "\"min\":0.1,\"max\":0.4,\"mean\":0.2,\"stddev\":0.05,\"rounds\":3,\"median\":0.15,\"iqr\":0." \
    "01,\"q1\":0.12,\"q3\":0.3,\"ops\":5.0,\"total\":0.6,\"iterations\":1,\"outliers\":\"1;0\""
#define DOCUMENT(rows)                                                                             \
    "{\"machine_info\":{\"node\":\"x\"},\"commit_info\":{\"id\":\"abc\",\"dirty\":false},"         \
    "\"benchmarks\":[" rows "],\"datetime\":\"2026-08-19T10:00:00\",\"version\":\"4.0.0\"}"
#define EXAMPLE DOCUMENT(BENCH("test_a", STATS))

/* clang-format off */
static const struct format_row rows[] = {
    {"the median, in seconds",      "pytest", EXAMPLE, .15, NULL},
    {"in milliseconds",             "pytest:unit=ms", EXAMPLE, 150, NULL},
    {"by its full name",            "pytest:test=t.py::test_a", EXAMPLE, .15, NULL},
    {"by the end of it",            "pytest:test=*::test_b[1]", DOCUMENT(BENCH("test_a", STATS) "," BENCH("test_b[1]", "\"median\":3")), 3, NULL},
    {"the data if it was saved",    "pytest:reduce=max", DOCUMENT(BENCH("test_a", STATS ",\"data\":[0.1,0.15,0.4]")), .4, NULL},
    {"an empty list of it counts for nothing", "pytest", DOCUMENT(BENCH("test_a", STATS ",\"data\":[]")), .15, NULL},
    {"another field",               "pytest:field=min", EXAMPLE, .1, NULL},
    {"operations a second",         "pytest:field=ops,unit=ops/s,worse=down", EXAMPLE, 5, NULL},
    {"a group is a suite",          "pytest:suite=g", DOCUMENT("{\"group\":\"g\",\"name\":\"x\",\"fullname\":\"f::x\",\"stats\":{\"median\":4}}," BENCH("test_a", STATS)), 4, NULL},
    {"no deviation with one round", "pytest:field=stddev", DOCUMENT(BENCH("a", "\"median\":1,\"stddev\":0")), 0, NULL},

    {"all failed",           "pytest", DOCUMENT(""), NAN, "no number: \"benchmarks\" is empty; did they all fail?"},
    {"the one meant failed", "pytest:test=t.py::test_b", EXAMPLE, NAN, "no test 't.py::test_b'; there are: t.py::test_a"},
    {"two",                  "pytest", DOCUMENT(BENCH("a", STATS) "," BENCH("b", STATS)), NAN, "2 results: name one by test, or set reduce; there are: t.py::a: median, t.py::b: median"},
    {"NaN",                  "pytest", DOCUMENT(BENCH("a", "\"median\":NaN")), NAN, "t.py::a: median: median is NaN"},
    {"null",                 "pytest", DOCUMENT(BENCH("a", "\"median\":null")), NAN, "t.py::a: median: median is null, not a number"},
    {"no statistics",        "pytest", DOCUMENT("{\"fullname\":\"a\"}"), NAN, "benchmark 1: \"stats\" is missing; expected an object"},
    {"more is better",       "pytest:field=ops,unit=ops/s", EXAMPLE, NAN, "t.py::test_a: ops: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
    {"no JSON",              "pytest", "1 passed", NAN, "expected pytest-benchmark's JSON, got \"1 passed\""},
};
static const char *const like[] = {EXAMPLE, DOCUMENT("")};
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

    return unit_run("pytest", tests, LEN(tests));
}
