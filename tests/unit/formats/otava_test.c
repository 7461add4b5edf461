/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_OTAVA
#define EXAMPLE                                                                                    \
    "time,commit,branch,p50,throughput\n2026-08-19T10:00:00Z,1234567,main,4.5,100\n2026-08-20T10:" \
    "00:00Z,abcdef0,main,5.5,\n2026-08-21T10:00:00Z,abcdef1,main,6.5,300\n"

/* clang-format off */
static const struct format_row rows[] = {
    {"a column of several rows",     "otava:test=p50", EXAMPLE, 5.5, NULL},
    {"an empty cell is left out",    "otava:test=throughput", EXAMPLE, 200, NULL},
    {"the one column of numbers",    "otava", "time,commit,ms\n1787130842,1234567,4\n", 4, NULL},
    {"words are attributes",         "otava", "time,host,ms\n1787130842,h1,4\n", 4, NULL},
    {"a time column anywhere, quotes", "otava", "\"ms\",\"Timestamp\"\r\n\"4\",\"2026-08-19 10:00:00\"\r\n", 4, NULL},

    {"several columns",      "otava", EXAMPLE, NAN, "2 results: name one by test, or set reduce; there are: p50, throughput"},
    {"no such column",       "otava:test=p99", EXAMPLE, NAN, "no test 'p99'; there are: p50, throughput"},
    {"a revision is no metric", "otava:test=commit", EXAMPLE, NAN, "no test 'commit'; there are: p50, throughput"},
    {"nan",                  "otava", "time,ms\n1,4\n2,nan\n", NAN, "ms: the value is nan"},
    {"a later cell in words", "otava", "time,ms\n1,4\n2,fast\n", NAN, "ms: line 3 is \"fast\", which is not a number"},
    {"no time column",       "otava", "a,b\n1,2\n", NAN, "line 1: no column is called time, timestamp, date or datetime"},
    {"no numbers",           "otava", "time,host\n1,h\n", NAN, "no number: no column of numbers beside the time"},
    {"no rows",              "otava", "time,ms\n", NAN, "no number: no column of numbers beside the time"},
    {"a row too short",      "otava", "time,ms\n1\n", NAN, "line 2: 1 columns, the header has 2"},
    {"nothing",              "otava", "", NAN, "the output is empty"},
};
static const char *const like[] = {EXAMPLE, "Date,x\n1,2\n"};
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

    return unit_run("otava", tests, LEN(tests));
}
