/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_FILEIO
#define REPORTS                                                                                    \
    "{\"{profile}/places.sqlite\":[12.5,1,20,30,4,2],\"{profile}/"                                 \
    "places.sqlite-wal\":[7.5,0,2,3,6,1],\"{xre}/omni.ja\":[1,0,9,0,0,0]}"
#define EXAMPLE "{\"slug\":\"s\",\"payload\":{\"ver\":1,\"fileIOReports\":" REPORTS "}}"

/* clang-format off */
static const struct format_row rows[] = {
    {"time of a file",             "fileio:test={profile}/places.sqlite", EXAMPLE, 12.5, NULL},
    {"its fsyncs",                 "fileio:test={profile}/places.sqlite,field=fsyncs,unit=calls", EXAMPLE, 4, NULL},
    {"those of several files",     "fileio:test=*places.sqlite*,field=fsyncs,unit=calls,reduce=sum", EXAMPLE, 10, NULL},
    {"reads of all",               "fileio:test=*,field=reads,unit=,reduce=sum", EXAMPLE, 31, "in calls"},
    {"the payload as a string",    "fileio:test={xre}/omni.ja", "{\"payload\":\"{\\\"fileIOReports\\\":{\\\"{xre}/omni.ja\\\":[1,0,9,0,0,0]}}\"}", 1, NULL},
    {"without a payload",          "fileio:test={xre}/omni.ja", "{\"fileIOReports\":" REPORTS "}", 1, NULL},
    {"the reports alone",          "fileio:test={xre}/omni.ja", REPORTS, 1, NULL},
    {"a document a line",          "fileio:test={xre}/omni.ja", EXAMPLE "\n" EXAMPLE "\n", 1, NULL},

    {"several files",       "fileio", EXAMPLE, NAN, "3 results: name one by test, or set reduce; there are: {profile}/places.sqlite: time, {profile}/places.sqlite-wal: time, {xre}/omni.ja: time"},
    {"no such file",        "fileio:test=x", EXAMPLE, NAN, "no test 'x'; there are: {profile}/places.sqlite, {profile}/places.sqlite-wal, {xre}/omni.ja"},
    {"null",                "fileio", "{\"payload\":{\"fileIOReports\":null}}", NAN, "no number: no fileIOReports in the output"},
    {"an empty section",    "fileio", "{\"payload\":{\"fileIOReports\":{}}}", NAN, "no number: no fileIOReports in the output"},
    {"too few numbers",     "fileio", "{\"fileIOReports\":{\"a\":[1,2,3]}}", NAN, "fileIOReports: 'a': expected a list of 6 numbers"},
    {"a time of null",      "fileio", "{\"fileIOReports\":{\"a\":[null,0,0,0,0,0]}}", NAN, "a: time: time is null, not a number"},
    {"NaN",                 "fileio", "{\"fileIOReports\":{\"a\":[NaN,0,0,0,0,0]}}", NAN, "a: time: time is NaN"},
    {"a negative time",     "fileio", "{\"fileIOReports\":{\"a\":[-1,0,0,0,0,0]}}", NAN, "a: time: time is negative"},
    {"a payload that is no JSON", "fileio", "{\"payload\":\"{\",\"fileIOReports\":{}}", NAN, "payload: JSON line 1, column 1: string or '}' expected near end of file"},
    {"calls are no time",   "fileio:field=reads,test={xre}/omni.ja", EXAMPLE, NAN, "{xre}/omni.ja: reads: it is in calls, and the metric's unit is ms: set unit=calls"},
    {"a line cut off",      "fileio", EXAMPLE "\n{\"a\"", NAN, "line 2: JSON line 1, column 4: ':' expected near end of file"},
    {"a list for reports",  "fileio", "{\"fileIOReports\":[1]}", NAN, "fileIOReports: expected an object of files"},
};
static const char *const like[] = {EXAMPLE, "{\"fileIOReports\":null}"};
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

    return unit_run("fileio", tests, LEN(tests));
}
