/* SPDX-License-Identifier: Apache-2.0 */
#include "config/schema.h"
#include "model/metric.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/limits.h"
#include "model/fields.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define DAY_S      (24 * 3600.0)
#define GIB        (1024.0 * MIB)
#define LIMIT(m)   offsetof(struct limits, m)
#define RESULT_KINDS                                                                               \
    "auto perfherder talos fileio hyperfine gbench pytest perfstat criterion gobench jmh lnt bmf " \
    "otava plain"
#define ISOLATIONS "exclusive cpus none"

/* clang-format off */
const struct schema_row schema[] = {
/*  file            path                   type              default          low  high        allowed    offset  help */
    {SCHEMA_DAEMON, "listen",              SCHEMA_TEXT,      "127.0.0.1:8641", 0, 0, NULL, 0, "HOST:PORT of the HTTP API, or none; the private socket is always there"},
    {SCHEMA_DAEMON, "data_dir",            SCHEMA_TEXT,      "$XDG_STATE_HOME/bisectd", 0, 0, NULL, 0, "where the store, logs, artifacts and mirrors live; relative to this file"},
    {SCHEMA_DAEMON, "engine",              SCHEMA_CHOICE,    "local",        0, 0, "local pool", 0, "where workers come from: started here, or agents that connect"},
    {SCHEMA_DAEMON, "workers",             SCHEMA_COUNT,     "1",            0, 256, NULL, 0, "workers that engine local starts"},
    {SCHEMA_DAEMON, "sandbox",             SCHEMA_CHOICE,    "bubblewrap",   0, 0, "plain bubblewrap", 0, "of projects that name none; but plain for what a user sends in person, over the private socket"},
    {SCHEMA_DAEMON, "limits",              SCHEMA_SECTION,   NULL,           0, 0, NULL, 0, "what may be used at most; reaching one is an error that says so"},
    {SCHEMA_DAEMON, "limits.log",          SCHEMA_SIZE,      "16M",          4 * KIB, GIB, NULL, LIMIT(log_bytes), "log of a task; first and last half are kept, the cut is marked"},
    {SCHEMA_DAEMON, "limits.body",         SCHEMA_SIZE,      "1M",           4 * KIB, GIB, NULL, LIMIT(body_bytes), "body of a request, unless it is a log, a result or an artifact"},
    {SCHEMA_DAEMON, "limits.result",       SCHEMA_SIZE,      "16M",          64 * KIB, GIB, NULL, LIMIT(result_bytes), "body of a task's result"},
    {SCHEMA_DAEMON, "limits.artifact",     SCHEMA_SIZE,      "4G",           4 * KIB, 1024 * GIB, NULL, LIMIT(artifact_bytes), "what one build leaves, packed"},
    {SCHEMA_DAEMON, "limits.lease",        SCHEMA_DURATION,  "60s",          1, DAY_S, NULL, LIMIT(lease_ns), "how long a worker may be silent before its task goes to another"},
    {SCHEMA_DAEMON, "limits.renew",        SCHEMA_DURATION,  "15s",          0.1, DAY_S, NULL, LIMIT(renew_ns), "how often a worker renews its lease; at most half of limits.lease"},
    {SCHEMA_DAEMON, "limits.wait",         SCHEMA_DURATION,  "30s",          0, 600, NULL, LIMIT(wait_ns), "longest wait for a task in one request"},
    {SCHEMA_DAEMON, "limits.tries",        SCHEMA_COUNT,     "3",            1, 100, NULL, LIMIT(n_tries), "tries of a task that fails for reasons of the machine, not of the revision"},
    {SCHEMA_DAEMON, "limits.queue",        SCHEMA_COUNT,     "10000",        1, 1e6, NULL, LIMIT(n_queued), "tasks that wait or are at work"},
    {SCHEMA_DAEMON, "limits.active",       SCHEMA_COUNT,     "100",          1, 1e5, NULL, LIMIT(n_active), "unfinished bisections"},
    {SCHEMA_DAEMON, "limits.range",        SCHEMA_COUNT,     "1000000",      2, 1e7, NULL, LIMIT(n_range), "commits in the range of one bisection"},
    {SCHEMA_DAEMON, "limits.runs",         SCHEMA_COUNT,     "2000",         1, 1e6, NULL, LIMIT(n_runs), "runs of one bisection, unless it or its project says otherwise"},
    {SCHEMA_DAEMON, "limits.samples",      SCHEMA_COUNT,     "10000",    10000, 10000, NULL, LIMIT(n_values), "samples (numbers) stored of one run; fixed"},
    {SCHEMA_DAEMON, "limits.watchers",     SCHEMA_COUNT,     "64",           0, 10000, NULL, LIMIT(n_watchers), "open event streams"},
    {SCHEMA_DAEMON, "limits.connections",  SCHEMA_COUNT,     "512",          4, 60000, NULL, LIMIT(n_connections), "open connections"},
    {SCHEMA_DAEMON, "limits.page",         SCHEMA_COUNT,     "1000",         1, 10000, NULL, LIMIT(n_page), "items in one answer of a list"},
    {SCHEMA_DAEMON, "calibration",         SCHEMA_SECTION,   NULL,           0, 0, NULL, 0, "testing verdicts of its own again, to see how often a stated confidence was right"},
    {SCHEMA_DAEMON, "calibration.share",   SCHEMA_PERCENT,   "5%",           0, 100, NULL, 0, "of the finished bisections; 0: only when asked to"},
    {SCHEMA_DAEMON, "calibration.runs",    SCHEMA_COUNT,     "200",          8, 1e6, NULL, 0, "runs of one test at most"},
    {SCHEMA_DAEMON, "calibration.idle",    SCHEMA_DURATION,  "1m",           0, DAY_S, NULL, 0, "how long nothing else was to be done before it tests by itself"},
    {SCHEMA_DAEMON, "projects",            SCHEMA_PROJECTS,  NULL,           0, 0, NULL, 0, "project files, relative to this one, or projects written out"},

    {SCHEMA_PROJECT, "name",               SCHEMA_NAME,      NULL,           0, 0, NULL, 0, "needed; what requests call it"},
    {SCHEMA_PROJECT, "repository",         SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "needed; URL, or path relative to this file"},
    {SCHEMA_PROJECT, "submodules",         SCHEMA_SUBMODULES, "recursive",   0, 0, "recursive none", 0, "or a map of path: URL, which overrides where those come from"},
    {SCHEMA_PROJECT, "platforms",          SCHEMA_LIST,      NULL,           0, 0, NULL, 0, "labels of workers that can build it; the first is the default; none: any"},
    {SCHEMA_PROJECT, "paths",              SCHEMA_LIST,      NULL,           0, 0, NULL, 0, "what the build reads (globs); default everything"},
    {SCHEMA_PROJECT, "environment",        SCHEMA_MAP,       NULL,           0, 0, NULL, 0, "variables for build and measuring commands"},
    {SCHEMA_PROJECT, "build",              SCHEMA_SECTION,   NULL,           0, 0, NULL, 0, "how a revision is built"},
    {SCHEMA_PROJECT, "build.steps",        SCHEMA_LIST,      NULL,           0, 0, NULL, 0, "shell commands, in order; may be empty"},
    {SCHEMA_PROJECT, "build.artifacts",    SCHEMA_LIST,      NULL,           0, 0, NULL, 0, "globs of what measuring needs; default the whole tree"},
    {SCHEMA_PROJECT, "build.timeout",      SCHEMA_DURATION,  "20m",          0.001, 7 * DAY_S, NULL, 0, "of the whole build"},
    {SCHEMA_PROJECT, "metrics",            SCHEMA_SECTIONS,  NULL,           0, 0, NULL, 0, "needed; at least one, by names of your choice"},
    {SCHEMA_PROJECT, "metrics.*.kind",     SCHEMA_CHOICE,    NULL,           0, 0, "value exit wall cpu rss ts counter syscalls slowsql " RESULT_KINDS, 0, "needed; what is measured"},
    {SCHEMA_PROJECT, "metrics.*.command",  SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "needed; run by /bin/sh in a fresh folder with the artifacts"},
    {SCHEMA_PROJECT, "metrics.*.unit",     SCHEMA_TEXT,      "of the kind",  0, 0, NULL, 0, "for people, and what times, sizes and results of formats are turned into"},
    {SCHEMA_PROJECT, "metrics.*.worse",    SCHEMA_CHOICE,    "of the kind",  0, 0, "up down either", 0, "which direction is a regression; up, but of value, auto, bmf, otava and plain: either"},
    {SCHEMA_PROJECT, "metrics.*.warmup",   SCHEMA_COUNT,     "0",            0, 1000, NULL, 0, "runs thrown away each time a revision is set up"},
    {SCHEMA_PROJECT, "metrics.*.timeout",  SCHEMA_DURATION,  "10m",          0.001, 7 * DAY_S, NULL, 0, "of one run"},
    {SCHEMA_PROJECT, "metrics.*.on_timeout", SCHEMA_CHOICE,  "untestable",   0, 0, "untestable bad", 0, "what a run that takes longer is; bad is for kind exit"},
    {SCHEMA_PROJECT, "metrics.*.min_effect", SCHEMA_PERCENT, "automatic",    0, 1e6, NULL, 0, "smallest change worth a name, percent of the good level (exit: percentage points)"},
    {SCHEMA_PROJECT, "metrics.*.reduce",   SCHEMA_CHOICE,    "median",       0, 0, "median mean min max sum", 0, "many numbers of a run to one; unset, kind value wants exactly one"},
    {SCHEMA_PROJECT, "metrics.*.file",     SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "path below $BISECTD_OUT to read instead of stdout"},
    {SCHEMA_PROJECT, "metrics.*.isolation", SCHEMA_CHOICE,   "of the project", 0, 0, ISOLATIONS, 0, "as isolation, for this metric"},
    {SCHEMA_PROJECT, "metrics.*.regex",    SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "kind value: extended regular expression; its first group is the number"},
    {SCHEMA_PROJECT, "metrics.*.json",     SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "kind value: JSON pointer to the number"},
    {SCHEMA_PROJECT, "metrics.*.layout",   SCHEMA_CHOICE,    "random",       0, 0, "random fixed", 0, "where memory of the command lies; fixed: at the same addresses each time"},
    {SCHEMA_PROJECT, "metrics.*.ready",    SCHEMA_TEXT,      "exit",         0, 0, NULL, 0, "kind ts: exit, line:TEXT, port:N, http:URL or file:PATH; then the program gets SIGTERM, and SIGKILL 5 s later"},
    {SCHEMA_PROJECT, "metrics.*.cold",     SCHEMA_BOOL,      "no",           0, 0, NULL, 0, "kind ts: the page cache of the artifact and of $HOME is dropped before each run"},
    {SCHEMA_PROJECT, "metrics.*.event",    SCHEMA_TEXT,      "instructions", 0, 0, NULL, 0, "kind counter: as perf list has it; instructions (in user space) by callgrind where the machine has no counter"},
    {SCHEMA_PROJECT, "metrics.*.calls",    SCHEMA_TEXT,      METRIC_CALLS,           0, 0, NULL, 0, "kind syscalls: which ones, with + between"},
    {SCHEMA_PROJECT, "metrics.*.path",     SCHEMA_TEXT,      NULL,          0, 0, NULL, 0, "kind syscalls: on files that match; * and ? match slashes too, as in '*places.sqlite*'"},
    {SCHEMA_PROJECT, "metrics.*.of",       SCHEMA_CHOICE,    "of the kind",  0, 0, "count time ms", 0, "kind syscalls: how many (count), or how long they took (time); kind slowsql: how long (ms), or how many"},
    {SCHEMA_PROJECT, "metrics.*.db",       SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "kind slowsql: on databases whose name matches, as in 'places*'"},
    {SCHEMA_PROJECT, "metrics.*.statement", SCHEMA_TEXT,     NULL,           0, 0, NULL, 0, "kind slowsql: statements whose text contains this"},
    {SCHEMA_PROJECT, "metrics.*.thread",   SCHEMA_CHOICE,    "all",          0, 0, "main other all", 0, "kind slowsql: on the main thread, or on others"},
    {SCHEMA_PROJECT, "metrics.*.suite",    SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "result formats: the suite, where there are several; * stands for anything"},
    {SCHEMA_PROJECT, "metrics.*.test",     SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "result formats: the test, where there are several; * stands for anything"},
    {SCHEMA_PROJECT, "metrics.*.options",  SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "result formats: the variant, where a test was run in several; * stands for anything"},
    {SCHEMA_PROJECT, "metrics.*.field",    SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "result formats: which number of the test; README lists them"},
    {SCHEMA_PROJECT, "sandbox",            SCHEMA_SECTION,   NULL,           0, 0, NULL, 0, "what a build or measuring command may use"},
    {SCHEMA_PROJECT, "sandbox.kind",       SCHEMA_CHOICE,    "of the service", 0, 0, "plain bubblewrap", 0, "bubblewrap: own namespaces, a read-only system, no home, no network; plain: limits, but no walls; run and compare: plain"},
    {SCHEMA_PROJECT, "sandbox.network",    SCHEMA_BOOL,      "no",           0, 0, NULL, 0, "plain cannot take it away"},
    {SCHEMA_PROJECT, "sandbox.read",       SCHEMA_LIST,      NULL,           0, 0, NULL, 0, "absolute paths of what jobs within walls see besides the system, read-only: toolchains, data"},
    {SCHEMA_PROJECT, "sandbox.memory",     SCHEMA_SIZE,      "0",            0, 1e15, NULL, 0, "0: nine tenths of the memory of the machine that runs the job"},
    {SCHEMA_PROJECT, "sandbox.processes",  SCHEMA_COUNT,     "4096",         0, 1e6, NULL, 0, "at once, in the command's own process tree; 0: no limit, here and below"},
    {SCHEMA_PROJECT, "sandbox.disk",       SCHEMA_SIZE,      "10G",          0, 1e15, NULL, 0, "written below its folders"},
    {SCHEMA_PROJECT, "sandbox.output",     SCHEMA_SIZE,      "16M",          0, 1e15, NULL, 0, "stdout and stderr; first and last half are kept"},
    {SCHEMA_PROJECT, "isolation",          SCHEMA_CHOICE,    "of the kind",  0, 0, ISOLATIONS, 0, "exclusive: nothing else of ours works on the host while measuring; cpus: each worker measures on a CPU of its own, builds keep to others; kind exit: none"},
    {SCHEMA_PROJECT, "budget",             SCHEMA_SECTION,   NULL,           0, 0, NULL, 0, "of one bisection"},
    {SCHEMA_PROJECT, "budget.runs",        SCHEMA_COUNT,     "2000",         1, 1e6, NULL, 0, "measuring commands"},
    {SCHEMA_PROJECT, "budget.time",        SCHEMA_DURATION,  "none",         1, 366 * DAY_S, NULL, 0, "wall time, over all sittings"},
    {SCHEMA_PROJECT, "fixups",             SCHEMA_ITEMS,     NULL,           0, 0, NULL, 0, "what makes stretches of history build that do not by themselves; at most 64"},
    {SCHEMA_PROJECT, "fixups.*.range",     SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "needed; A..B, what B reaches and A does not; B alone, all that B reaches"},
    {SCHEMA_PROJECT, "fixups.*.patch",     SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "a file relative to this one, applied after checkout; at most 256K each, 512K together"},
    {SCHEMA_PROJECT, "fixups.*.commit",    SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "or the full hash of a commit to cherry-pick"},
    {SCHEMA_PROJECT, "fixups.*.environment", SCHEMA_MAP,     NULL,           0, 0, NULL, 0, "as environment, and over it, while building"},
    {SCHEMA_PROJECT, "confirm",            SCHEMA_CHOICE,    "none",         0, 0, "none revert", 0, "revert: the bad revision is measured with and without each culprit before that is believed"},
    {SCHEMA_PROJECT, "download",           SCHEMA_LATER,     NULL,           0, 0, NULL, 0, "not available in this version"},
    {SCHEMA_PROJECT, "revision_map",       SCHEMA_TEXT,      NULL,           0, 0, NULL, 0, "file of foreign revisions (Mercurial hashes, build IDs) and their commits, a tab between, relative to this one: for import"},
    {SCHEMA_PROJECT, "notify",             SCHEMA_LATER,     "{auto: no}",   0, 0, NULL, 0, "not available in this version"},
    {SCHEMA_PROJECT, "dependencies",       SCHEMA_LATER,     "[]",           0, 0, NULL, 0, "not available in this version"},
};
const size_t schema_len = LEN(schema);
/* clang-format on */

