/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_GBENCH
#define CONTEXT                                                                                    \
    "\"context\":{\"date\":\"2026-08-19T10:00:00+00:00\",\"num_cpus\":8,\"library_build_type\":"   \
    "\"release\",\"json_schema_version\":1}"
#define DOCUMENT(rows) "{" CONTEXT ",\"benchmarks\":[" rows "]}"
#define ROW(name, rest)                                                                            \
    "{\"name\":\"" name "\",\"run_name\":\"" name "\",\"run_type\":\"iteration\"," rest "}"
#define TIMES "\"real_time\":412.0,\"cpu_time\":40.1,\"time_unit\":\"us\""
#define MEAN                                                                                       \
    "{\"name\":\"BM_Commit/64_mean\",\"run_name\":\"BM_Commit/"                                    \
    "64\",\"run_type\":\"aggregate\",\"repetitions\":3,"                                           \
    "\"threads\":1,\"aggregate_name\":\"mean\",\"aggregate_unit\":\"time\",\"iterations\":3,"      \
    "\"real_time\":413.0,"                                                                         \
    "\"cpu_time\":40.2,\"time_unit\":\"us\"}"
#define EXAMPLE                                                                                    \
    DOCUMENT("{\"name\":\"BM_Commit/64\",\"run_name\":\"BM_Commit/"                                \
             "64\",\"run_type\":\"iteration\",\"repetitions\":3,"                                  \
             "\"repetition_index\":0,\"threads\":1,\"iterations\":1000," TIMES "}," MEAN)
#define CSV                                                                                        \
    "name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_"  \
    "occurred,error_message\n"

