/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/telemetry.h"
#include "unit/run.h"
#include <inttypes.h>
#include <string.h>

#define SLOW                                                                                       \
    "\"slowSQL\":{\"mainThread\":{\"COMMIT TRANSACTION /* places.sqlite "                          \
    "*/\":[12,1716]},\"otherThreads\":{\"SELECT 1 /* places.sqlite */\":[3,912],\"Untracked SQL "  \
    "for third.sqlite\":[1,140]}}"
#define SLOW_IS                                                                                    \
    "main COMMIT TRANSACTION /* places.sqlite */ 12 1716;other SELECT 1 /* places.sqlite */ 3 "    \
    "912;other Untracked SQL for third.sqlite 1 140;"
#define ONE    "\"slowSQL\":{\"mainThread\":{\"A\":[1,90]}}"
#define ONE_IS "main A 1 90;"

/* clang-format off */
static const struct {
    const char *name, *text;
    const char *want; /* statements, or ! and the reject */
} documents[] = {
    {"modern", "{\"type\":\"main\",\"clientId\":\"c\",\"payload\":{" SLOW "}}", SLOW_IS},
    {"legacy", "{\"slug\":\"s\",\"reason\":\"idle-daily\",\"payload\":{\"ver\":1," SLOW "}}", SLOW_IS},
    {"legacy, payload as a string",
     "{\"slug\":\"s\",\"payload\":\"{\\\"slowSQL\\\":{\\\"mainThread\\\":{\\\"A \\\\\\\"x\\\\\\\"\\\":[2,180]}}}\"}", "main A \\\"x\\\" 2 180;"},
    {"a bare payload", "{\"ver\":1," ONE "}", ONE_IS},
    {"a bare payload without statements", "{\"info\":{\"appBuildID\":\"20130623030201\"}}", ""},
    {"a payload beside a bare one", "{" ONE ",\"payload\":{\"slowSQL\":{\"mainThread\":{\"B\":[1,80]}}}}", "main B 1 80;"},
    {"a payload before a bare one", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"B\":[1,80]}}}," ONE "}", "main B 1 80;"},

    {"no section", "{\"payload\":{\"ver\":1}}", ""},
    {"a null section", "{\"payload\":{\"slowSQL\":null}}", ""},
    {"an empty section", "{\"payload\":{\"slowSQL\":{}}}", ""},
    {"null threads", "{\"payload\":{\"slowSQL\":{\"mainThread\":null,\"otherThreads\":null}}}", ""},
    {"empty threads", "{\"payload\":{\"slowSQL\":{\"mainThread\":{},\"otherThreads\":{}}}}", ""},
    {"one thread missing", "{\"payload\":{" ONE "}}", ONE_IS},
    {"mainThreadSQL is no key", "{\"payload\":{\"slowSQL\":{\"mainThreadSQL\":{\"A\":[1,90]}}}}", "neither A unknown_thread;"},
    {"of a thread that nobody knows each statement is passed over", "{\"payload\":{\"slowSQL\":{\"weird\":{\"A\":[1,90],\"B\":7},\"mainThread\":{\"A\":[1,90]},\"version\":4}}}",
     "neither A unknown_thread;neither B unknown_thread;main A 1 90;"},
    {"an unknown thread that is broken", "{\"payload\":{\"slowSQL\":{\"weird\":{\"A\\x\":[1,90]}}}}", "!not_json"},

    {"start-up is part of it", "{\"payload\":{" ONE ",\"slowSQLStartup\":{\"mainThread\":{\"A\":[1,90],\"B\":[1,80]}}}}", ONE_IS},
    {"start-up before it", "{\"payload\":{\"slowSQLStartup\":{\"mainThread\":{\"A\":[1,90]}}," ONE "}}", ONE_IS},
    {"start-up alone", "{\"payload\":{\"slowSQLStartup\":{\"mainThread\":{\"A\":[1,90]}}}}", ONE_IS},
    {"start-up alone, as one page spells it", "{\"payload\":{\"slowSQLstartup\":{\"mainThread\":{\"A\":[1,90]}}}}", ONE_IS},
    {"start-up beside null", "{\"payload\":{\"slowSQL\":null,\"slowSQLStartup\":{\"mainThread\":{\"A\":[1,90]}}}}", ONE_IS},

    {"in a string", "{\"payload\":{\"note\":\"\\\"slowSQL\\\":{\\\"mainThread\\\":{\\\"X\\\":[9,999]}}\"," ONE "}}", ONE_IS},
    {"in a string after it", "{\"payload\":{" ONE ",\"note\":\"{\\\"slowSQL\\\":{\\\"mainThread\\\":{\\\"X\\\":[9,999]}}}\"}}", ONE_IS},
    {"deeper down", "{\"payload\":{\"x\":{\"slowSQL\":{\"mainThread\":{\"X\":[9,999]}}}," ONE "}}", ONE_IS},
    {"outside of the payload", "{\"environment\":{\"slowSQL\":{\"mainThread\":{\"X\":[9,999]}}},\"payload\":{" ONE "}}", ONE_IS},
    {"as a statement", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"slowSQL\":[1,90]}}}}", "main slowSQL 1 90;"},
    {"a key with an escape", "{\"payload\":{\"slow\\u0053QL\":{\"mainThread\":{\"A\":[1,90]}}}}", ONE_IS},
    {"the last of two payloads", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"X\":[9,999]}}},\"payload\":{" ONE "}}", ONE_IS},
    {"the last of two sections", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"X\":[9,999]}}," ONE "}}", ONE_IS},
    {"the last of two threads", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"X\":[9,999]},\"mainThread\":{\"A\":[1,90]}}}}", ONE_IS},
    {"the last of two statements", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[9,999],\"A\":[1,90]}}}}", ONE_IS},
    {"a bad payload, then a good one", "{\"payload\":7,\"payload\":{" ONE "}}", ONE_IS},
    {"white space", " { \"payload\" : { \"slowSQL\" : { \"mainThread\" : { \"A\" : [ 1 , 90 ] } } } } \r", ONE_IS},

    {"a count of none", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[0,90]}}}}", "main A count_not_positive;"},
    {"a negative count", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[-2,90]}}}}", "main A count_not_positive;"},
    {"a negative total", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[2,-90]}}}}", "main A negative_total;"},
    {"a sum of 32 bits at most", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[2,2147483647],\"B\":[2,2147483648]}}}}", "main A 2 2147483647;main B absurd_number;"},
    {"at the main thread's threshold", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[2,100],\"B\":[2,99]}}}}", "main A 2 100;main B below_threshold;"},
    {"at the other threads' threshold", "{\"payload\":{\"slowSQL\":{\"otherThreads\":{\"A\":[2,200],\"B\":[2,199]}}}}", "other A 2 200;other B below_threshold;"},
    {"one number", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1]}}}}", "main A bad_counts;"},
    {"three numbers", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,90,3]}}}}", "main A bad_counts;"},
    {"no array", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":90}}}}", "main A bad_counts;"},
    {"an empty array", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[]}}}}", "main A bad_counts;"},
    {"a fraction", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,90.5]}}}}", "main A bad_counts;"},
    {"numbers as strings", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[\"1\",\"90\"]}}}}", "main A bad_counts;"},
    {"past 64 bits", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,99999999999999999999]}}}}", "main A bad_counts;"},

    {"a NUL in a statement", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\\u0000B\":[1,90],\"A\\\\u0000B\":[1,90]}}}}", "main A\\u0000B nul_in_text;main A\\\\u0000B 1 90;"},
    {"as long as the session", "{\"payload\":{\"simpleMeasurements\":{\"uptime\":1},\"slowSQL\":{\"mainThread\":{\"A\":[1,186000],\"B\":[1,187000]}}}}", "main A 1 186000;main B longer_than_session;"},
    {"several threads last longer", "{\"payload\":{\"simpleMeasurements\":{\"uptime\":1},\"slowSQL\":{\"otherThreads\":{\"A\":[1,187000]}}}}", "other A 1 187000;"},
    {"a part of the session is shorter", "{\"payload\":{\"info\":{\"subsessionLength\":60},\"slowSQL\":{\"mainThread\":{\"A\":[1,187000]}}}}", "main A 1 187000;"},

    {"nothing", "", "!not_json"},
    {"words", "hello", "!not_json"},
    {"an array", "[1]", "!not_json"},
    {"two documents on a line", "{\"payload\":{}}{\"payload\":{}}", "!not_json"},
    {"cut", "{\"payload\":{" ONE "}", "!not_json"},
    {"cut in a string", "{\"payload\":{\"a", "!not_json"},
    {"cut in the section", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,9", "!not_json"},
    {"brackets that do not match", "{\"payload\":{\"histograms\":{\"a\":[1}]," ONE "}}", "!not_json"},
    {"a bad literal", "{\"payload\":{\"x\":nil," ONE "}}", "!not_json"},
    {"other JSON", "{\"type\":\"main\",\"id\":\"x\"}", "!no_payload"},
    {"payload null", "{\"payload\":null}", "!bad_payload"},
    {"payload an array", "{\"payload\":[]}", "!bad_payload"},
    {"payload a string of words", "{\"payload\":\"hello\"}", "!bad_payload"},
    {"payload a cut string", "{\"payload\":\"{\\\"a\\\":1\"}", "!bad_payload"},
    {"payload a string with more behind", "{\"payload\":\"{} {}\"}", "!bad_payload"},
    {"payload a string with a statement that has a bad escape", "{\"payload\":\"{\\\"slowSQL\\\":{\\\"mainThread\\\":{\\\"A\\\\x\\\":[1,90]}}}\"}", "!bad_payload"},
    {"payload a string with a bad escape", "{\"payload\":\"{\\x}\"}", "!bad_payload"},
    {"a section that is an array", "{\"payload\":{\"slowSQL\":[]}}", "!bad_slow_sql"},
    {"a thread that is a number", "{\"payload\":{\"slowSQL\":{\"mainThread\":7}}}", "!bad_slow_sql"},
    {"a comma too many in a thread", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\":[1,90],}}}}", "!not_json"},
    {"a statement with a bad escape", "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"A\\x\":[1,90]}}}}", "!not_json"},
    {"a negative uptime", "{\"payload\":{\"simpleMeasurements\":{\"uptime\":-1}," ONE "}}", "!bad_hours"},
    {"a session of two years", "{\"payload\":{\"info\":{\"sessionLength\":63072000}," ONE "}}", "!bad_hours"},
};
/* clang-format on */

