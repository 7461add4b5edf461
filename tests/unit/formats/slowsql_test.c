/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/slowsql.h"
#include "formats/slowsql_fit.h"
#include "formats/slowsql_line.h"
#include "unit/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *sql, *want;
} dbs[] = {
    {"COMMIT TRANSACTION /* formhistory.sqlite */", "formhistory.sqlite"},
    {"SELECT /* a */ 1 /* places.sqlite */", "places.sqlite"},
    {"SELECT 1 /*places.sqlite*/", "places.sqlite"},
    {"SELECT long... /* indexedDB-x */", "indexedDB-x"},
    {"Untracked SQL for third.sqlite", "third.sqlite"},
    {"SELECT 1", "unknown"}, {"SELECT /* places.sqlite */ 1", "unknown"}, {"", "unknown"}, {"*/", "unknown"},
    {"/**/", "unknown"}, {"/* */", "unknown"}, {"x */", "unknown"}, {"Untracked SQL for ", "unknown"},
};

#define DOC(info, sql) "{\"clientId\":\"c\",\"submissionDate\":\"20130622\",\"payload\":{\"info\":{\"appBuildID\":\"20130621031051\",\"appUpdateChannel\":\"nightly\"" info "},\"slowSQL\":" sql "}}"
#define SQL "{\"mainThread\":{\"A /* a.db */\":[1,90],\"B /* b.db */\":[2,200]},\"otherThreads\":{\"A /* a.db */\":[4,800]}}"
#define ALL "[\"all\",null,null,null]\t0\t0\t1\t0\n"
#define READ "[null,\"read\",\"\",\"\"]\t0\t0\t1\t0\n"
static const struct {
    const char *name;
    struct slowsql_question q;
    const char *text;
    const char *want; /* lines without READ */
} maps[] = {
    {"a row a statement", {.by = 0}, DOC("", SQL),
     ALL "[\"all\",\"a.db\",\"main\",\"A /* a.db */\"]\t1\t90\t1\t0\n[\"all\",\"b.db\",\"main\",\"B /* b.db */\"]\t2\t200\t1\t0\n"
     "[\"all\",\"a.db\",\"other\",\"A /* a.db */\"]\t4\t800\t1\t0\n"},
    {"by database", {.by = BY_DB}, DOC("", SQL), ALL "[\"all\",\"a.db\",\"\",\"\"]\t5\t890\t1\t0\n[\"all\",\"b.db\",\"\",\"\"]\t2\t200\t1\t0\n"},
    {"by thread", {.by = BY_THREAD}, DOC("", SQL), ALL "[\"all\",\"\",\"main\",\"\"]\t3\t290\t1\t0\n[\"all\",\"\",\"other\",\"\"]\t4\t800\t1\t0\n"},
    {"by statement, which says its database", {.by = BY_STATEMENT, .statement = "A"}, DOC("", SQL),
     ALL "[\"all\",\"a.db\",\"\",\"A /* a.db */\"]\t5\t890\t1\t0\n"},
    {"by build", {.by = BY_BUILD}, DOC("", SQL),
     "[\"20130621031051\",null,null,null]\t0\t0\t1\t0\n[\"20130621031051\",\"\",\"\",\"\"]\t7\t1090\t1\t0\n"},
    {"one thread", {.threads = 1 << SQL_OTHER}, DOC("", SQL), ALL "[\"all\",\"a.db\",\"other\",\"A /* a.db */\"]\t4\t800\t1\t0\n"},
    {"databases by a glob", {.db = "b.*"}, DOC("", SQL), ALL "[\"all\",\"b.db\",\"main\",\"B /* b.db */\"]\t2\t200\t1\t0\n"},
    {"a report without slow statements counts", {.by = 0}, DOC("", "null"), ALL},
    {"time of use", {.by = 0}, DOC(",\"sessionLength\":3600", "{\"mainThread\":{\"A\":[1,90]}}"),
     "[\"all\",null,null,null]\t0\t0\t1\t1000000\n[\"all\",\"unknown\",\"main\",\"A\"]\t1\t90\t1\t1000000\n"},
    {"TAB, newline and quotes", {.by = 0}, DOC("", "{\"mainThread\":{\"A\\t\\n\\\"\\u0007 \\u00e9\":[1,90]}}"),
     ALL "[\"all\",\"unknown\",\"main\",\"A\\u0009\\u000a\\\"\\u0007 \xC3\xA9\"]\t1\t90\t1\t0\n"},
    {"broken UTF-8", {.by = 0}, DOC("", "{\"mainThread\":{\"A\xFF\":[1,90]}}"), ALL "[\"all\",\"unknown\",\"main\",\"A\xEF\xBF\xBD\"]\t1\t90\t1\t0\n"},
    {"a bad statement beside a good one", {.by = 0}, DOC("", "{\"mainThread\":{\"A\":[0,90],\"B\":[1,90]}}"),
     "[null,\"rejected\",\"count_not_positive\",\"\"]\t0\t0\t1\t0\n" ALL "[\"all\",\"unknown\",\"main\",\"B\"]\t1\t90\t1\t0\n"},
    {"a bad statement that nobody asked for", {.statement = "B"}, DOC("", "{\"mainThread\":{\"A\":[0,90],\"B\":[1,90]}}"),
     ALL "[\"all\",\"unknown\",\"main\",\"B\"]\t1\t90\t1\t0\n"},
    {"two spellings of one statement", {.by = 0}, DOC("", "{\"mainThread\":{\"A\":[1,90],\"\\u0041\":[2,200]}}"),
     ALL "[\"all\",\"unknown\",\"main\",\"A\"]\t3\t290\t1\t0\n"},

    {"another channel", {.channel = "release"}, DOC("", SQL), "[null,\"filtered\",\"channel\",\"\"]\t0\t0\t1\t0\n"},
    {"this channel", {.channel = "nightly"}, DOC("", "null"), ALL},
    {"no channel is none", {.channel = "nightly"}, "{\"payload\":{\"ver\":1}}", "[null,\"filtered\",\"channel\",\"\"]\t0\t0\t1\t0\n"},
    {"no channel is unknown", {.channel = "unknown"}, "{\"payload\":{\"ver\":1}}", ALL},
    {"the first day", {.submitted = {20130622000000, UINT64_MAX}}, DOC("", "null"), ALL},
    {"the last day", {.submitted = {0, 20130622235999}}, DOC("", "null"), ALL},
    {"the day after", {.submitted = {0, 20130621235999}}, DOC("", "null"), "[null,\"filtered\",\"submitted\",\"\"]\t0\t0\t1\t0\n"},
    {"another build", {.build = {20130623000000, UINT64_MAX}}, DOC("", "null"), "[null,\"filtered\",\"build\",\"\"]\t0\t0\t1\t0\n"},
    {"no date, asked for", {.submitted = {20130622000000, UINT64_MAX}}, "{\"payload\":{\"ver\":1}}", "[null,\"rejected\",\"no_submission_date\",\"\"]\t0\t0\t1\t0\n"},
    {"no build, asked for", {.by = BY_BUILD}, "{\"payload\":{\"ver\":1}}", "[null,\"rejected\",\"no_build_id\",\"\"]\t0\t0\t1\t0\n"},
    {"no build, not asked for", {.by = 0}, "{\"payload\":{\"ver\":1}}", ALL},
    {"a build that is no date, ever", {.by = 0}, "{\"payload\":{\"info\":{\"appBuildID\":\"k0130512\"}}}", "[null,\"rejected\",\"bad_build_id\",\"\"]\t0\t0\t1\t0\n"},
    {"no document", {.by = 0}, "x", "[null,\"rejected\",\"not_json\",\"\"]\t0\t0\t1\t0\n"},

    {"the first group", {.n_groups = 2, .groups = {{"before", {0, 20130622235999}, {0, UINT64_MAX}}, {"after", {20130623000000, UINT64_MAX}, {0, UINT64_MAX}}}},
     DOC("", "null"), "[\"before\",null,null,null]\t0\t0\t1\t0\n"},
    {"between the groups", {.n_groups = 2, .groups = {{"before", {0, 20130620235999}, {0, UINT64_MAX}}, {"after", {20130623000000, UINT64_MAX}, {0, UINT64_MAX}}}},
     DOC("", "null"), "[null,\"filtered\",\"build\",\"\"]\t0\t0\t1\t0\n"},
    {"groups by date", {.n_groups = 2, .groups = {{"before", {0, UINT64_MAX}, {0, 20130621235999}}, {"after", {0, UINT64_MAX}, {20130622000000, UINT64_MAX}}}},
     DOC("", "null"), "[\"after\",null,null,null]\t0\t0\t1\t0\n"},
};
/* clang-format on */

