/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_JMH
#define BENCH(mode, unit, metric)                                                                  \
    "{\"jmhVersion\":\"1.37\",\"benchmark\":\"org.example.B.commit\",\"mode\":\"" mode             \
    "\",\"threads\":1,\"forks\":2,\"params\":{\"size\":\"10\"},\"primaryMetric\":{\"scoreUnit\":"  \
    "\"" unit "\"," metric "}"
#define AVGT                                                                                       \
    BENCH("avgt", "ms/op",                                                                         \
          "\"score\":2.5,\"scoreError\":\"NaN\",\"scoreConfidence\":[\"NaN\",\"NaN\"],"            \
          "\"scorePercentiles\":{\"50.0\":2.4,\"99.0\":4.5},\"rawData\":[[1.0,2.0],[3.0,4.0]]")
#define EXAMPLE "[" AVGT ",\"secondaryMetrics\":{}}]"
#define THRPT   "[" BENCH("thrpt", "ops/ms", "\"score\":7,\"rawData\":[[7]]") "}]"
#define SAMPLE                                                                                     \
    "[" BENCH(                                                                                     \
        "sample", "us/op",                                                                         \
        "\"score\":3,\"scorePercentiles\":{\"99.9\":9},\"rawDataHistogram\":[[[[1.0,2]]]]") "}]"

/* clang-format off */
static const struct format_row rows[] = {
    {"the raw data of all forks",     "jmh", EXAMPLE, 2.5, "in ms/op"},
    {"in another unit",               "jmh:unit=us/op,reduce=max", EXAMPLE, 4000, NULL},
    {"the score",                     "jmh:field=score", EXAMPLE, 2.5, "in ms/op"},
    {"a percentile",                  "jmh:field=p99.0", EXAMPLE, 4.5, "in ms/op"},
    {"by mode and parameters",        "jmh:test=org.example.B.commit,options=avgt size=10", EXAMPLE, 2.5, "in ms/op"},
    {"more throughput is better",     "jmh:worse=down", THRPT, 7, "in ops/ms"},
    {"throughput in another unit",    "jmh:worse=down,unit=ops/s", THRPT, 7000, NULL},
    {"a histogram leaves the score",  "jmh", SAMPLE, 3, "in us/op"},
    {"one of two modes",              "jmh:options=sample*", "[" AVGT "}," BENCH("sample", "us/op", "\"score\":3") "}]", 3, "in us/op"},
    {"a secondary metric",            "jmh:test=org.example.B.commit:\xC2\xB7gc.count,unit=counts", "[" AVGT ",\"secondaryMetrics\":{\"\xC2\xB7gc.count\":{\"score\":9,\"scoreUnit\":\"counts\",\"rawData\":[[4],[5]]}}}]", 4.5, NULL},

    {"NaN is a string",         "jmh:field=score", "[" BENCH("avgt", "ms/op", "\"score\":\"NaN\"") "}]", NAN, "org.example.B.commit [avgt size=10]: score: score is NaN"},
    {"infinity too",            "jmh", "[" BENCH("avgt", "ms/op", "\"score\":1,\"rawData\":[[1,\"+INF\"]]") "}]", NAN, "org.example.B.commit [avgt size=10]: raw: rawData is +INF"},
    {"and minus infinity",      "jmh", "[" BENCH("avgt", "ms/op", "\"score\":1,\"rawData\":[[\"-INF\"]]") "}]", NAN, "org.example.B.commit [avgt size=10]: raw: rawData is -INF"},
    {"throughput and worse=up", "jmh", THRPT, NAN, "org.example.B.commit [thrpt size=10]: raw: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
    {"no such benchmark",       "jmh:test=x", EXAMPLE, NAN, "no test 'x'; there are: org.example.B.commit"},
    {"no such parameter",       "jmh:options=size=20", EXAMPLE, NAN, "no options 'size=20'; there are: avgt size=10"},
    {"raw data that is none",   "jmh", "[" BENCH("avgt", "ms/op", "\"score\":1,\"rawData\":[]") "}]", NAN, "org.example.B.commit [avgt size=10]: raw: rawData is an empty list"},
    {"a fork that is no list",  "jmh", "[" BENCH("avgt", "ms/op", "\"score\":1,\"rawData\":[1]") "}]", NAN, "org.example.B.commit [avgt size=10]: raw: rawData is not a list of numbers"},
    {"no score",                "jmh", "[" BENCH("avgt", "ms/op", "\"x\":1") "}]", NAN, "org.example.B.commit [avgt size=10]: score: score is missing"},
    {"no metric",               "jmh", "[{\"jmhVersion\":\"1\",\"benchmark\":\"a\",\"mode\":\"avgt\"}]", NAN, "benchmark 1: \"primaryMetric\" is missing; expected an object"},
    {"an empty list",           "jmh", "[]", NAN, "expected JMH's list of benchmarks, it is empty"},
    {"an object",               "jmh", "{\"a\":1}", NAN, "expected JMH's list of benchmarks"},
    {"its table for people",    "jmh", "Benchmark Mode Cnt Score", NAN, "expected JMH's JSON, got \"Benchmark Mode Cnt Score\""},
};
static const char *const like[] = {EXAMPLE, THRPT, SAMPLE};
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

    return unit_run("jmh", tests, LEN(tests));
}