static void render(const struct telemetry *t, struct buf *out)
{
    if (t->fault) {
        buf_printf(out, "!%s", reject_names[t->fault]);
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        const struct slow_statement *s = &t->statements[i];
        buf_printf(out, "%s %.*s ",
                   s->thread == SQL_THREAD_COUNT ? "neither" : sql_thread_names[s->thread],
                   (int)s->sql.n, s->sql.s);
        if (s->fault)
            buf_printf(out, "%s;", reject_names[s->fault]);
        else
            buf_printf(out, "%" PRId64 " %" PRId64 ";", s->count, s->total_ms);
    }
}

START_TEST(reads_statements)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    AUTO(buf_fini) struct buf got = {0};
    struct telemetry t;

    telemetry_read(r, documents[_i].text, strlen(documents[_i].text), &t);
    render(&t, &got);
    ck_assert_msg(strcmp(buf_str(&got), documents[_i].want) == 0, "%s: %s", documents[_i].name,
                  buf_str(&got));
}
END_TEST

#define FIELD(member) offsetof(struct telemetry, member)
/* clang-format off */
static const struct {
    const char *name, *text;
    size_t field;
    const char *want;
} fields[] = {
    {"the payload's build comes first", "{\"application\":{\"buildId\":\"B\"},\"environment\":{\"build\":{\"buildId\":\"C\"}},\"payload\":{\"info\":{\"appBuildID\":\"A\"}}}", FIELD(build), "A"},
    {"then the application's", "{\"environment\":{\"build\":{\"buildId\":\"C\"}},\"application\":{\"buildId\":\"B\"},\"payload\":{}}", FIELD(build), "B"},
    {"then the environment's", "{\"environment\":{\"build\":{\"x\":{},\"buildId\":\"C\"}},\"payload\":{}}", FIELD(build), "C"},
    {"null is none", "{\"application\":{\"buildId\":\"B\"},\"payload\":{\"info\":{\"appBuildID\":null}}}", FIELD(build), "B"},
    {"no build", "{\"payload\":{}}", FIELD(build), ""},
    {"legacy channel", "{\"payload\":{\"info\":{\"appUpdateChannel\":\"nightly\"}}}", FIELD(channel), "nightly"},
    {"modern channel", "{\"application\":{\"channel\":\"beta\"},\"payload\":{}}", FIELD(channel), "beta"},
    {"channel absent", "{\"payload\":{\"info\":{}}}", FIELD(channel), ""},
    {"modern session", "{\"slug\":\"x\",\"payload\":{\"info\":{\"sessionId\":\"s\"}}}", FIELD(session), "s"},
    {"legacy session", "{\"slug\":\"x\",\"payload\":{}}", FIELD(session), "x"},
    {"client", "{\"clientId\":\"c\",\"payload\":{\"clientID\":\"d\"}}", FIELD(client), "c"},
    {"client of the payload", "{\"payload\":{\"clientID\":\"d\"}}", FIELD(client), "d"},
    {"creation", "{\"creationDate\":\"2026-08-19T10:00:00.000Z\",\"payload\":{}}", FIELD(submitted), "2026-08-19T10:00:00.000Z"},
    {"submission before creation", "{\"creationDate\":\"2026-08-19\",\"submissionDate\":20260820,\"payload\":{}}", FIELD(submitted), "20260820"},
    {"submission in meta", "{\"meta\":{\"submission_timestamp\":\"2026-08-20\"},\"payload\":{}}", FIELD(submitted), "2026-08-20"},
    {"inside a string payload", "{\"payload\":\"{\\\"info\\\":{\\\"appBuildID\\\":\\\"A\\\"}}\"}", FIELD(build), "A"},
};
static const struct {
    const char *payload;
    int64_t want;
} times[] = {
    {"{}", -1},
    {"{\"simpleMeasurements\":{\"uptime\":90}}", 1500000},
    {"{\"info\":{\"sessionLength\":1800},\"simpleMeasurements\":{\"uptime\":90}}", 500000},
    {"{\"info\":{\"subsessionLength\":900,\"sessionLength\":1800}}", 500000},
    {"{\"info\":{\"subsessionLength\":900}}", 250000},
    {"{\"info\":{\"sessionLength\":1}}", 278},
    {"{\"info\":{\"sessionLength\":\"x\"},\"simpleMeasurements\":{\"uptime\":3}}", 50000},
    {"{\"simpleMeasurements\":{\"uptime\":0}}", 0},
    {"{\"simpleMeasurements\":null}", -1},
};
/* clang-format on */

