/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND    METRIC_TALOS
#define TIMES   "__startTimestamp1385000000123__endTimestamp\n"
#define EXAMPLE "__start_report455|410|412|411|414__end_report\n" TIMES
#define PAGES                                                                                      \
    "I/GeckoDump: "                                                                                \
    "__start_tp_report\n_x_x_mozilla_page_load\n_x_x_mozilla_page_load_details\n|i|pagename|runs|" \
    "\n"                                                                                           \
    "|0;example.org/"                                                                              \
    "index.html;900;90;80;70;60;10;12;11\n|1;example.net;30;20;10\n__end_tp_report\n" TIMES
#define TALOSDATA                                                                                  \
    "INFO : TALOSDATA: "                                                                           \
    "[{\"test_machine\":{\"platform\":\"x86_64\",\"osversion\":\"12.04\",\"os\":\"linux\","        \
    "\"name\":\"t\"},"                                                                             \
    "\"testrun\":{\"date\":1385000000,\"suite\":\"ts_paint\",\"options\":{}},\"results\":{\"ts_"   \
    "paint\":[455,410,412,411,414]},"                                                              \
    "\"talos_aux\":{\"main_rss\":[100,300]}}]\n"
#define RETURN                                                                                     \
    "RETURN: <a href='http://graphs.mozilla.org/graph.html#tests=[[1,2,3]]'>tp5o_paint: "          \
    "327.74</a>\n"
#define RESULT                                                                                     \
    "TinderboxPrint: TalosResult: "                                                                \
    "{\"datazilla\":{\"tp5o\":{\"url\":\"x\"}},\"graphserver\":{\"tp5o_paint\":{\"url\":\"x\","    \
    "\"result\":\"327.74\"},\"tp5o_main_rss_paint\":{\"url\":\"x\",\"result\":\"145.3MB\"}}}\n"

/* clang-format off */
static const struct format_row rows[] = {
    {"the first value is dropped",     "talos", EXAMPLE, 411.5, NULL},
    {"all of them",                    "talos:field=replicates", EXAMPLE, 412, NULL},
    {"in seconds",                     "talos:unit=s", EXAMPLE, .4115, NULL},
    {"a single one is kept",           "talos", "__start_report455__end_report", 455, NULL},
    {"in the middle of a line",        "talos", "INFO | __start_report455|410__end_report\r\n", 410, NULL},
    {"pages with commas",              "talos:test=b", "__start_reporta,5,6\nb,9,7,8__end_report", 7.5, NULL},
    {"events",                         "talos:test=first", "__start_report{\"first\": 12, \"second\": 13}__end_report", 12, NULL},
    {"of pages five are dropped",      "talos:test=example.org", PAGES, 11, NULL},
    {"unless there are no more",       "talos:test=example.net", PAGES, 20, NULL},
    {"all pages",                      "talos:test=*,reduce=max", PAGES, 20, NULL},
    {"TALOSDATA",                      "talos:suite=ts_paint,test=ts_paint", TALOSDATA, 411.5, NULL},
    {"its counters",                   "talos:test=main_rss", TALOSDATA, 200, NULL},
    {"RETURN with a link",             "talos:suite=tp5o_paint", RETURN, 327.74, NULL},
    {"RETURN without",                 "talos", "RETURN: ts: 5.5\n", 5.5, NULL},
    {"TalosResult",                    "talos:suite=tp5o_paint", RESULT, 327.74, NULL},
    {"the same told twice is one value", "talos:suite=tp5o_paint,reduce=sum", RETURN RESULT, 327.74, NULL},

    {"a failure",              "talos", "__FAILtimeout exceeded__FAIL\n" EXAMPLE, NAN, "the test failed: timeout exceeded"},
    {"a report without an end", "talos", "__start_report455|410", NAN, "__start_report without __end_report"},
    {"an end without a start", "talos", "455__end_report", NAN, "__end_report without __start_report"},
    {"the wrong way round",    "talos", "__end_report455__start_report", NAN, "__start_report without __end_report behind it"},
    {"two reports",            "talos", EXAMPLE EXAMPLE, NAN, "__start_report occurs twice"},
    {"times before the report", "talos", TIMES "__start_report455__end_report", NAN, "__startTimestamp is out of order"},
    {"times out of order",     "talos", "__start_report455__end_report__startBeforeLaunchTimestamp1__endBeforeLaunchTimestamp" TIMES, NAN, "__startBeforeLaunchTimestamp is out of order"},
    {"a time that is none",    "talos", "__start_report455__end_report__startTimestampx__endTimestamp", NAN, "__startTimestamp is followed by no number"},
    {"a value that is none",   "talos", "__start_report455|x|410__end_report", NAN, "value: a value is \"x\", which is not a number"},
    {"NaN",                    "talos", "__start_report455|NaN__end_report", NAN, "value: replicates is nan"},
    {"an empty report",        "talos", "__start_report__end_report", NAN, "value: the report is empty"},
    {"-1 is a failure",        "talos", "__start_report455|-1|-1__end_report", NAN, "value: value is -1, which is how Talos writes a failure"},
    {"a page that is none",    "talos:test=example.org", "__start_tp_report\n|0;example.org;\n__end_tp_report", NAN, "example.org: value: the report is empty"},
    {"pages to choose from",   "talos", PAGES, NAN, "2 results: name one by test, or set reduce; there are: example.org: value, example.net: value"},
    {"no such suite",          "talos:suite=x", RETURN, NAN, "no suite 'x'; there are: tp5o_paint"},
    {"a size for people",      "talos:suite=tp5o_main_rss_paint", RESULT, NAN, "tp5o_main_rss_paint: value: tp5o_main_rss_paint is \"145.3MB\", which is not a number"},
    {"TALOSDATA cut off",      "talos", "TALOSDATA: [{", NAN, "TALOSDATA: JSON line 1, column 2: string or '}' expected near end of file"},
    {"null in TALOSDATA",      "talos", "TALOSDATA: [{\"testrun\":{\"suite\":\"a\"},\"results\":{\"a\":[1,null]}}]", NAN, "a a: value: a is null, not a number"},
    {"no report",              "talos", "hello\n", NAN, "no number: no report of Talos in the output"},
    {"nothing",                "talos", "", NAN, "no number: no report of Talos in the output"},
};
static const char *const like[] = {EXAMPLE, PAGES, TALOSDATA, RESULT};
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

    return unit_run("talos", tests, LEN(tests));
}
