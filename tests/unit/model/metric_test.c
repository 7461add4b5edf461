/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/mem.h"
#include "model/metric.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *spec;
    enum metric_kind kind;
    const char *key, *want; /* one key as JSON gives it out, NULL: absent */
} specs[] = {
    {"exit",                                      METRIC_EXIT,  "unit",       "\"failures\""},
    {"wall",                                      METRIC_WALL,  "unit",       "\"ms\""},
    {"wall",                                      METRIC_WALL,  "worse",      "\"up\""},
    {"wall",                                      METRIC_WALL,  "timeout",    "\"10m\""},
    {"wall",                                      METRIC_WALL,  "reduce",     NULL},
    {"wall",                                      METRIC_WALL,  "isolation",  NULL},
    {"cpu",                                       METRIC_CPU,   "unit",       "\"ms\""},
    {"rss",                                       METRIC_RSS,   "unit",       "\"KiB\""},
    {"value",                                     METRIC_VALUE, "worse",      "\"either\""},
    {"value:json=/p50,unit=ms",                   METRIC_VALUE, "json",       "\"/p50\""},
    {"value:json=/p50,unit=ms",                   METRIC_VALUE, "unit",       "\"ms\""},
    {"value:json=",                               METRIC_VALUE, "json",       "\"\""},
    {"value:regex=a\\,b\\\\.(c=d)",               METRIC_VALUE, "regex",      "\"a,b\\\\.(c=d)\""},
    {"value:regex=([0-9]+\\.[0-9]+) ms",          METRIC_VALUE, "regex",      "\"([0-9]+\\\\.[0-9]+) ms\""},
    {"value:regex=([0-9]{1\\,9}\\.[0-9]{2})",     METRIC_VALUE, "regex",      "\"([0-9]{1,9}\\\\.[0-9]{2})\""},
    {"value:worse=down",                          METRIC_VALUE, "worse",      "\"down\""},
    {"value:reduce=max",                          METRIC_VALUE, "reduce",     "\"max\""},
    {"value:warmup=3",                            METRIC_VALUE, "warmup",     "3"},
    {"value:min_effect=2%",                       METRIC_VALUE, "min_effect", "2.0"},
    {"value:min_effect=0.5",                      METRIC_VALUE, "min_effect", "0.5"},
    {"value",                                     METRIC_VALUE, "min_effect", NULL},
    {"value:timeout=1h30m",                       METRIC_VALUE, "timeout",    "\"90m\""},
    {"value:timeout=250ms",                       METRIC_VALUE, "timeout",    "\"250ms\""},
    {"value:timeout=90",                          METRIC_VALUE, "timeout",    "\"90s\""},
    {"value:file=a/b.json",                       METRIC_VALUE, "file",       "\"a/b.json\""},
    {"perfherder:suite=ts_paint,test=ts_paint",   METRIC_PERFHERDER, "suite", "\"ts_paint\""},
    {"perfherder:options=e10s fission,field=replicates", METRIC_PERFHERDER, "options", "\"e10s fission\""},
    {"perfherder",                                METRIC_PERFHERDER, "worse", "\"up\""},
    {"hyperfine",                                 METRIC_HYPERFINE, "unit",  "\"s\""},
    {"auto",                                      METRIC_AUTO,  "worse",      "\"either\""},
    {"exit:on_timeout=bad",                       METRIC_EXIT,  "on_timeout", "\"bad\""},
    {"exit:command=make check=1",                 METRIC_EXIT,  "command",    "\"make check=1\""},
    {"wall:isolation=none",                       METRIC_WALL,  "isolation",  "\"none\""},
    {"wall:layout=fixed",                         METRIC_WALL,  "layout",     "\"fixed\""},
    {"wall",                                      METRIC_WALL,  "layout",     NULL},
    {"ts",                                        METRIC_TS,    "unit",       "\"ms\""},
    {"ts",                                        METRIC_TS,    "worse",      "\"up\""},
    {"ts",                                        METRIC_TS,    "ready",      NULL},
    {"ts",                                        METRIC_TS,    "cold",       NULL},
    {"ts:cold=yes,ready=line:ready\\, really",     METRIC_TS,    "ready",      "\"line:ready, really\""},
    {"ts:cold=yes",                               METRIC_TS,    "cold",       "true"},
    {"syscalls",                                  METRIC_SYSCALLS, "unit",    "\"calls\""},
    {"syscalls",                                  METRIC_SYSCALLS, "worse",   "\"up\""},
    {"syscalls:calls=fsync,path=*places.sqlite*", METRIC_SYSCALLS, "path",    "\"*places.sqlite*\""},
    {"syscalls:calls=fsync+fdatasync",            METRIC_SYSCALLS, "calls",   "\"fsync+fdatasync\""},
    {"syscalls:of=time",                          METRIC_SYSCALLS, "unit",    "\"ms\""},
    {"syscalls:unit=s,of=time",                   METRIC_SYSCALLS, "unit",    "\"s\""},
    {"syscalls:of=time,unit=us",                  METRIC_SYSCALLS, "unit",    "\"us\""},
    {"syscalls:of=count",                         METRIC_SYSCALLS, "unit",    "\"calls\""},
    {"slowsql",                                   METRIC_SLOWSQL, "unit",     "\"ms\""},
    {"slowsql",                                   METRIC_SLOWSQL, "worse",    "\"up\""},
    {"slowsql:of=count",                          METRIC_SLOWSQL, "unit",     "\"statements\""},
    {"slowsql:of=ms",                             METRIC_SLOWSQL, "unit",     "\"ms\""},
    {"slowsql:of=count,unit=times",               METRIC_SLOWSQL, "unit",     "\"times\""},
    {"slowsql:db=places*,thread=main",            METRIC_SLOWSQL, "db",       "\"places*\""},
    {"slowsql:thread=main",                       METRIC_SLOWSQL, "thread",   "\"main\""},
    {"slowsql:statement=COMMIT TRANSACTION",      METRIC_SLOWSQL, "statement", "\"COMMIT TRANSACTION\""},
};

