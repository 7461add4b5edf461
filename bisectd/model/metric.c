/* SPDX-License-Identifier: Apache-2.0 */
#include "model/metric.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/text.h"
#include "model/fields.h"
#include "model/ready.h"
#include "model/regex.h"
#include "model/strings.h"
#include "model/syscall_name.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARMUP = 1000, MAX_REGEX = KIB, MAX_EVENT = 64 };
enum { MAX_CALLS = 32, MAX_CALL_NAME = 64 };
#define MAX_TIMEOUT_S (7 * 24 * 3600.0)

static const char *const value_keys[] = {"regex", "json", NULL};
static const char *const ts_keys[] = {"ready", "cold", NULL};
static const char *const counter_keys[] = {"event", NULL};
static const char *const syscalls_keys[] = {"calls", "path", "of", NULL};
static const char *const slowsql_keys[] = {"db", "statement", "thread", "of", NULL};
static const char *const no_keys[] = {NULL};
static const char *const result_keys[] = {"suite", "test", "options", "field", NULL};
static const char *const suite_keys[] = {"suite", "test", "field", NULL};
static const char *const options_keys[] = {"test", "options", "field", NULL};
static const char *const test_keys[] = {"test", "field", NULL};

/* clang-format off */
const struct metric_kind_row metric_kinds[METRIC_KIND_COUNT] = {
/*                  name     unit        worse         isolation            rate   own keys    help */
    [METRIC_VALUE] = {"value", "",       WORSE_EITHER, ISOLATION_EXCLUSIVE, false, value_keys, "a number the command prints, or one found by regex or JSON pointer"},
    [METRIC_EXIT]  = {"exit",  "failures", WORSE_UP,   ISOLATION_NONE,      true,  no_keys,    "exit status as git bisect run reads it: 0 good, 1-127 bad, 125 cannot test, 128 and more abort"},
    [METRIC_WALL]  = {"wall",  "ms",     WORSE_UP,     ISOLATION_EXCLUSIVE, false, no_keys,    "elapsed time of the command"},
    [METRIC_CPU]   = {"cpu",   "ms",     WORSE_UP,     ISOLATION_EXCLUSIVE, false, no_keys,    "user and system time of the command"},
    [METRIC_RSS]   = {"rss",   "KiB",    WORSE_UP,     ISOLATION_EXCLUSIVE, false, no_keys,    "peak memory of the command"},
    [METRIC_TS]    = {"ts",    "ms",     WORSE_UP,     ISOLATION_EXCLUSIVE, false, ts_keys,    "start-up time: until the program exits, prints a line, opens a port, answers HTTP or creates a file; then it is stopped"},
    [METRIC_COUNTER] = {"counter", "events", WORSE_UP, ISOLATION_EXCLUSIVE, false, counter_keys, "an event such as instructions or page-faults: by perf where the machine counts it, else instructions by callgrind"},
    [METRIC_SYSCALLS] = {"syscalls", "calls", WORSE_UP, ISOLATION_NONE,     false, syscalls_keys, "number or time of chosen system calls of all its processes, on matching files, counted by strace"},
    [METRIC_SLOWSQL] = {"slowsql", "ms",    WORSE_UP, ISOLATION_EXCLUSIVE, false, slowsql_keys, "slow SQL statements in a telemetry document: their time or number, by database, statement and thread"},
    [METRIC_AUTO]       = {"auto",       "",         WORSE_EITHER, ISOLATION_EXCLUSIVE, false, result_keys, "any of the result formats below, told by what it looks like"},
    [METRIC_PERFHERDER] = {"perfherder", "",         WORSE_UP,     ISOLATION_EXCLUSIVE, false, result_keys, "PERFHERDER_DATA lines of a log, or a perfherder-data JSON artifact"},
    [METRIC_TALOS]      = {"talos",      "ms",       WORSE_UP,     ISOLATION_EXCLUSIVE, false, suite_keys, "browser log of Talos with its report markers, or a Talos log of 2013"},
    [METRIC_FILEIO]     = {"fileio",     "ms",       WORSE_UP,     ISOLATION_EXCLUSIVE, false, test_keys,  "fileIOReports of a telemetry document: time and calls of the main thread, by file"},
    [METRIC_HYPERFINE]  = {"hyperfine",  "s",        WORSE_UP,     ISOLATION_EXCLUSIVE, false, options_keys, "hyperfine --export-json or --export-csv"},
    [METRIC_GBENCH]     = {"gbench",     "ns",       WORSE_UP,     ISOLATION_EXCLUSIVE, false, test_keys,  "Google Benchmark, JSON or CSV"},
    [METRIC_PYTEST]     = {"pytest",     "s",        WORSE_UP,     ISOLATION_EXCLUSIVE, false, suite_keys, "pytest-benchmark --benchmark-json"},
    [METRIC_PERFSTAT]   = {"perfstat",   "",         WORSE_UP,     ISOLATION_EXCLUSIVE, false, suite_keys, "perf stat -j or -x"},
    [METRIC_CRITERION]  = {"criterion",  "ns",       WORSE_UP,     ISOLATION_EXCLUSIVE, false, suite_keys, "criterion's raw.csv, sample.json or estimates.json, or cargo-criterion messages"},
    [METRIC_GOBENCH]    = {"gobench",    "ns/op",    WORSE_UP,     ISOLATION_EXCLUSIVE, false, suite_keys, "go test -bench"},
    [METRIC_JMH]        = {"jmh",        "",         WORSE_UP,     ISOLATION_EXCLUSIVE, false, options_keys, "JMH -rf json"},
    [METRIC_LNT]        = {"lnt",        "",         WORSE_UP,     ISOLATION_EXCLUSIVE, false, test_keys,  "LNT report, JSON or lines of test.metric value"},
    [METRIC_BMF]        = {"bmf",        "",         WORSE_EITHER, ISOLATION_EXCLUSIVE, false, test_keys,  "Bencher Metric Format"},
    [METRIC_OTAVA]      = {"otava",      "",         WORSE_EITHER, ISOLATION_EXCLUSIVE, false, test_keys,  "CSV with a time column as Apache Otava reads it"},
    [METRIC_PLAIN]      = {"plain",      "",         WORSE_EITHER, ISOLATION_EXCLUSIVE, false, no_keys,    "one number a line"},
};