START_TEST(finds_fields)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    struct telemetry t;

    telemetry_read(r, fields[_i].text, strlen(fields[_i].text), &t);
    const struct span *s = (const struct span *)((const char *)&t + fields[_i].field);
    ck_assert_msg(t.fault == REJECT_NONE && s->n == strlen(fields[_i].want) &&
                      memcmp(s->n ? s->s : "", fields[_i].want, s->n) == 0,
                  "%s: %.*s", fields[_i].name, (int)s->n, s->n ? s->s : "");
}
END_TEST

START_TEST(counts_time_in_millionths_of_an_hour)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    AUTO(buf_fini) struct buf text = {0};
    struct telemetry t;

    buf_printf(&text, "{\"payload\":%s}", times[_i].payload);
    telemetry_read(r, text.data, text.len, &t);
    ck_assert_int_eq(t.used, times[_i].want);
}
END_TEST

START_TEST(too_many_statements_are_none)
{
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    AUTO(buf_fini) struct buf text = {0};
    struct telemetry t;

    buf_adds(&text, "{\"payload\":{\"slowSQL\":{\"mainThread\":{\"s\":[1,90]");
    for (int i = 1; i < TELEMETRY_STATEMENTS; i++)
        buf_printf(&text, ",\"s%d\":[1,90]", i);
    size_t n = text.len;
    buf_adds(&text, "}}}}");
    telemetry_read(r, text.data, text.len, &t);
    ck_assert_int_eq(t.fault, REJECT_NONE);
    ck_assert_uint_eq(t.n, TELEMETRY_STATEMENTS);
    text.len = n;
    buf_adds(&text, ",\"x\":[1,90]}}}}");
    telemetry_read(r, text.data, text.len, &t);
    ck_assert_int_eq(t.fault, REJECT_TOO_MANY);
}
END_TEST

START_TEST(names_are_complete)
{
    for (int i = 0; i < REJECT_COUNT_OF; i++) {
        ck_assert_ptr_nonnull(reject_names[i]);
        ck_assert_ptr_nonnull(reject_words[i]);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads_statements, LEN(documents)},
        {finds_fields, LEN(fields)},
        {counts_time_in_millionths_of_an_hour, LEN(times)},
        {too_many_statements_are_none, 1},
        {names_are_complete, 1},
    };
    return unit_run("telemetry", tests, LEN(tests));
}