static const struct {
    const char *spec;
    const char *want; /* of the text, or of the hint */
} bad_specs[] = {
    {"",                      "expected one of value, exit, wall, cpu, rss"},
    {"walls",                 "Did you mean wall?"},
    {"wall:db=*",             "db: is a key of kind slowsql, not of wall"},
    {"slowsql:thread=io",     "thread: expected one of main, other, all, got io"},
    {"wall:calls=fsync",      "calls: is a key of kind syscalls, not of wall"},
    {"syscalls:of=much",      "of: expected one of count, time, ms, got much"},
    {"perfherders",           "Did you mean perfherder?"},
    {"wall:suite=x",          "suite: is a key of kinds auto, perfherder, talos, pytest, perfstat, criterion, gobench, not of wall"},
    {"hyperfine:suite=x",     "suite: is a key of kinds auto"},
    {"plain:field=x",         "field: is a key of kinds auto"},
    {"perfherder:suit=x",     "suit: unknown key; did you mean suite?"},
    {"perfherder:test=",      "test: expected some text"},
    {"value:",                "expected KEY=VALUE, got nothing"},
    {"value:unit=ms,",        "expected KEY=VALUE, got nothing"},
    {"value:unit",            "unit: expected KEY=VALUE"},
    {"value:unit=ms,unit=s",  "unit: given twice"},
    {"value:units=ms",        "units: unknown key; did you mean unit?"},
    {"value:kind=wall",       "kind: unknown key"},
    {"value:name=x",          "name: unknown key"},
    {"wall:regex=(x)",        "regex: is a key of kind value, not of wall"},
    {"wall:ready=exit",       "ready: is a key of kind ts, not of wall"},
    {"ts:cold=1",             "cold: expected"},
    {"ts:layout=flat",        "layout: expected one of random, fixed, got flat"},
    {"wall:worse=upwards",    "worse: expected one of up, down, either, got upwards"},
    {"wall:isolation=cpu",    "isolation: expected one of exclusive, cpus, none, got cpu"},
    {"wall:warmup=-1",        "warmup: expected a whole number from 0 to 1000"},
    {"wall:warmup=1.5",       "warmup: expected a whole number from 0 to 1000"},
    {"wall:warmup=many",      "warmup: expected a whole number from 0 to 1000"},
    {"wall:timeout=0",        "timeout: expected a duration from 1ms to 168h"},
    {"wall:timeout=fast",     "timeout: "},
    {"wall:timeout=8000000000", "timeout: "},
    {"wall:min_effect=-1",    "min_effect: expected a number from 0 to 1e+06"},
    {"wall:min_effect=nan",   "min_effect: expected a number"},
    {"wall:file=",            "file: expected some text"},
    {"wall:command=",         "command: expected some text"},
};

