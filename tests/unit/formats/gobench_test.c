/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND    METRIC_GOBENCH
#define HEAD    "goos: linux\npkg: example.org/db\n"
#define LINE    "BenchmarkCommit-8    2500    412345 ns/op    128 B/op    3 allocs/op\n"
#define EXAMPLE HEAD LINE

/* clang-format off */
static const struct format_row rows[] = {
    {"the example",                  "gobench", EXAMPLE, 412345, NULL},
    {"by name and package",          "gobench:suite=example.org/db,test=BenchmarkCommit-8", EXAMPLE, 412345, NULL},
    {"on any number of processors",  "gobench:test=BenchmarkCommit*", EXAMPLE, 412345, NULL},
    {"per operation in another unit", "gobench:unit=us/op", EXAMPLE, 412.345, NULL},
    {"bytes",                        "gobench:field=B/op,unit=B/op", EXAMPLE, 128, NULL},
    {"allocations",                  "gobench:field=allocs/op,unit=allocs/op", EXAMPLE, 3, NULL},
    {"repeated names are values",    "gobench", LINE "BenchmarkCommit-8 2500 412347 ns/op\nBenchmarkCommit-8 2500 412346 ns/op\n", 412346, NULL},
    {"a package lasts until the next", "gobench:suite=b", "pkg: a\nBenchmarkX 1 5 ns/op\npkg: b\nBenchmarkX 1 7 ns/op\n", 7, NULL},
    {"an empty one takes it away",   "gobench:test=BenchmarkY", "pkg: a\nBenchmarkX 1 5 ns/op\npkg:\nBenchmarkY 1 7 ns/op\n", 7, NULL},
    {"sub-benchmarks",               "gobench:test=BenchmarkX/size=10-4", "BenchmarkX/size=10-4 1 5 ns/op\nBenchmarkX/size=20-4 1 6 ns/op\n", 5, NULL},
    {"speed, more is better",        "gobench:field=MB/s,unit=B/s,worse=down", "BenchmarkX 1 5 ns/op 2.5 MB/s\n", 2.5e6, NULL},
    {"a unit of its own comes first", "gobench:unit=widgets", "BenchmarkX 1 5 widgets\n", 5, NULL},
    {"tidied units",                 "gobench:unit=ms/op", "BenchmarkX 1 0.005 sec/op\n", 5, NULL},
    {"a Unit line says what is better", "gobench:unit=widgets,worse=down", "BenchmarkX 1 5 widgets\nUnit widgets better=higher assume=exact\n", 5, NULL},
    {"all else is passed over",      "gobench", "=== RUN x\nok  \texample.org/db\t1.2s\nPASS\nBenchmark results:\nBenchmarking 1 5 ns/op\n" LINE "--- BENCH: BenchmarkCommit-8\n", 412345, NULL},
    {"exponents and CR LF",          "gobench", "BenchmarkX 1 5e3 ns/op\r\n", 5000, NULL},

    {"no benchmark",        "gobench", HEAD "PASS\n", NAN, "no number: no line of a benchmark in the output"},
    {"a line cut off",      "gobench", "BenchmarkX 1 5\n", NAN, "no number: no line of a benchmark in the output"},
    {"an odd one out",      "gobench", "BenchmarkX 1 5 ns/op 7\n", NAN, "no number: no line of a benchmark in the output"},
    {"NaN",                 "gobench", "BenchmarkX 1 NaN ns/op\n", NAN, "BenchmarkX: ns/op: ns/op is nan"},
    {"infinity",            "gobench", "BenchmarkX 1 +Inf ns/op\n", NAN, "BenchmarkX: ns/op: ns/op is inf"},
    {"a second value in words", "gobench:field=B/op,unit=B/op", "BenchmarkX 1 5 ns/op x B/op\n", NAN, "BenchmarkX: B/op: B/op is \"x\", which is not a number"},
    {"no such test",        "gobench:test=BenchmarkY-8", EXAMPLE, NAN, "no test 'BenchmarkY-8'; there are: BenchmarkCommit-8"},
    {"no such package",     "gobench:suite=x", EXAMPLE, NAN, "no suite 'x'; there are: example.org/db"},
    {"bytes are not ns",    "gobench:field=B/op", EXAMPLE, NAN, "example.org/db BenchmarkCommit-8: B/op: it is in B/op, and the metric's unit is ns/op: set unit=B/op"},
    {"speed is better when higher", "gobench:field=MB/s,unit=MB/s", "BenchmarkX 1 5 ns/op 2.5 MB/s\n", NAN, "BenchmarkX: MB/s: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
};
static const char *const like[] = {EXAMPLE, "x\n" LINE};
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

    return unit_run("gobench", tests, LEN(tests));
}