static const struct choice kind_choices[] = {
    {"value", METRIC_VALUE, false}, {"exit", METRIC_EXIT, false}, {"wall", METRIC_WALL, false},
    {"cpu", METRIC_CPU, false}, {"rss", METRIC_RSS, false},
    {"ts", METRIC_TS, false}, {"counter", METRIC_COUNTER, false}, {"syscalls", METRIC_SYSCALLS, false}, {"slowsql", METRIC_SLOWSQL, false},
    {"auto", METRIC_AUTO, false}, {"perfherder", METRIC_PERFHERDER, false},
    {"talos", METRIC_TALOS, false}, {"fileio", METRIC_FILEIO, false},
    {"hyperfine", METRIC_HYPERFINE, false}, {"gbench", METRIC_GBENCH, false},
    {"pytest", METRIC_PYTEST, false}, {"perfstat", METRIC_PERFSTAT, false},
    {"criterion", METRIC_CRITERION, false}, {"gobench", METRIC_GOBENCH, false},
    {"jmh", METRIC_JMH, false}, {"lnt", METRIC_LNT, false}, {"bmf", METRIC_BMF, false},
    {"otava", METRIC_OTAVA, false}, {"plain", METRIC_PLAIN, false},
    {0}};
static const struct choice worse_choices[] = {
    {"up", WORSE_UP, false}, {"down", WORSE_DOWN, false}, {"either", WORSE_EITHER, false}, {0}};
static const struct choice reduce_choices[] = {
    {"median", REDUCE_MEDIAN, false}, {"mean", REDUCE_MEAN, false}, {"min", REDUCE_MIN, false},
    {"max", REDUCE_MAX, false}, {"sum", REDUCE_SUM, false}, {0}};
static const struct choice layout_choices[] = {
    {"random", LAYOUT_RANDOM, false}, {"fixed", LAYOUT_FIXED, false}, {0}};
static const struct choice of_choices[] = {
    {"count", OF_COUNT, false}, {"time", OF_TIME, false}, {"ms", OF_MS, false}, {0}};
static const struct choice thread_choices[] = {
    {"main", THREAD_MAIN, false}, {"other", THREAD_OTHER, false}, {"all", THREAD_ALL, false}, {0}};