static const struct {
    const char *json;
    const char *want;
} bad_jsons[] = {
    {"[]",                                        "expected a metric object"},
    {"{}",                                        "name: expected a string, got nothing"},
    {"{\"name\":\"m\"}",                          "kind: expected a string such as value or wall, got nothing"},
    {"{\"name\":\"m\",\"kind\":1}",               "kind: expected a string such as value or wall, got 1"},
    {"{\"name\":\"m\",\"kind\":\"x\"}",           "kind: expected one of"},
    {"{\"name\":\"m m\",\"kind\":\"exit\",\"command\":\"c\"}", "name: expected a name"},
    {"{\"name\":\"m\",\"kind\":\"exit\"}",        "command: missing"},
    {"{\"name\":\"m\",\"kind\":\"exit\",\"command\":[]}", "command: expected a string, got a list"},
    {"{\"name\":\"m\",\"kind\":\"exit\",\"command\":\"c\",\"warm\":1}", "warm: unknown key"},
    {"{\"name\":\"m\",\"kind\":\"wall\",\"command\":\"c\",\"timeout\":true}", "timeout: expected a duration such as"},
    {"{\"name\":\"m\",\"kind\":\"slowsql\",\"command\":\"c\",\"of\":\"time\"}", "of: expected ms or count, got time"},
    {"{\"name\":\"m\",\"kind\":\"syscalls\",\"command\":\"c\",\"of\":\"ms\"}", "of: expected time or count, got ms"},
    {"{\"name\":\"m\",\"kind\":\"wall\",\"command\":\"c\",\"on_timeout\":\"bad\"}", "on_timeout: bad is for kind exit alone"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(\"}", "regex: not an extended regular expression"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(a)?????++++++++\"}", "regex: + and counts"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"((a?*)+){200}\"}", "regex: + and counts"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(a*){32767}\"}", "regex: + and counts in { } expand to more than 2000 states"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"((a{40}){3,400})\"}", "regex: + and counts in { } expand to more than 2000 states"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(a){99999999999999999999}\"}", "regex: + and counts"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(a++++++++++++++++++++++++++)\"}", "regex: + and counts"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"((((([]a]{9}){9}){9}){9}){9})\"}", "regex: + and counts"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"x\"}", "regex: has no group"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"regex\":\"(x)\",\"json\":\"/a\"}", "regex: either regex or json"},
    {"{\"name\":\"m\",\"kind\":\"syscalls\",\"command\":\"c\",\"calls\":\"fsync,fdatasync\"}", "calls: expected names with + between, such as fsync+fdatasync, got fsync,fdatasync"},
    {"{\"name\":\"m\",\"kind\":\"syscalls\",\"command\":\"c\",\"calls\":\"fsync+\"}", "calls: expected names with + between"},
    {"{\"name\":\"m\",\"kind\":\"syscalls\",\"command\":\"c\",\"calls\":\"fsync+fsyncc\"}", "calls: Linux has no system call fsyncc"},
    {"{\"name\":\"m\",\"kind\":\"syscalls\",\"command\":\"c\",\"calls\":\"%file\"}", "calls: expected names with + between"},
    {"{\"name\":\"m\",\"kind\":\"ts\",\"command\":\"c\",\"ready\":\"port:0\"}", "ready: expected a port from 1 to 65535, got 0"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"json\":\"p50\"}", "json: expected a JSON pointer"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"file\":\"/etc/passwd\"}", "file: expected a relative path"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"file\":\"a/..\"}", "file: a/.. leads out"},
    {"{\"name\":\"m\",\"kind\":\"value\",\"command\":\"c\",\"min_effect\":\"2%%\"}", "min_effect: expected a number"},
};

static const struct {
    enum reduce how;
    double values[4];
    size_t n;
    double want;
} reductions[] = {
    {REDUCE_UNSET,  {3, 1, 2},      3, 2},
    {REDUCE_MEDIAN, {3, 1, 2},      3, 2},
    {REDUCE_MEDIAN, {4, 1, 3, 2},   4, 2.5},
    {REDUCE_MEDIAN, {1e308, 1.5e308}, 2, 1.25e308}, /* the sum would overflow */
    {REDUCE_MEAN,   {3, 1, 2, 10},  4, 4},
    {REDUCE_MIN,    {3, -1, 2},     3, -1},
    {REDUCE_MAX,    {-3, -1, -2},   3, -1},
    {REDUCE_SUM,    {3, 1, 2},      3, 6},
    {REDUCE_MEDIAN, {7},            1, 7},
};
/* clang-format on */

START_TEST(specs_are_read)
{
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(json_free) json *v = NULL;
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};

    ck_assert_msg(metric_from_spec(specs[_i].spec, &m, &e) == ERR_OK, "%s: %s", specs[_i].spec,
                  e.text);
    ck_assert_int_eq(m->kind, specs[_i].kind);
    ck_assert_str_eq(m->name, metric_kinds[m->kind].name);
    v = metric_to_json(m);
    if (!specs[_i].want) {
        ck_assert_ptr_null(json_at(v, specs[_i].key));
        return;
    }
    json_dump(json_at(v, specs[_i].key), JSON_COMPACT, &got);
    ck_assert_msg(strcmp(buf_str(&got), specs[_i].want) == 0, "%s: %s", specs[_i].spec,
                  buf_str(&got));
}
END_TEST

