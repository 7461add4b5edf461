/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_CRITERION
#define RAW                                                                                        \
    "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_"    \
    "count\n"
#define OLD "group,function,value,sample_time_nanos,iteration_count\n"
#define ESTIMATE(x)                                                                                \
    "{\"confidence_interval\":{\"confidence_level\":0.95,\"lower_bound\":1,\"upper_bound\":2},"    \
    "\"point_estimate\":" x ",\"standard_error\":0.1}"
#define ESTIMATES(slope)                                                                           \
    "{\"mean\":" ESTIMATE("120") ",\"median\":" ESTIMATE("110") ",\"median_abs_dev\":" ESTIMATE(   \
        "2") ",\"slope\":" slope ",\"std_dev\":" ESTIMATE("3") "}"
#define MESSAGE(id, values, counts)                                                                \
    "{\"reason\":\"benchmark-complete\",\"id\":\"" id                                              \
    "\",\"report_directory\":\"d\",\"iteration_count\":" counts ",\"measured_values\":" values     \
    ",\"unit\":\"ns\",\"throughput\":[],\"typical\":{\"estimate\":100.5,\"lower_bound\":1,"        \
    "\"upper_bound\":2,\"unit\":\"ns\"},\"mean\":{\"estimate\":101,\"unit\":\"ns\"},\"median\":{"  \
    "\"estimate\":99,\"unit\":\"ns\"},\"slope\":null,\"change\":null,\"new_key\":1}\n"
#define GROUP                                                                                      \
    "{\"reason\":\"group-complete\",\"group_name\":\"g\",\"benchmarks\":[\"a\"],\"report_"         \
    "directory\":\"d\"}\n"

/* clang-format off */
static const struct format_row rows[] = {
    {"totals are divided by iterations", "criterion", RAW "g,f,10,,,1000.0,ns,10\ng,f,10,,,2400.0,ns,20\n", 110, NULL},
    {"older columns",                    "criterion", OLD "g,f,,1000.0,10\n", 100, NULL},
    {"group, function and value",        "criterion:suite=g,test=f/20", RAW "g,f,10,,,1000.0,ns,10\ng,f,20,,,7000.0,ns,10\n", 700, NULL},
    {"quotes",                           "criterion:suite=a\\, b", RAW "\"a, b\",f,10,,,1000.0,ns,10\n", 100, NULL},
    {"another unit",                     "criterion:unit=cycles", RAW "g,f,,,,1000,cycles,10\n", 100, NULL},
    {"sample.json",                      "criterion", "{\"sampling_mode\":\"Linear\",\"iters\":[10.0,20.0,30.0],\"times\":[1000.0,2400.0,3300.0]}", 110, NULL},
    {"estimates.json: the slope",        "criterion", ESTIMATES(ESTIMATE("115")), 115, NULL},
    {"without one the mean",             "criterion", ESTIMATES("null"), 120, NULL},
    {"another estimate, in us",          "criterion:field=median,unit=us", ESTIMATES("null"), .11, NULL},
    {"messages among other lines",       "criterion", "Compiling x\n" MESSAGE("a", "[1000.0,2200.0,3600.0]", "[10,20,30]") GROUP, 110, NULL},
    {"a message by its id",              "criterion:test=b", MESSAGE("a", "[1]", "[1]") MESSAGE("b", "[8]", "[2]"), 4, NULL},
    {"what it takes for typical",        "criterion:field=typical", MESSAGE("a", "[1]", "[1]"), 100.5, NULL},
    {"reasons that are not known are passed over", "criterion", "{\"reason\":\"later\"}\n" MESSAGE("a", "[5]", "[1]"), 5, NULL},

    {"no iterations",        "criterion", RAW "g,f,,,,1000,ns,0\n", NAN, "g f: sample: an iteration count is not positive"},
    {"a total in words",     "criterion", RAW "g,f,,,,x,ns,1\n", NAN, "g f: sample: line 2 has no number"},
    {"nan",                  "criterion", RAW "g,f,,,,nan,ns,1\n", NAN, "g f: sample: sample is nan"},
    {"a row cut off",        "criterion", RAW "g,f,,\n", NAN, "line 2: 4 columns, the header has 8"},
    {"rows alone missing",   "criterion", RAW, NAN, "no number: no sample in the output"},
    {"other columns",        "criterion", "group,function,value,x\n", NAN, "the header wants sample_measured_value and iteration_count"},
    {"fewer counts than times", "criterion", "{\"iters\":[1],\"times\":[1,2]}", NAN, "sample: as many times as iteration counts are wanted, got 2 and 1"},
    {"no times",             "criterion", "{\"iters\":[],\"times\":[]}", NAN, "sample: as many times as iteration counts are wanted, got 0 and 0"},
    {"a null among times",   "criterion", "{\"iters\":[1,1],\"times\":[1,null]}", NAN, "sample: value 2 is not a number"},
    {"an estimate of NaN",   "criterion", "{\"mean\":{\"point_estimate\":NaN}}", NAN, "mean: point_estimate is NaN"},
    {"other JSON",           "criterion", "{\"a\":1}", NAN, "neither samples nor estimates in the JSON"},
    {"a message cut off",    "criterion", "{\"reason\":\"benchmark-complete\",\"id\n", NAN, "line 1: JSON line 1, column 34: premature end of input near '\"id'"},
    {"only a group",         "criterion", "x\n{\"reason\":\"benchmark-complete\",\"id\":1}\n", NAN, "line 2: \"id\": expected a string"},
    {"two benchmarks",       "criterion", MESSAGE("a", "[1]", "[1]") MESSAGE("b", "[8]", "[2]"), NAN, "2 results: name one by test, or set reduce; there are: a: sample, b: sample"},
    {"units that differ",    "criterion", RAW "g,f,,,,1000,ns,1\ng,f,,,,1,us,1\n", NAN, "g f: sample: times in ns and in us"},
    {"its text for people",  "criterion", "fib 20  time: [26.029 us]\n", NAN, "expected criterion's raw.csv, JSON or messages, got \"fib 20  time: [26.029 us]\""},
};
static const char *const like[] = {RAW, OLD, ESTIMATES("null"), MESSAGE("a", "[1]", "[1]") GROUP, "{\"sampling_mode\":\"Flat\",\"iters\":[1],\"times\":[1]}"};
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

    return unit_run("criterion", tests, LEN(tests));
}