static const struct choice on_timeout_choices[] = {
    {"untestable", TIMEOUT_UNTESTABLE, false}, {"bad", TIMEOUT_BAD, false}, {0}};
const struct choice isolation_choices[] = {
    {"exclusive", ISOLATION_EXCLUSIVE, false}, {"cpus", ISOLATION_CPUS, false},
    {"none", ISOLATION_NONE, false}, {0}};

#define AT(member) offsetof(struct metric, member)
static const struct field metric_fields[] = {
    {"command",    FIELD_STRING,   AT(command),            0, 1, 64 * KIB, NULL},
    {"unit",       FIELD_STRING,   AT(unit),               0, 0, 32, NULL},
    {"worse",      FIELD_CHOICE,   AT(worse),              0, 0, 0, worse_choices},
    {"warmup",     FIELD_U32,      AT(n_warmup),           0, 0, MAX_WARMUP, NULL},
    {"timeout",    FIELD_DURATION, AT(timeout_ns),         0, 0.001, MAX_TIMEOUT_S, NULL},
    {"on_timeout", FIELD_CHOICE,   AT(on_timeout),         0, 0, 0, on_timeout_choices},
    {"min_effect", FIELD_PERCENT,  AT(min_effect_percent), 0, 0, 1e6, NULL},
    {"reduce",     FIELD_CHOICE,   AT(reduce),             0, 0, 0, reduce_choices},
    {"file",       FIELD_STRING,   AT(file),               0, 1, 4 * KIB, NULL},
    {"isolation",  FIELD_CHOICE,   AT(isolation),          0, 0, 0, isolation_choices},
    {"layout",     FIELD_CHOICE,   AT(layout),             0, 0, 0, layout_choices},
    {"regex",      FIELD_STRING,   AT(regex),              0, 1, MAX_REGEX, NULL},
    {"json",       FIELD_STRING,   AT(pointer),            0, 0, 4 * KIB, NULL},
    {"ready",      FIELD_STRING,   AT(ready),              0, 1, 4 * KIB, NULL},
    {"event",      FIELD_STRING,   AT(event),              0, 1, MAX_EVENT, NULL},
    {"cold",       FIELD_BOOL,     AT(is_cold),            FIELD_SKIP_ZERO, 0, 0, NULL},
    {"suite",      FIELD_STRING,   AT(suite),              0, 1, 4 * KIB, NULL},
    {"test",       FIELD_STRING,   AT(test),               0, 1, 4 * KIB, NULL},
    {"options",    FIELD_STRING,   AT(options),            0, 1, 4 * KIB, NULL},
    {"field",      FIELD_STRING,   AT(field),              0, 1, 4 * KIB, NULL},
    {"calls",      FIELD_STRING,   AT(calls),              0, 1, KIB, NULL},
    {"path",       FIELD_STRING,   AT(path),               0, 1, 4 * KIB, NULL},
    {"of",         FIELD_CHOICE,   AT(of),                 0, 0, 0, of_choices},
    {"db",         FIELD_STRING,   AT(db),                 0, 1, KIB, NULL},
    {"statement",  FIELD_STRING,   AT(statement),          0, 1, 4 * KIB, NULL},
    {"thread",     FIELD_CHOICE,   AT(thread),             0, 0, 0, thread_choices},
};
/* clang-format on */

void metric_free(struct metric *m)
{
    if (!m)
        return;
    fields_fini(metric_fields, LEN(metric_fields), m);
    mem_free(m->name);
    mem_free(m);
}

struct metric *metric_new(const char *name, enum metric_kind kind)
{
    const struct metric_kind_row *row = &metric_kinds[kind];
    struct metric *m = mem_alloc(sizeof(*m));

    m->name = mem_dup(name);
    m->kind = kind;
    m->unit = mem_dup(row->unit);
    m->worse = row->worse;
    m->timeout_ns = METRIC_TIMEOUT_NS;
    m->min_effect_percent = -1;
    return m;
}

static char *dup_or_null(const char *s)
{
    return s ? mem_dup(s) : NULL;
}

struct metric *metric_copy(const struct metric *m)
{
    struct metric *copy = mem_alloc(sizeof(*copy));