START_TEST(wrong_specs_are_explained)
{
    AUTO(metric_free) struct metric *m = NULL;
    struct err e = {0};

    ck_assert_msg(metric_from_spec(bad_specs[_i].spec, &m, &e) == ERR_INVALID, "%s",
                  bad_specs[_i].spec);
    ck_assert_ptr_null(m);
    ck_assert_msg(strstr(e.text, bad_specs[_i].want) || strstr(e.hint, bad_specs[_i].want),
                  "%s: %s (%s)", bad_specs[_i].spec, e.text, e.hint);
}
END_TEST

START_TEST(wrong_json_is_explained)
{
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(json_free) json *v = NULL;
    struct err e = {0};

    ck_assert_int_eq(json_parse(bad_jsons[_i].json, strlen(bad_jsons[_i].json), &v, &e), ERR_OK);
    ck_assert_msg(metric_from_json(v, &m, &e) == ERR_INVALID, "%s", bad_jsons[_i].json);
    ck_assert_msg(strncmp(e.text, bad_jsons[_i].want, strlen(bad_jsons[_i].want)) == 0, "%s: %s",
                  bad_jsons[_i].json, e.text);
}
END_TEST

START_TEST(json_goes_round)
{
    for (size_t i = 0; i < LEN(specs); i++) {
        AUTO(metric_free) struct metric *m = NULL, *again = NULL, *copy = NULL;
        AUTO(json_free) json *v = NULL, *w = NULL;
        AUTO(buf_fini) struct buf first = {0};
        AUTO(buf_fini) struct buf second = {0};
        struct err e = {0};

        ck_assert_int_eq(metric_from_spec(specs[i].spec, &m, &e), ERR_OK);
        if (!m->command)
            ck_assert_int_eq(metric_set(m, "command", "true", &e), ERR_OK);
        copy = metric_copy(m);
        v = metric_to_json(copy);
        json_dump(v, JSON_COMPACT, &first);
        ck_assert_msg(metric_from_json(v, &again, &e) == ERR_OK, "%s: %s", specs[i].spec, e.text);
        w = metric_to_json(again);
        json_dump(w, JSON_COMPACT, &second);
        ck_assert_str_eq(buf_str(&first), buf_str(&second));
    }
}
END_TEST

START_TEST(many_values_become_one)
{
    ck_assert_double_eq(reduce_values(reductions[_i].how, reductions[_i].values, reductions[_i].n),
                        reductions[_i].want);
}
END_TEST

START_TEST(every_kind_has_a_row)
{
    for (size_t i = 0; i < METRIC_KIND_COUNT; i++) {
        enum metric_kind kind = METRIC_KIND_COUNT;

        ck_assert_int_eq(metric_kind_parse(metric_kinds[i].name, &kind, NULL), ERR_OK);
        ck_assert_uint_eq(kind, i);
        ck_assert(*metric_kinds[i].help);
        ck_assert_int_eq(metric_kinds[i].is_rate, i == METRIC_EXIT);
        bool is_exact = i == METRIC_EXIT || i == METRIC_SYSCALLS;
        ck_assert_int_eq(metric_kinds[i].isolation,
                         is_exact ? ISOLATION_NONE : ISOLATION_EXCLUSIVE);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {specs_are_read, LEN(specs)},
        {wrong_specs_are_explained, LEN(bad_specs)},
        {wrong_json_is_explained, LEN(bad_jsons)},
        {json_goes_round, 1},
        {many_values_become_one, LEN(reductions)},
        {every_kind_has_a_row, 1},
    };

    return unit_run("metric", tests, LEN(tests));
}