const struct schema_row *schema_find(enum schema_file file, const char *path)
{
    for (size_t i = 0; i < LEN(schema); i++) {
        if (schema[i].file == file && strcmp(schema[i].path, path) == 0)
            return &schema[i];
    }
    return NULL;
}

void schema_limits(const struct schema_row *row, char out[80])
{
    char low[32], high[32];

    if (row->type == SCHEMA_SIZE) {
        size_text((int64_t)row->low, low);
        size_text((int64_t)row->high, high);
    } else if (row->type == SCHEMA_DURATION) {
        duration_text((int64_t)(row->low * NS_PER_S), low);
        duration_text((int64_t)(row->high * NS_PER_S), high);
    } else {
        snprintf(low, sizeof(low), "%.0f", row->low);
        snprintf(high, sizeof(high), "%.0f", row->high);
    }
    snprintf(out, 80, "from %s to %s", low, high);
}

/* In the units of the row's limits. */
enum err_code schema_amount(const struct schema_row *row, const char *text, double *out)
{
    AUTO(mem_free) char *bare = mem_dup(text);
    int64_t whole = 0;
    const size_t n = strlen(bare);

    switch (row->type) {
    case SCHEMA_DURATION:
        if (duration_parse(text, &whole, NULL))
            return ERR_INVALID;
        *out = (double)whole / NS_PER_S;
        return ERR_OK;
    case SCHEMA_SIZE:
        if (text_size(text, &whole, NULL))
            return ERR_INVALID;
        *out = (double)whole;
        return ERR_OK;
    case SCHEMA_COUNT:
        if (text_int(text, INT64_MIN, INT64_MAX, &whole, NULL))
            return ERR_INVALID;
        *out = (double)whole;
        return ERR_OK;
    default:
        if (n > 0 && bare[n - 1] == '%')
            bare[n - 1] = '\0';
        return text_num(bare, out, NULL);
    }
}