    *copy = *m;
    copy->name = mem_dup(m->name);
    copy->command = dup_or_null(m->command);
    copy->unit = mem_dup(m->unit);
    copy->file = dup_or_null(m->file);
    copy->regex = dup_or_null(m->regex);
    copy->pointer = dup_or_null(m->pointer);
    copy->ready = dup_or_null(m->ready);
    copy->event = dup_or_null(m->event);
    copy->suite = dup_or_null(m->suite);
    copy->test = dup_or_null(m->test);
    copy->options = dup_or_null(m->options);
    copy->field = dup_or_null(m->field);
    copy->calls = dup_or_null(m->calls);
    copy->path = dup_or_null(m->path);
    copy->db = dup_or_null(m->db);
    copy->statement = dup_or_null(m->statement);
    return copy;
}

bool metric_is_results(enum metric_kind kind)
{
    return kind >= METRIC_AUTO && kind <= METRIC_PLAIN;
}

/* ---- keys ---- */

static bool has_own_key(const struct metric_kind_row *kind, const char *key)
{
    for (const char *const *k = kind->keys; *k; k++) {
        if (strcmp(*k, key) == 0)
            return true;
    }
    return false;
}

/* Whether some kind has it for its own; the rest all kinds have. */
static bool is_own_key(const char *key)
{
    for (size_t i = 0; i < METRIC_KIND_COUNT; i++) {
        if (has_own_key(&metric_kinds[i], key))
            return true;
    }
    return false;
}

static enum err_code unknown_key(const struct metric *m, const char *key, struct err *e)
{
    const struct metric_kind_row *row = &metric_kinds[m->kind];
    const char *known[LEN(metric_fields)];
    size_t n = 0;

    for (size_t i = 0; i < LEN(metric_fields); i++) {
        if (!is_own_key(metric_fields[i].key) || has_own_key(row, metric_fields[i].key))
            known[n++] = metric_fields[i].key;
    }
    return err_unknown_key(e, key, known, n);
}

static enum err_code foreign_key(const struct metric *m, const char *key, struct err *e)
{
    AUTO(buf_fini) struct buf owners = {0};
    size_t n = 0;

    for (size_t i = 0; i < METRIC_KIND_COUNT; i++) {
        if (has_own_key(&metric_kinds[i], key))
            buf_printf(&owners, "%s%s", n++ ? ", " : "", metric_kinds[i].name);
    }
    return err_set(e, ERR_INVALID, "%s: is a key of kind%s %s, not of %s", key, n > 1 ? "s" : "",
                   buf_str(&owners), metric_kinds[m->kind].name);
}

static enum err_code find_key(const struct metric *m, const char *key, const struct field **out,
                              struct err *e)
{
    const struct field *f = field_find(metric_fields, LEN(metric_fields), key);

    if (!f)
        return unknown_key(m, key, e);
    if (is_own_key(key) && !has_own_key(&metric_kinds[m->kind], key))
        return foreign_key(m, key, e);
    *out = f;
    return ERR_OK;
}

/* The time of calls is not counted in calls, nor the number of statements in ms. */
static void settle_unit(struct metric *m)
{
    const char *unit = m->kind == METRIC_SYSCALLS && m->of == OF_TIME   ? "ms"
                       : m->kind == METRIC_SLOWSQL && m->of == OF_COUNT ? "statements"
                                                                        : NULL;

    if (!unit || strcmp(m->unit, metric_kinds[m->kind].unit) != 0)
        return;
    mem_free(m->unit);
    m->unit = mem_dup(unit);
}

enum err_code metric_set(struct metric *m, const char *key, const char *value, struct err *e)
{
    const struct field *f = NULL;

    if (find_key(m, key, &f, e))
        return ERR_INVALID;
    enum err_code code = field_read_text(f, value, m, e);
    settle_unit(m);
    return code;
}

enum err_code metric_kind_parse(const char *s, enum metric_kind *out, struct err *e)
{
    const char *names[METRIC_KIND_COUNT];
    unsigned kind = 0;

    if (choice_parse(kind_choices, s, &kind, e) == ERR_OK) {
        *out = (enum metric_kind)kind;
        return ERR_OK;
    }
    for (size_t i = 0; i < METRIC_KIND_COUNT; i++)
        names[i] = metric_kinds[i].name;
    const char *nearest = text_nearest(s, names, LEN(names));
    if (nearest && e && !*e->hint)
        err_hint(e, "Did you mean %s?", nearest);
    return ERR_INVALID;
}

