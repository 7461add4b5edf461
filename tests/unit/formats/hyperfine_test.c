/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND            METRIC_HYPERFINE
#define RUN(name, rest) "{\"command\":\"" name "\"," rest "}"
#define RESULTS(runs)   "{\"results\":[" runs "]}"
/* sleep 0.1, as hyperfine 1.18 writes it */
#define EXAMPLE                                                                                    \
    "{\"results\":[{\"command\":\"sleep "                                                          \
    "0.1\",\"mean\":0.1021,\"stddev\":0.0004,\"median\":0.102,\"user\":0.001,"                     \
    "\"system\":0.001,\"min\":0.1017,\"max\":0.1026,\"times\":[0.1017,0.102,0.1026],\"exit_"       \
    "codes\":[0,0,0]}]}"
#define TIMES "\"times\":[1,2,3]"
#define CSV   "command,mean,stddev,median,user,system,min,max"

/* clang-format off */
static const struct format_row rows[] = {
    {"the example",                    "hyperfine", EXAMPLE, .102, NULL},
    {"by its command",                 "hyperfine:test=sleep 0.1", EXAMPLE, .102, NULL},
    {"seconds in milliseconds",        "hyperfine:unit=ms", EXAMPLE, 102, NULL},
    {"the mean of hyperfine",          "hyperfine:field=mean", EXAMPLE, .1021, NULL},
    {"the least time",                 "hyperfine:reduce=min", EXAMPLE, .1017, NULL},
    {"user time",                      "hyperfine:field=user,unit=ms", EXAMPLE, 1, NULL},
    {"memory",                         "hyperfine:field=memory_usage_byte,unit=KiB", RESULTS(RUN("a", TIMES ",\"memory_usage_byte\":[1024,3072,2048]")), 2, NULL},
    {"one of two commands",            "hyperfine:test=b", RESULTS(RUN("a", TIMES) "," RUN("b", "\"times\":[7]")), 7, NULL},
    {"one of two parameters",          "hyperfine:options=size=20", RESULTS(RUN("a", TIMES ",\"parameters\":{\"size\":\"10\"}") "," RUN("a", "\"times\":[7],\"parameters\":{\"size\":\"20\"}")), 7, NULL},
    {"without times the mean",         "hyperfine", RESULTS(RUN("a", "\"mean\":2.5")), 2.5, NULL},
    {"CSV",                            "hyperfine", CSV "\nsleep 0.1,0.1021,0.0004,0.102,0.001,0.001,0.1017,0.1026\n", .1021, NULL},
    {"CSV with quotes and parameters", "hyperfine:options=n=2,test=a \"b\"\\, c", CSV ",parameter_n\n\"a \"\"b\"\", c\",1,0,1,1,1,1,1,1\n\"a \"\"b\"\", c\",5,0,1,1,1,1,1,2\n", 5, NULL},
    {"CSV with CR LF",                 "hyperfine:field=max", CSV "\r\na,1,0,1,1,1,1,9\r\n", 9, NULL},
    {"a command over two lines in CSV", "hyperfine:test=a\nb", CSV "\n\"a\nb\",5,0,1,1,1,1,1\n", 5, NULL},

    {"no such command",     "hyperfine:test=c", RESULTS(RUN("a", TIMES) "," RUN("b", TIMES)), NAN, "no test 'c'; there are: a, b"},
    {"two commands",        "hyperfine", RESULTS(RUN("a", TIMES) "," RUN("b", TIMES)), NAN, "2 results: name one by test, or set reduce; there are: a: times, b: times"},
    {"a run that failed",   "hyperfine", RESULTS(RUN("a", TIMES ",\"exit_codes\":[0,3,0]")), NAN, "a: times: run 2 exited with status 3"},
    {"a run that crashed",  "hyperfine", RESULTS(RUN("a", TIMES ",\"exit_codes\":[0,0,139]")), NAN, "a: times: run 3 was ended by signal 11"},
    {"a run without a status", "hyperfine", RESULTS(RUN("a", TIMES ",\"exit_codes\":[null,0,0]")), NAN, "a: times: run 1 was ended by a signal"},
    {"no deviation of one run", "hyperfine:field=stddev", RESULTS(RUN("a", TIMES ",\"stddev\":null")), NAN, "a: stddev: stddev is null, not a number"},
    {"no times",            "hyperfine", RESULTS(RUN("a", "\"times\":[]")), NAN, "a: times: times is an empty list"},
    {"a time that is none", "hyperfine", RESULTS(RUN("a", "\"times\":[1,\"2\"]")), NAN, "a: times: times is \"2\", which is not a number"},
    {"NaN",                 "hyperfine", RESULTS(RUN("a", "\"times\":[1,NaN]")), NAN, "a: times: times is NaN"},
    {"no results",          "hyperfine", RESULTS(""), NAN, "no number: there are no results in the output"},
    {"no command",          "hyperfine", "{\"results\":[{\"times\":[1]}]}", NAN, "result 1: \"command\" is missing; expected a string"},
    {"other JSON",          "hyperfine", "{\"a\":1}", NAN, "\"results\" is missing; expected an array"},
    {"memory in seconds",   "hyperfine:field=memory_usage_byte", RESULTS(RUN("a", TIMES ",\"memory_usage_byte\":[1]")), NAN, "a: memory_usage_byte: it is in B, and the metric's unit is s: set unit=B"},
    {"a CSV row cut off",   "hyperfine", CSV "\na,1,0\n", NAN, "line 2: 3 columns, the header has 8"},
    {"a CSV quote that does not end", "hyperfine", CSV "\n\"a,1,0\n", NAN, "line 2: a quote does not end"},
    {"a CSV cell that is none", "hyperfine", CSV "\na,fast,0,1,1,1,1,1\n", NAN, "a: mean: mean is \"fast\", which is not a number"},
    {"an empty CSV cell",   "hyperfine", CSV "\na,,0,1,1,1,1,1\n", NAN, "a: mean: mean is missing"},
    {"its text for people", "hyperfine", "Benchmark 1: sleep 0.1\n", NAN, "expected hyperfine's JSON or CSV, got \"Benchmark 1: sleep 0.1\""},
    {"nothing",             "hyperfine", " \n", NAN, "the output is empty"},
};
static const char *const like[] = {EXAMPLE, CSV "\na,1,0,1,1,1,1,1\n"};
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

    return unit_run("hyperfine", tests, LEN(tests));
}