static struct slowsql_question question_of(struct slowsql_question q)
{
    if (q.build.to == 0)
        q.build = stretch_all;
    if (q.submitted.to == 0)
        q.submitted = stretch_all;
    return q;
}

static void map_to(const struct slowsql_question *q, const char *text, struct buf *out)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    AUTO(slowsql_mapped_fini) struct slowsql_mapped m = {0};
    struct telemetry t;

    telemetry_read(r, text, strlen(text), &t);
    slowsql_map(q, &t, &m);
    slowsql_lines_of(&m, out);
}

START_TEST(finds_databases)
{
    AUTO(buf_fini) struct buf out = {0};

    slowsql_db_of(dbs[_i].sql, strlen(dbs[_i].sql), &out);
    ck_assert_str_eq(buf_str(&out), dbs[_i].want);
}
END_TEST

START_TEST(maps_documents)
{
    const struct slowsql_question q = question_of(maps[_i].q);
    AUTO(buf_fini) struct buf got = {0};

    map_to(&q, maps[_i].text, &got);
    ck_assert_msg(strncmp(buf_str(&got), READ, strlen(READ)) == 0, "%s: %s", maps[_i].name,
                  buf_str(&got));
    ck_assert_msg(strcmp(buf_str(&got) + strlen(READ), maps[_i].want) == 0, "%s: %s", maps[_i].name,
                  buf_str(&got) + strlen(READ));
}
END_TEST