/* ---- the --metric spec ---- */

/* Copies up to an unescaped `stop` or the end, undoing escapes; returns where it stopped. */
static const char *take_until(const char *s, char stop, struct buf *out)
{
    for (; *s && *s != stop; s++) {
        if (*s == '\\' && (s[1] == ',' || s[1] == '\\'))
            s++;
        buf_addc(out, *s);
    }
    return s;
}

static enum err_code take_pair(const char **s, struct metric *m, struct strings *seen,
                               struct err *e)
{
    AUTO(buf_fini) struct buf pair = {0};
    char *equals = NULL;

    *s = take_until(*s, ',', &pair);
    if (pair.len == 0)
        return err_set(e, ERR_INVALID, "expected KEY=VALUE, got nothing");
    equals = strchr(pair.data, '=');
    if (!equals) {
        err_set(e, ERR_INVALID, "%s: expected KEY=VALUE", pair.data);
        return err_hint(e, "A comma inside a value is written \\, and a backslash \\\\.");
    }
    *equals = '\0';
    if (strings_has(seen, pair.data))
        return err_set(e, ERR_INVALID, "%s: given twice", pair.data);
    strings_add(seen, pair.data);
    return metric_set(m, pair.data, equals + 1, e);
}

enum err_code metric_from_spec(const char *spec, struct metric **out, struct err *e)
{
    AUTO(strings_fini) struct strings seen = {0};
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(mem_free) char *name = mem_dup_n(spec, strcspn(spec, ":"));
    const char *s = spec + strlen(name);
    enum metric_kind kind = METRIC_VALUE;

    if (metric_kind_parse(name, &kind, e))
        return err_wrap(e, "metric kind");
    m = metric_new(name, kind);
    while (*s) { /* at the ':' before the first pair, or the ',' before a further one */
        s++;
        if (take_pair(&s, m, &seen, e))
            return err_wrap(e, "metric %s", name);
    }
    *out = TAKE(m);
    return ERR_OK;
}

/* ---- checks ---- */

static enum err_code check_ready(const char *s, struct err *e)
{
    AUTO(ready_fini) struct ready r = {0};

    return ready_parse(s, &r, e) ? err_wrap(e, "ready") : ERR_OK;
}

/** One event, and nothing that a shell or perf would take for more. */
static enum err_code check_event(const char *s, struct err *e)
{
    static const char others[] = "-_.:/=";

    for (const char *c = s; *c; c++) {
        bool is_plain =
            (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!is_plain && (c == s || !strchr(others, *c)))
            return err_set(e, ERR_INVALID,
                           "event: expected one event as perf list has it, such as instructions or "
                           "page-faults, got %s",
                           s);
    }
    return ERR_OK;
}

static enum err_code check_calls(const char *calls, struct err *e)
{
    size_t n = 0;

    for (const char *at = calls;; at++) {
        const size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
        if (len == 0 || len > MAX_CALL_NAME || (at[len] && at[len] != '+'))
            return err_set(e, ERR_INVALID,
                           "calls: expected names with + between, such as " METRIC_CALLS ", got "
                           "%.80s",
                           calls);
        if (!syscall_name_is_known(at, len))
            return err_set(e, ERR_INVALID, "calls: Linux has no system call %.*s", (int)len, at);
        if (++n > MAX_CALLS)
            return err_set(e, ERR_INVALID, "calls: at most %d names", MAX_CALLS);
        at += len;
        if (!*at)
            return ERR_OK;
    }
}

