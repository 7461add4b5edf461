/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_BMF
#define EXAMPLE                                                                                    \
    "{\"commit\":{\"latency\":{\"value\":412.5,\"lower_value\":400,\"upper_value\":430}}}"

/* clang-format off */
static const struct format_row rows[] = {
    {"the example",              "bmf", EXAMPLE, 412.5, NULL},
    {"by name, with a unit",     "bmf:test=commit,unit=ns", EXAMPLE, 412.5, NULL},
    {"latency goes first",       "bmf", "{\"a\":{\"throughput\":{\"value\":1},\"latency\":{\"value\":2}}}", 2, NULL},
    {"the one measure there is", "bmf", "{\"a\":{\"throughput\":{\"value\":1}}}", 1, NULL},
    {"another measure",          "bmf:field=throughput", "{\"a\":{\"throughput\":{\"value\":1},\"latency\":{\"value\":2}}}", 1, NULL},

    {"two benchmarks",     "bmf", "{\"a\":{\"latency\":{\"value\":1}},\"b\":{\"latency\":{\"value\":2}}}", NAN, "2 results: name one by test, or set reduce; there are: a: latency, b: latency"},
    {"two measures",       "bmf", "{\"a\":{\"x\":{\"value\":1},\"y\":{\"value\":2}}}", NAN, "2 results: name one by field; there are: a: x, a: y"},
    {"no value",           "bmf", "{\"a\":{\"x\":{\"lower_value\":1}}}", NAN, "a: x: value is missing"},
    {"null",               "bmf", "{\"a\":{\"x\":{\"value\":null}}}", NAN, "a: x: value is null, not a number"},
    {"NaN",                "bmf", "{\"a\":{\"x\":{\"value\":NaN}}}", NAN, "a: x: value is NaN"},
    {"a truth",            "bmf", "{\"a\":{\"x\":{\"value\":true}}}", NAN, "a: x: value is not a number"},
    {"no measures",        "bmf", "{\"a\":{}}", NAN, "no number: there are no results in the output"},
    {"a number for a measure", "bmf", "{\"a\":{\"x\":1}}", NAN, "benchmark 'a': measure 'x': expected an object"},
    {"a number for a benchmark", "bmf", "{\"a\":1}", NAN, "benchmark 'a': expected an object of measures"},
    {"a list",             "bmf", "[]", NAN, "expected an object of benchmarks"},
    {"text",               "bmf", "x", NAN, "expected Bencher's JSON, got \"x\""},
};
static const char *const like[] = {EXAMPLE};
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

    return unit_run("bmf", tests, LEN(tests));
}
