/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/readings.h"

#include "base/mem.h"
#include "unit/run.h"
#include <string.h>

#define T1 INT64_C(1787130842) * NS_PER_S
#define A  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

/* clang-format off */
static const struct {
    const char *name, *text;
    const char *where[2][2];
    size_t n;
    struct { const char *revision, *metric, *platform, *host; int64_t at_ns; /* -1: none */ double value; } want[4];
    size_t n_rejects, n_passed_over;
    const char *reason; /* of the first reject */
} rows[] = {
    {"csv with all there is", "revision,time,value,metric,platform,host,colour\n" A ",2026-08-19T09:14:02Z,1.5,ts,linux,m1,red\n" B ",1787130842,2,ts,mac,m2,\n",
     {{0}}, 2, {{A, "ts", "linux", "m1", T1, 1.5}, {B, "ts", "mac", "m2", T1, 2}}, 0, 0, NULL},
    {"csv with the least there is", "commit,value\r\nv1.2,7\r\n\r\nv1.3,8\r\n",
     {{0}}, 2, {{"v1.2", "", "", "", -1, 7}, {"v1.3", "", "", "", -1, 8}}, 0, 0, NULL},
    {"a byte order mark", "\xEF\xBB\xBF" "commit,value\na,7\nb,8\n",
     {{0}}, 2, {{"a", "", "", "", -1, 7}, {"b", "", "", "", -1, 8}}, 0, 0, NULL},
    {"names in any case, quotes, and blanks around", "\"Git_Commit\", Timestamp , VALUE\n\"a\"\"b\", 2026-08-19 09:14:02 , 1e3 \n",
     {{0}}, 1, {{"a\"b", "", "", "", T1, 1000}}, 0, 0, NULL},
    {"time in milliseconds, microseconds and nanoseconds", "revision,at,value\na,1787130842000,1\nb,1787130842000000,2\nc,1787130842000000000,3\n",
     {{0}}, 3, {{"a", "", "", "", T1, 1}, {"b", "", "", "", T1, 2}, {"c", "", "", "", T1, 3}}, 0, 0, NULL},
    {"what is no value is no point", "revision,value\na,\nb,nan\nc,inf\nd,1 ms\ne,0x10\nf,5\n",
     {{0}}, 1, {{"f", "", "", "", -1, 5}}, 5, 0, "no value"},
    {"nor what is over the limit", "revision,value\na,1e308\nb,-1.7e308\nc,1e100\n", {{0}}, 1, {{"c", "", "", "", -1, 1e100}}, 2, 0, "the value is over the limit of 1e100"},
    {"nor in JSON lines", "{\"revision\":\"a\",\"value\":1e200}\n{\"revision\":\"b\",\"value\":-1e100}\n", {{0}}, 1, {{"b", "", "", "", -1, -1e100}}, 1, 0, "the value is over the limit of 1e100"},
    {"nor in performance/data", "{\"a1\":[{\"revision\":\"a\",\"push_timestamp\":1787130842,\"value\":-1e101},{\"revision\":\"b\",\"push_timestamp\":1787130842,\"value\":2}]}",
     {{0}}, 1, {{"b", "a1", "", "", T1, 2}}, 1, 0, "the value is over the limit of 1e100"},
    {"nor what has no revision", "revision,value\n,1\n \t,2\nc,3\n", {{0}}, 1, {{"c", "", "", "", -1, 3}}, 2, 0, "no revision"},
    {"nor what has a time of no kind", "revision,time,value\na,yesterday,1\nb,-5,2\nc,2026-02-30,3\nd,2026-08-19 09:14:02,4\n",
     {{0}}, 1, {{"d", "", "", "", T1, 4}}, 3, 0, "the time is in no known form"},
    {"nor a run that failed", "revision,value,status\na,1,ok\nb,,cannot\nc,3,timeout\n", {{0}}, 1, {{"a", "", "", "", -1, 1}}, 2, 0, "its status is not ok"},
    {"a row of another width is passed over", "revision,value\na,1,2\nb\nc,3\n", {{0}}, 1, {{"c", "", "", "", -1, 3}}, 2, 0, "not as many columns as the head line"},
    {"a quote that does not end takes the rest along", "revision,value\na,1\n\"b,2\nc,3\n", {{0}}, 1, {{"a", "", "", "", -1, 1}}, 1, 0, "a quote does not end; nothing behind it was read"},
    {"a column for each metric", "time,commit,branch,fsync,ts\n1787130842,a,main,3,1.5\n1787130842,b,main,,2.5\n",
     {{0}}, 3, {{"a", "fsync", "", "", T1, 3}, {"a", "ts", "", "", T1, 1.5}, {"b", "ts", "", "", T1, 2.5}}, 1, 0, "no value"},
    {"one of them", "time,commit,branch,fsync,ts\n1787130842,a,main,3,1.5\n1787130842,b,main,,2.5\n",
     {{"metric", "ts"}}, 2, {{"a", "ts", "", "", T1, 1.5}, {"b", "ts", "", "", T1, 2.5}}, 0, 0, NULL},
    {"rows of one machine", "revision,value,machine,colour\na,1,m1,red\nb,2,m2,red\nc,3,m1,blue\n",
     {{"host", "m1"}, {"colour", "blue"}}, 1, {{"c", "", "", "m1", -1, 3}}, 0, 2, NULL},
    {"a column that is not there has no rows", "revision,value\na,1\n", {{"colour", "red"}}, 0, {{0}}, 0, 1, NULL},
    {"json lines", "{\"revision\":\"a\",\"time\":1787130842,\"value\":1.25,\"metric\":\"ts\"}\n\n{\"commit\":\"b\",\"timestamp\":\"2026-08-19T09:14:02Z\",\"value\":\"2\",\"extra\":{\"x\":[1]},\"host\":null}\n",
     {{0}}, 2, {{"a", "ts", "", "", T1, 1.25}, {"b", "", "", "", T1, 2}}, 0, 0, NULL},
    {"json lines with some that are none", "{\"revision\":\"a\",\"value\":1}\nhello\n[1]\n{\"revision\":\"b\",\"value\":NaN}\n{\"revision\":\"c\",\"value\":true}\n",
     {{0}}, 1, {{"a", "", "", "", -1, 1}}, 4, 0, "not JSON"},
    {"a list of objects", "[{\"revision\":\"a\",\"value\":1},{\"revision\":\"b\",\"value\":2},7]", {{0}}, 2, {{"a", "", "", "", -1, 1}, {"b", "", "", "", -1, 2}}, 1, 0, "not a JSON object"},
    {"performance/data", "{\"680e934794762e3665ccdf416327c1c0c62bfa84\":[{\"id\":1,\"signature_id\":4201001,\"job_id\":9,\"push_id\":1800190,\"revision\":\"" A "\",\"push_timestamp\":1787130842,\"value\":411.63},{\"id\":2,\"push_id\":1800200,\"revision\":\"" B "\",\"push_timestamp\":1787130842,\"value\":452.91}],\"f00d\":[]}",
     {{0}}, 2, {{A, "680e934794762e3665ccdf416327c1c0c62bfa84", "", "", T1, 411.63}, {B, "680e934794762e3665ccdf416327c1c0c62bfa84", "", "", T1, 452.91}}, 0, 0, NULL},
    {"performance/summary", "[{\"signature_id\":1,\"signature_hash\":\"680e\",\"platform\":\"linux1804-64\",\"suite\":\"ts_paint\",\"test\":\"ts_paint\",\"repository_name\":\"autoland\",\"values\":[],\"data\":[{\"job_id\":1,\"value\":411.631,\"push_timestamp\":\"2026-08-19T09:14:02\",\"push_id\":5,\"revision\":\"" A "\"}]},"
     "{\"signature_hash\":\"f00d\",\"platform\":\"windows10\",\"suite\":\"tp5o\",\"test\":\"\",\"data\":[{\"value\":9,\"push_timestamp\":1787130842,\"revision\":\"" B "\"}]},{\"x\":1}]",
     {{0}}, 2, {{A, "ts_paint", "linux1804-64", "", T1, 411.631}, {B, "tp5o", "windows10", "", T1, 9}}, 1, 0, "not a signature with data"},
    {"one signature of several", "{\"a1\":[{\"revision\":\"a\",\"push_timestamp\":1787130842,\"value\":1}],\"b2\":[{\"revision\":\"b\",\"push_timestamp\":1787130842,\"value\":2}]}",
     {{"signature", "b2"}}, 1, {{"b", "b2", "", "", T1, 2}}, 0, 1, NULL},
    {"what a benchmark wrote", "{\"results\":[{\"command\":\"sleep 0.1\",\"mean\":0.1021,\"stddev\":0.0004,\"median\":0.102,\"user\":0.001,\"system\":0.001,\"min\":0.1017,\"max\":0.1026,\"times\":[0.1017,0.102,0.1026],\"exit_codes\":[0,0,0]}]}",
     {{"field", "time"}}, 0, {{0}}, 0, 0, NULL},
};
/* clang-format on */