/* Sessions */

#define SESSION(id, minutes, count)                                                                \
    "{\"slug\":\"" id "\",\"payload\":{\"simpleMeasurements\":{\"uptime\":" minutes                \
    "},\"slowSQL\":{\"mainThread\":{\"A\":[" count ",500]}}}}"

static int by_line(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** Sorts the lines, reduces them, and appends the sums of the row A and of the book-keeping. */
static enum err_code reduce(char *lines, struct buf *out, struct err *e)
{
    AUTO(tally_free) struct tally *t = tally_new();
    AUTO(slowsql_reduce_fini) struct slowsql_reduce r = {.tally = t};
    const char *all[64];
    size_t n = 0;
    char *rest = NULL;

    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        all[n++] = line;
    qsort(all, n, sizeof(all[0]), by_line);
    for (size_t i = 0; i < n; i++)
        if (slowsql_reduce_line(&r, all[i], strlen(all[i]), e))
            return e->code;
    const struct tally_row **rows = tally_sorted(t);
    for (size_t i = 0; i < tally_n(t); i++)
        slowsql_line_add(out, rows[i]->key, rows[i]->n_key, &rows[i]->sums);
    mem_free(rows);
    return ERR_OK;
}

START_TEST(the_last_report_of_a_session_counts)
{
    static const char *const documents[] = {SESSION("s", "60", "3"), SESSION("s", "180", "9"),
                                            SESSION("s", "120", "6"), SESSION("t", "60", "2"),
                                            SESSION("s", "180", "9")};
    const struct slowsql_question q = question_of((struct slowsql_question){.by = 0});
    AUTO(buf_fini) struct buf lines = {0};
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};

    for (size_t i = 0; i < LEN(documents); i++)
        map_to(&q, documents[i], &lines);
    ck_assert_msg(reduce(lines.data, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(buf_str(&got), "[\"all\",\"unknown\",\"main\",\"A\"]\t11\t1000\t2\t4000000\n"
                                    "[\"all\",null,null,null]\t0\t0\t2\t4000000\n"
                                    "[null,\"read\",\"\",\"\"]\t0\t0\t5\t0\n"
                                    "[null,\"superseded\",\"\",\"\"]\t0\t0\t3\t0\n");
}
END_TEST

START_TEST(every_report_counts_if_asked)
{
    const struct slowsql_question q =
        question_of((struct slowsql_question){.is_every_report = true});
    AUTO(buf_fini) struct buf lines = {0};
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};

    map_to(&q, SESSION("s", "60", "3"), &lines);
    map_to(&q, SESSION("s", "120", "6"), &lines);
    ck_assert_msg(reduce(lines.data, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(buf_str(&got), "[\"all\",\"unknown\",\"main\",\"A\"]\t9\t1000\t2\t3000000\n"
                                    "[\"all\",null,null,null]\t0\t0\t2\t3000000\n"
                                    "[null,\"read\",\"\",\"\"]\t0\t0\t2\t0\n");
}
END_TEST

/* Lines */

/* clang-format off */
static const struct {
    const char *line, *want; /* NULL: fine; else a part of the error */
} lines[] = {
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3\t4", NULL},
    {"[\"a\",null,null,null]\t-1\t2\t3\t4", NULL},
    {"[null,\"read\",\"\",\"\"]\t0\t0\t3\t0", NULL},
    {"[null,\"session\",\"s\",[\"1\",[[\"a\",\"b\",\"c\",\"d\"],1,2,3,4]]]\t0\t0\t1\t0", NULL},
    {"", "expected [group"},
    {"[\"a\",\"b\",\"c\"]\t1\t2\t3\t4", "expected [group"},
    {"[\"a\",\"b\",\"c\",\"d\",\"e\"]\t1\t2\t3\t4", "expected [group"},
    {"[\"a\", \"b\",\"c\",\"d\"]\t1\t2\t3\t4", "expected [group"},
    {"[\"a\",\"b\",\"c\",\"d\"] 1\t2\t3\t4", "expected [group"},
    {"{\"payload\":{}}", "expected [group"},
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3", "four whole numbers"},
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3\t4\t5", "four whole numbers"},
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3\t4.5", "four whole numbers"},
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3\t99999999999999999999", "four whole numbers"},
    {"[\"a\",\"b\",\"c\",\"d\"]\t1\t2\t3\t", "four whole numbers"},
    {"[null,\"session\",\"s\",[\"1\"]]\t0\t0\t0\t0", "no report"},
    {"[null,\"session\",\"s\",[]]\t0\t0\t1\t0", "which of it comes last"},
    {"[null,\"session\",\"s\",7]\t0\t0\t1\t0", "which of it comes last"},
};
/* clang-format on */

START_TEST(parses_lines)
{
    struct slowsql_line line;
    struct err e = {0};
    enum err_code rc = slowsql_line_parse(lines[_i].line, strlen(lines[_i].line), &line, &e);

    if (lines[_i].want)
        ck_assert_msg(rc == ERR_INVALID && strstr(e.text, lines[_i].want), "%s: %s", lines[_i].line,
                      e.text);
    else
        ck_assert_msg(rc == ERR_OK, "%s: %s", lines[_i].line, e.text);
}
END_TEST

/* clang-format off */
static const struct {
    struct slowsql_question q;
    const char *line;
    int want; /* 1: asked for, 0: not, -1: refused */
    enum group_kind kind;
} fits[] = {
    {{.by = 0}, "[\"all\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_ALL},
    {{.by = 0}, "[\"before\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_PAIR},
    {{.by = 0}, "[\"20130623030201\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_BUILDS},
    {{.by = 0}, "[\"x\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_NONE},
    {{.db = "a.*"}, "[\"all\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_ALL},
    {{.db = "b.*"}, "[\"all\",\"a.db\",\"main\",\"A\"]", 0, GROUPS_ALL},
    {{.db = "b.*"}, "[\"all\",null,null,null]", 1, GROUPS_ALL},
    {{.db = "b.*"}, "[null,\"read\",\"\",\"\"]", 1, GROUPS_NONE},
    {{.db = "b.*"}, "[\"all\",\"\",\"main\",\"\"]", -1, GROUPS_ALL},
    {{.statement = "OMM"}, "[\"all\",\"a.db\",\"main\",\"COMMIT\"]", 1, GROUPS_ALL},
    {{.statement = "X"}, "[\"all\",\"a.db\",\"main\",\"COMMIT\"]", 0, GROUPS_ALL},
    {{.statement = "X"}, "[\"all\",\"a.db\",\"main\",\"\"]", -1, GROUPS_ALL},
    {{.threads = 1 << SQL_MAIN}, "[\"all\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_ALL},
    {{.threads = 1 << SQL_OTHER}, "[\"all\",\"a.db\",\"main\",\"A\"]", 0, GROUPS_ALL},
    {{.threads = 1 << SQL_OTHER}, "[\"all\",\"a.db\",\"\",\"\"]", -1, GROUPS_ALL},
    {{.channel = "nightly"}, "[\"all\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_NONE},
    {{.submitted = {0, 20130621235999}}, "[\"all\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_NONE},
    {{.build = {0, 20130621235999}}, "[null,\"read\",\"\",\"\"]", -1, GROUPS_NONE},
    {{.is_every_report = true}, "[\"all\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_NONE},
    {{.by = BY_DB}, "[\"all\",\"a.db\",\"\",\"\"]", 1, GROUPS_ALL},
    {{.by = BY_DB}, "[\"all\",\"a.db\",\"main\",\"\"]", -1, GROUPS_ALL},
    {{.by = BY_STATEMENT}, "[\"all\",\"a.db\",\"\",\"A\"]", 1, GROUPS_ALL},
    {{.by = BY_STATEMENT}, "[\"all\",\"a.db\",\"\",\"\"]", -1, GROUPS_ALL},
    {{.by = BY_BUILD | BY_DB}, "[\"20130623030201\",\"a.db\",\"\",\"\"]", 1, GROUPS_BUILDS},
    {{.by = BY_BUILD | BY_DB}, "[\"all\",\"a.db\",\"\",\"\"]", -1, GROUPS_ALL},
    {{.by = BY_DB}, "[\"20130623030201\",null,null,null]", -1, GROUPS_BUILDS},
    {{.is_pair = true}, "[\"after\",\"a.db\",\"main\",\"A\"]", 1, GROUPS_PAIR},
    {{.is_pair = true}, "[\"all\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_ALL},
    {{.is_pair = true, .n_groups = 2, .groups = {{.build = {0, 20130621235959}}}}, "[\"after\",\"a.db\",\"main\",\"A\"]", -1, GROUPS_NONE},
    {{.is_pair = true, .n_groups = 2, .groups = {{.submitted = {0, 20130621235959}}}}, "[null,\"read\",\"\",\"\"]", -1, GROUPS_NONE},
    {{.by = 0}, "[\"all\",\"a.db\",\"main\",\"A\\u0000B\"]", -1, GROUPS_ALL},
    {{.by = 0}, "[\"all\",7,\"main\",\"A\"]", -1, GROUPS_ALL},
};
/* clang-format on */

START_TEST(reduced_lines_fit_the_question)
{
    const struct slowsql_question q = question_of(fits[_i].q);
    AUTO(buf_fini) struct buf text = {0};
    enum group_kind kind = GROUPS_NONE;
    struct slowsql_line line;
    struct err e = {0};
    bool is_asked = false;

    buf_printf(&text, "%s\t1\t100\t1\t0", fits[_i].line);
    ck_assert_int_eq(slowsql_line_parse(text.data, text.len, &line, &e), ERR_OK);
    enum err_code rc = slowsql_fit(&q, &line, &is_asked, &kind, &e);
    ck_assert_msg((rc ? -1 : is_asked) == fits[_i].want && kind == fits[_i].kind, "%s: %s",
                  fits[_i].line, e.text);
}
END_TEST

START_TEST(the_order_of_keys_is_checked)
{
    AUTO(tally_free) struct tally *t = tally_new();
    AUTO(slowsql_reduce_fini) struct slowsql_reduce r = {.tally = t};
    static const char b[] = "[\"b\",\"\",\"\",\"\"]\t1\t1\t1\t1",
                      a[] = "[\"a\",\"\",\"\",\"\"]\t1\t1\t1\t1";
    struct err e = {0};

    ck_assert_int_eq(slowsql_reduce_line(&r, b, strlen(b), &e), ERR_OK);
    ck_assert_int_eq(slowsql_reduce_line(&r, b, strlen(b), &e), ERR_OK);
    ck_assert_int_eq(slowsql_reduce_line(&r, a, strlen(a), &e), ERR_INVALID);
    ck_assert_str_eq(e.text, "the keys are not in order");
    ck_assert(strstr(e.hint, "LC_ALL=C sort"));
}
END_TEST

/* Tallies */

START_TEST(a_tally_finds_its_rows)
{
    enum { ROWS = 5000 };
    AUTO(tally_free) struct tally *t = tally_new();
    const struct sums one = {1, 10, 100, 1000};
    char key[32];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < ROWS; i++) {
            snprintf(key, sizeof(key), "key %04d", i * 7919 % ROWS);
            tally_add(t, tally_at(t, key, strlen(key)), &one);
        }
    ck_assert_uint_eq(tally_n(t), ROWS);
    const struct tally_row **rows = tally_sorted(t);
    for (size_t i = 0; i < ROWS; i++) {
        ck_assert(rows[i]->sums.count == 2 && rows[i]->sums.used == 2000);
        ck_assert(i == 0 || memcmp(rows[i - 1]->key, rows[i]->key, 8) <= 0);
    }
    mem_free(rows);
    ck_assert(!tally_is_over(t));
    const struct sums most = {INT64_MAX, 0, 0, 0};
    tally_add(t, 0, &most);
    ck_assert(tally_is_over(t));
    tally_clear(t);
    ck_assert_uint_eq(tally_n(t), 0);
    ck_assert_uint_eq(tally_at(t, "x", 1), 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {finds_databases, LEN(dbs)},
        {maps_documents, LEN(maps)},
        {the_last_report_of_a_session_counts, 1},
        {every_report_counts_if_asked, 1},
        {parses_lines, LEN(lines)},
        {reduced_lines_fit_the_question, LEN(fits)},
        {the_order_of_keys_is_checked, 1},
        {a_tally_finds_its_rows, 1},
    };
    return unit_run("slowsql", tests, LEN(tests));
}