/* clang-format off */
static const struct format_row rows[] = {
    {"the example: iterations, not aggregates", "gbench", EXAMPLE, 412000, NULL},
    {"by name",                       "gbench:test=BM_Commit/64", EXAMPLE, 412000, NULL},
    {"in its own unit",               "gbench:unit=us", EXAMPLE, 412, NULL},
    {"processor time",                "gbench:field=cpu_time,unit=us", EXAMPLE, 40.1, NULL},
    {"repetitions are values",        "gbench:unit=us", DOCUMENT(ROW("a", TIMES) "," ROW("a", "\"real_time\":414,\"cpu_time\":1,\"time_unit\":\"us\"")), 413, NULL},
    {"nanoseconds where no unit is said", "gbench", DOCUMENT(ROW("a", "\"real_time\":7,\"cpu_time\":1")), 7, NULL},
    {"a counter",                     "gbench:field=hits,unit=hits", DOCUMENT(ROW("a", TIMES ",\"hits\":5")), 5, NULL},
    {"bytes a second, more is better", "gbench:field=bytes_per_second,unit=MB/s,worse=down", DOCUMENT(ROW("a", TIMES ",\"bytes_per_second\":5e6")), 5, NULL},
    {"old aggregates are told by name", "gbench", DOCUMENT("{\"name\":\"a\",\"real_time\":7,\"cpu_time\":1,\"time_unit\":\"ns\"},{\"name\":\"a_mean\",\"real_time\":8,\"cpu_time\":1,\"time_unit\":\"ns\"},{\"name\":\"a_cv\",\"real_time\":0.1,\"cpu_time\":1,\"time_unit\":\"ns\"}"), 7, NULL},
    {"a bare NaN elsewhere",          "gbench:test=a,unit=us", DOCUMENT(ROW("a", TIMES) "," ROW("b", "\"real_time\":NaN,\"cpu_time\":-Infinity,\"time_unit\":\"ns\"")), 412, NULL},
    {"complexity rows are aggregates", "gbench:unit=us", DOCUMENT(ROW("a", TIMES) ",{\"name\":\"a_BigO\",\"run_name\":\"a\",\"run_type\":\"aggregate\",\"cpu_coefficient\":1,\"real_coefficient\":2,\"big_o\":\"N\"}"), 412, NULL},
    {"a debug build is told",         "gbench:unit=us", "{\"context\":{\"library_build_type\":\"debug\"},\"benchmarks\":[" ROW("a", TIMES) "]}", 412, "the benchmark library is a debug build"},
    {"CSV",                           "gbench:unit=us", "2026-08-19T10:00:00\n" CSV "\"BM_Commit/64\",1000,412.0,40.1,us,,,,,\n\"BM_Commit/64_mean\",1000,999,40.1,us,,,,,\n", 412, NULL},
    {"a rate in CSV",                 "gbench:unit=items/s,worse=down,field=items_per_second", CSV "\"a,b\",1000,412.0,40.1,us,,12,,,\n", 12, NULL},

    {"NaN",              "gbench", DOCUMENT(ROW("a", "\"real_time\":NaN,\"cpu_time\":1")), NAN, "a: real_time: real_time is NaN"},
    {"infinity",         "gbench", DOCUMENT(ROW("a", "\"real_time\":-Infinity,\"cpu_time\":1")), NAN, "a: real_time: real_time is -Infinity"},
    {"an error",         "gbench", DOCUMENT(ROW("a", "\"error_occurred\":true,\"error_message\":\"no disk\",\"real_time\":0")), NAN, "a: real_time: it failed: no disk"},
    {"one of two failed", "gbench:unit=us", DOCUMENT(ROW("a", TIMES) "," ROW("a", "\"error_occurred\":true,\"error_message\":\"no disk\"")), NAN, "a: real_time: it failed: no disk"},
    {"its counters neither", "gbench:field=hits", DOCUMENT(ROW("a", TIMES ",\"hits\":5") "," ROW("a", "\"error_occurred\":true,\"error_message\":\"no disk\"")), NAN, "a: hits: it failed: no disk"},
    {"it was skipped",   "gbench", DOCUMENT(ROW("a", "\"skipped\":\"error\",\"skip_message\":\"no disk\"")), NAN, "a: real_time: it was skipped: no disk"},
    {"only aggregates",  "gbench", DOCUMENT(MEAN), NAN, "no number: aggregates alone, which are no samples"},
    {"no benchmarks",    "gbench", DOCUMENT(""), NAN, "no number: \"benchmarks\" is empty"},
    {"no such test",     "gbench:test=BM_Commit/6", EXAMPLE, NAN, "no test 'BM_Commit/6'; there are: BM_Commit/64"},
    {"a time in words",  "gbench", DOCUMENT(ROW("a", "\"real_time\":\"fast\",\"cpu_time\":1")), NAN, "a: real_time: real_time is \"fast\", which is not a number"},
    {"no time",          "gbench", DOCUMENT(ROW("a", "\"cpu_time\":1")), NAN, "a: real_time: real_time is missing"},
    {"units that differ", "gbench", DOCUMENT(ROW("a", TIMES) "," ROW("a", "\"real_time\":1,\"cpu_time\":1,\"time_unit\":\"ms\"")), NAN, "a: real_time: times in us and in ms"},
    {"more is better",   "gbench:field=items_per_second,unit=items/s", DOCUMENT(ROW("a", TIMES ",\"items_per_second\":5")), NAN, "a: items_per_second: higher is better there, and the metric says worse=up: set worse=down or worse=either"},
    {"a rate in ns",     "gbench:field=items_per_second,worse=down", DOCUMENT(ROW("a", TIMES ",\"items_per_second\":5")), NAN, "a: items_per_second: it is in items/s, and the metric's unit is ns: set unit=items/s"},
    {"an error in CSV",  "gbench", CSV "\"a\",,,,,,,,true,\"no disk\"\n", NAN, "a: real_time: it failed: no disk"},
    {"JSON cut off",     "gbench", "{" CONTEXT ",\"benchmarks\":[", NAN, "JSON line 1, column 130: ']' expected near end of file"},
    {"its table for people", "gbench", "-----\nBenchmark  Time\n", NAN, "expected Google Benchmark's JSON or CSV, got \"-----\xEF\xBF\xBD" "Benchmark  Time\""},
};
static const char *const like[] = {EXAMPLE, CSV "\"a\",1,1,1,ns,,,,,\n", DOCUMENT("")};
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

    return unit_run("gbench", tests, LEN(tests));
}