static void ask(const char *text, const struct readings_query *q, struct readings *out,
                const char *name)
{
    struct err e = {0};
    enum err_code code = readings_parse(text, strlen(text), q, out, &e);

    ck_assert_msg(code == ERR_OK, "%s: %s", name, e.text);
}

static size_t n_rejected(const struct readings *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_rejects; i++)
        n += r->rejects[i].n;
    return n;
}

START_TEST(reads_what_others_write)
{
    AUTO(readings_fini) struct readings r = {0};
    struct readings_query q = {.format = READINGS_AUTO};

    for (size_t i = 0; i < 2 && rows[_i].where[i][0]; i++)
        pairs_add(&q.where, rows[_i].where[i][0], rows[_i].where[i][1]);
    ask(rows[_i].text, &q, &r, rows[_i].name);
    ck_assert_msg(r.n == rows[_i].n || rows[_i].n == 0, "%s: %zu", rows[_i].name, r.n);
    for (size_t i = 0; i < rows[_i].n; i++) {
        const struct reading *x = &r.items[i];
        ck_assert_str_eq(x->revision, rows[_i].want[i].revision);
        ck_assert_str_eq(x->metric, rows[_i].want[i].metric);
        ck_assert_str_eq(x->platform, rows[_i].want[i].platform);
        ck_assert_str_eq(x->host, rows[_i].want[i].host);
        ck_assert_msg(x->value == rows[_i].want[i].value, "%s: %g", rows[_i].name, x->value);
        ck_assert_msg((x->has_time ? x->at.ns : -1) == rows[_i].want[i].at_ns, "%s: %lld",
                      rows[_i].name, (long long)x->at.ns);
    }
    ck_assert_msg(n_rejected(&r) >= rows[_i].n_rejects, "%s: %zu rejected", rows[_i].name,
                  n_rejected(&r));
    if (rows[_i].n > 0)
        ck_assert_uint_eq(n_rejected(&r), rows[_i].n_rejects);
    if (rows[_i].reason)
        ck_assert_str_eq(r.rejects[0].reason, rows[_i].reason);
    pairs_fini(&q.where);
}
END_TEST