const char *schema_amount_words(enum schema_type type)
{
    switch (type) {
    case SCHEMA_DURATION:
        return "a duration such as 90s, 5m or 2h";
    case SCHEMA_SIZE:
        return "a size such as 512K, 16M or 4G";
    case SCHEMA_PERCENT:
        return "a percentage such as 2 or 2%";
    default:
        return "a whole number";
    }
}

enum err_code schema_number(const struct schema_row *row, const char *text, int64_t *out,
                            struct err *e)
{
    double x = 0;

    if (schema_amount(row, text, &x))
        return err_set(e, ERR_INVALID, "%s: expected %s, got %s", row->path,
                       schema_amount_words(row->type), text);
    *out = row->type == SCHEMA_DURATION ? (int64_t)(x * NS_PER_S) : (int64_t)x;
    return ERR_OK;
}

size_t schema_words(char *copy, const char **words, size_t max)
{
    char *rest = NULL;
    size_t n = 0;

    for (char *w = strtok_r(copy, " ", &rest); w && n < max; w = strtok_r(NULL, " ", &rest))
        words[n++] = w;
    return n;
}

/* ---- printing ---- */

/* clang-format off */
static const char *const type_names[SCHEMA_TYPE_COUNT] = {
    [SCHEMA_TEXT] = "text", [SCHEMA_NAME] = "name", [SCHEMA_CHOICE] = "word",
    [SCHEMA_BOOL] = "yes or no", [SCHEMA_COUNT] = "number", [SCHEMA_DURATION] = "duration",
    [SCHEMA_SIZE] = "size", [SCHEMA_PERCENT] = "percent", [SCHEMA_LIST] = "list",
    [SCHEMA_MAP] = "map", [SCHEMA_SECTION] = "section", [SCHEMA_SECTIONS] = "sections",
    [SCHEMA_ITEMS] = "sections", [SCHEMA_PROJECTS] = "list", [SCHEMA_SUBMODULES] = "word or map", [SCHEMA_LATER] = "later",
};
static const struct { enum schema_file file; const char *name; } files[] = {
    {SCHEMA_DAEMON, "bisectd.yml"}, {SCHEMA_PROJECT, "project"}};