enum err_code metric_check(const struct metric *m, struct err *e)
{
    if (name_check("name", m->name, e))
        return ERR_INVALID;
    if (!m->command || !*m->command)
        return err_set(e, ERR_INVALID, "command: missing: what is to be run to measure");
    if (m->regex && m->pointer)
        return err_set(e, ERR_INVALID, "regex: either regex or json, not both");
    if (m->pointer && *m->pointer && *m->pointer != '/')
        return err_set(e, ERR_INVALID, "json: expected a JSON pointer such as /p50, got %s",
                       m->pointer);
    if (m->on_timeout == TIMEOUT_BAD && m->kind != METRIC_EXIT)
        return err_set(e, ERR_INVALID, "on_timeout: bad is for kind exit alone");
    if (m->file && path_check("file", m->file, e))
        return ERR_INVALID;
    if (m->of == (m->kind == METRIC_SLOWSQL ? OF_TIME : OF_MS))
        return err_set(e, ERR_INVALID, "of: expected %s or count, got %s",
                       m->kind == METRIC_SLOWSQL ? "ms" : "time", choice_name(of_choices, m->of));
    if (m->calls && check_calls(m->calls, e))
        return ERR_INVALID;
    if (m->ready && check_ready(m->ready, e))
        return ERR_INVALID;
    if (m->event && check_event(m->event, e))
        return ERR_INVALID;
    return m->regex ? regex_check(m->regex, e) : ERR_OK;
}

/* ---- JSON ---- */

json *metric_to_json(const struct metric *m)
{
    json *o = json_new_object();

    json_put(o, "name", json_new_string(m->name));
    json_put(o, "kind", json_new_string(metric_kinds[m->kind].name));
    fields_write(metric_fields, LEN(metric_fields), m, o);
    return o;
}

enum err_code metric_from_json(const json *v, struct metric **out, struct err *e)
{
    AUTO(metric_free) struct metric *m = NULL;
    enum metric_kind kind = METRIC_VALUE;
    const char *name = json_str(json_at(v, "name"), NULL);
    const char *kind_name = json_str(json_at(v, "kind"), NULL);

    if (!json_is_object(v))
        return err_set(e, ERR_INVALID, "expected a metric object");
    if (!name)
        return err_expected(e, "name", "a string", json_at(v, "name"));
    if (!kind_name)
        return err_expected(e, "kind", "a string such as value or wall", json_at(v, "kind"));
    if (metric_kind_parse(kind_name, &kind, e))
        return err_wrap(e, "kind");
    m = metric_new(name, kind);
    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        const struct field *f = NULL;

        if (strcmp(k, "name") == 0 || strcmp(k, "kind") == 0)
            continue;
        if (find_key(m, k, &f, e))
            return ERR_INVALID;
        if (!json_is_null(json_at(v, k)) && field_read(f, json_at(v, k), m, e))
            return ERR_INVALID;
    }
    settle_unit(m);
    if (metric_check(m, e))
        return ERR_INVALID;
    *out = TAKE(m);
    return ERR_OK;
}

/* ---- small things ---- */

enum err_code worse_parse(const char *s, enum worse *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(worse_choices, s, &value, e))
        return err_wrap(e, "worse");
    *out = (enum worse)value;
    return ERR_OK;
}

const char *worse_name(enum worse w)
{
    return choice_name(worse_choices, w);
}

const char *reduce_name(enum reduce r)
{
    return choice_name(reduce_choices, r);
}

enum isolation metric_isolation(const struct metric *m)
{
    bool is_exact =
        m->kind == METRIC_COUNTER && (!m->event || strcmp(m->event, "instructions") == 0 ||
                                      strcmp(m->event, "instructions:u") == 0);

    if (m->of == OF_TIME)
        return ISOLATION_EXCLUSIVE;
    return is_exact ? ISOLATION_NONE : metric_kinds[m->kind].isolation;
}

const char *isolation_name(enum isolation i)
{
    return choice_name(isolation_choices, i);
}

static double median(const double *values, size_t n)
{
    double *sorted = mem_array(n, sizeof(*sorted));

    memcpy(sorted, values, n * sizeof(*sorted));
    numbers_sort(sorted, n);
    const double middle = numbers_median(sorted, n);
    mem_free(sorted);
    return middle;
}

double reduce_values(enum reduce how, const double *values, size_t n)
{
    double sum = 0, low = INFINITY, high = -INFINITY;

    assert(n > 0);
    for (size_t i = 0; i < n; i++) {
        sum += values[i];
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    switch (how) {
    case REDUCE_MEAN:
        return sum / (double)n;
    case REDUCE_MIN:
        return low;
    case REDUCE_MAX:
        return high;
    case REDUCE_SUM:
        return sum;
    case REDUCE_UNSET:
    case REDUCE_MEDIAN:
        break;
    }
    return median(values, n);
}