/* Hyperfine's three runs are of one sitting: one point, their median, of the revision that is
 * given. */
START_TEST(a_result_is_one_point_of_the_revision_given)
{
    AUTO(readings_fini) struct readings r = {0};
    struct readings_query q = {.revision = "v1.4", .time = "2026-08-19T09:14:02Z"};

    ask(rows[LEN(rows) - 1].text, &q, &r, "hyperfine");
    ck_assert_uint_eq(r.n, 1);
    ck_assert_str_eq(r.items[0].revision, "v1.4");
    ck_assert_str_eq(r.items[0].metric, "sleep 0.1");
    ck_assert_double_eq_tol(r.items[0].value, .102, 1e-12);
    ck_assert_int_eq(r.items[0].at.ns, T1);
}
END_TEST

START_TEST(equal_names_are_one)
{
    AUTO(readings_fini) struct readings r = {0};
    struct readings_query q = {.format = READINGS_CSV};

    ask("revision,value,metric\na,1,m\nb,2,m\na,3,n\n", &q, &r, "csv");
    ck_assert_ptr_eq(r.items[0].revision, r.items[2].revision);
    ck_assert_ptr_eq(r.items[0].metric, r.items[1].metric);
    ck_assert_ptr_eq(readings_name(&r, "n"), r.items[2].metric);
    ck_assert_uint_eq(r.items[2].line, 4);
    ck_assert_uint_eq(r.columns.n, 3);
}
END_TEST

START_TEST(says_which_column_there_is_not)
{
    AUTO(readings_fini) struct readings r = {0};
    AUTO(readings_fini) struct readings all = {0};
    struct readings_query q = {.format = READINGS_AUTO};

    pairs_add(&q.where, "commit", "a");
    pairs_add(&q.where, "colour", "red");
    pairs_add(&q.where, "host", "m1");
    ask("revision,value\na,1\nb,2\n", &q, &r, "csv");
    ck_assert_str_eq(r.no_column, "commit");
    pairs_fini(&q.where);
    pairs_add(&q.where, "colour", "red");
    ask("{\"revision\":\"a\",\"value\":1}\n{\"revision\":\"b\",\"value\":2,\"Colour\":\"blue\"}\n",
        &q, &all, "each row has columns of its own");
    ck_assert_uint_eq(all.n_passed_over, 2);
    ck_assert_ptr_null(all.no_column);
    pairs_fini(&q.where);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *text;
    enum readings_format format;
    const char *time, *says;
} bad[] = {
    {"nothing",             "",                READINGS_AUTO,       NULL, "empty"},
    {"white space",         " \n\n",           READINGS_CSV,        NULL, "empty"},
    {"a story",             "Once upon a time\nthere was\n", READINGS_AUTO, NULL, ""},
    {"not of Treeherder",   "{\"a\":1}",       READINGS_PERFHERDER, NULL, "performance/data"},
    {"semicolons",          "\xEF\xBB\xBFrevision;time;value\na;1787130842;1,5\n", READINGS_AUTO, NULL, "separated by semicolons"},
    {"semicolons in CSV",   "revision;value\na;1\n", READINGS_CSV, NULL, "separated by semicolons"},
    {"a time that is none", "revision,value\na,1\n", READINGS_AUTO, "noon", "noon"},
};
/* clang-format on */

START_TEST(says_why_it_cannot_be_read)
{
    AUTO(readings_fini) struct readings r = {0};
    struct readings_query q = {.format = bad[_i].format, .time = bad[_i].time};
    struct err e = {0};

    ck_assert_msg(readings_parse(bad[_i].text, strlen(bad[_i].text), &q, &r, &e) != ERR_OK, "%s",
                  bad[_i].name);
    ck_assert_msg(e.text[0] && strstr(e.text, bad[_i].says), "%s: %s", bad[_i].name, e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads_what_others_write, LEN(rows)},
        {a_result_is_one_point_of_the_revision_given, 1},
        {equal_names_are_one, 1},
        {says_which_column_there_is_not, 1},
        {says_why_it_cannot_be_read, LEN(bad)},
    };

    return unit_run("readings", tests, LEN(tests));
}