/* clang-format on */

static bool has_limits(const struct schema_row *row)
{
    return row->low != 0 || row->high != 0;
}

void schema_print(struct buf *out)
{
    for (size_t f = 0; f < LEN(files); f++) {
        buf_printf(out, "%s# %s\n", f ? "\n" : "", f ? "a project file" : "bisectd.yml");
        for (size_t i = 0; i < LEN(schema); i++) {
            const struct schema_row *row = &schema[i];
            char limits[96] = "";

            if (row->file != files[f].file)
                continue;
            if (has_limits(row))
                schema_limits(row, limits);
            buf_printf(out, "%-22s %-11s %-24s # %s%s%s%s%s\n", row->path, type_names[row->type],
                       row->standard ? row->standard : "-", row->help,
                       row->allowed ? "; one of: " : "", row->allowed ? row->allowed : "",
                       *limits ? "; " : "", limits);
        }
    }
}

static json *row_to_json(const struct schema_row *row)
{
    json *o = json_new_object();

    json_put(o, "key", json_new_string(row->path));
    json_put(o, "type", json_new_string(type_names[row->type]));
    json_put(o, "default", json_new_string(row->standard));
    if (row->allowed) {
        AUTO(mem_free) char *copy = mem_dup(row->allowed);
        const char *words[64];
        const size_t n = schema_words(copy, words, LEN(words));
        json *allowed = json_new_array();

        for (size_t i = 0; i < n; i++)
            json_push(allowed, json_new_string(words[i]));
        json_put(o, "allowed", allowed);
    }
    if (has_limits(row)) {
        json_put(o, "low", json_new_real(row->low));
        json_put(o, "high", json_new_real(row->high));
    }
    return json_put(o, "help", json_new_string(row->help));
}

json *schema_to_json(void)
{
    json *o = json_new_object();

    for (size_t f = 0; f < LEN(files); f++) {
        json *rows = json_new_array();

        for (size_t i = 0; i < LEN(schema); i++) {
            if (schema[i].file == files[f].file)
                json_push(rows, row_to_json(&schema[i]));
        }
        json_put(o, files[f].name, rows);
    }
    return o;
}
