/* SPDX-License-Identifier: Apache-2.0 */
/** One named quantity: kind, command, unit, which direction is worse. */
#ifndef MODEL_METRIC_H
#define MODEL_METRIC_H

#include "base/err.h"
#include "base/json.h"
#include "model/choice.h"
#include <stdbool.h>
#include <stdint.h>

enum metric_kind {
    METRIC_VALUE,
    METRIC_EXIT,
    METRIC_WALL,
    METRIC_CPU,
    METRIC_RSS,
    METRIC_TS,
    METRIC_COUNTER,
    METRIC_SYSCALLS,
    METRIC_SLOWSQL,
    /* Result formats; AUTO tells them apart by what they look like. */
    METRIC_AUTO,
    METRIC_PERFHERDER,
    METRIC_TALOS,
    METRIC_FILEIO,
    METRIC_HYPERFINE,
    METRIC_GBENCH,
    METRIC_PYTEST,
    METRIC_PERFSTAT,
    METRIC_CRITERION,
    METRIC_GOBENCH,
    METRIC_JMH,
    METRIC_LNT,
    METRIC_BMF,
    METRIC_OTAVA,
    METRIC_PLAIN,
    METRIC_KIND_COUNT
};
enum worse { WORSE_UP, WORSE_DOWN, WORSE_EITHER };
/** Unset means the median; but of kind value exactly one number is wanted then. */
enum reduce { REDUCE_UNSET, REDUCE_MEDIAN, REDUCE_MEAN, REDUCE_MIN, REDUCE_MAX, REDUCE_SUM };
enum on_timeout { TIMEOUT_UNTESTABLE, TIMEOUT_BAD };
/** Where stack, heap and libraries of a measured command lie: elsewhere each time, unless fixed. */
enum layout { LAYOUT_DEFAULT, LAYOUT_RANDOM, LAYOUT_FIXED };
/** What is made of system calls: their number unless said otherwise. */
enum metric_of { OF_DEFAULT, OF_COUNT, OF_TIME, OF_MS };
/** Whose slow statements count. */
enum metric_thread { THREAD_DEFAULT, THREAD_MAIN, THREAD_OTHER, THREAD_ALL };
/** What a metric or project leaves at ISOLATION_DEFAULT is settled by project_isolation(). */
enum isolation { ISOLATION_DEFAULT, ISOLATION_EXCLUSIVE, ISOLATION_CPUS, ISOLATION_NONE };

extern const struct choice isolation_choices[];

/** What a kind is before a user says anything; one row a kind. */
struct metric_kind_row {
    const char *name;
    const char *unit;
    enum worse worse;
    enum isolation isolation;
    bool is_rate;           /* pass or fail: samples are 0 (good) or 1 (bad), modelled as a rate */
    const char *const *keys; /* keys of this kind alone, NULL-terminated */
    const char *help;
};
extern const struct metric_kind_row metric_kinds[METRIC_KIND_COUNT];
/** Whether it is of a result format: a document of named results, of which some are meant. */
bool metric_is_results(enum metric_kind kind);

#define METRIC_TIMEOUT_NS INT64_C(600000000000) /* of one run, unless the metric says otherwise */

/** What kind syscalls counts unless it is told: what makes a program wait for the disk. */
#define METRIC_CALLS "fsync+fdatasync"

struct metric {
    char *name;
    enum metric_kind kind;
    char *command;
    char *unit;
    enum worse worse;
    enum reduce reduce;
    enum isolation isolation;
    enum on_timeout on_timeout;
    enum layout layout;
    uint32_t n_warmup;      /* runs thrown away each time a revision is set up to be measured */
    int64_t timeout_ns;     /* of one run */
    double min_effect_percent; /* of the good level (exit: percentage points); < 0: not set */
    char *file;             /* below $BISECTD_OUT, instead of stdout; NULL: stdout */
    char *regex;            /* value: first group; NULL: none */
    char *pointer;          /* value: JSON pointer (key "json"); NULL: none */
    char *ready;            /* ts: as of ready_parse; NULL: exit */
    bool is_cold;           /* ts: without page cache of the artifact */
    char *event;            /* counter: as perf calls it; NULL: instructions */
    char *suite, *test, *options, *field; /* result formats: which result (formats/select.h); NULL:
                                             not said */
    char *calls;            /* syscalls: names with + between; NULL: METRIC_CALLS */
    char *path;             /* syscalls: glob over a whole path, see trace_glob; NULL: any, and none */
    enum metric_of of;      /* syscalls: count or time; slowsql: ms or count */
    char *db;               /* slowsql: glob; NULL: any */
    char *statement;        /* slowsql: a part of its text; NULL: any */
    enum metric_thread thread; /* slowsql */
};

void metric_free(struct metric *m);
DEFINE_AUTO(struct metric, metric_free)
struct metric *metric_copy(const struct metric *m);
/** With the defaults of its kind. */
struct metric *metric_new(const char *name, enum metric_kind kind);

/** One key of a metric, as a project file, --metric KIND:KEY=VALUE and JSON all give it. "kind" is
 *  not a key here. ERR_INVALID names the nearest known key or the values allowed. */
MUST_CHECK enum err_code metric_set(struct metric *m, const char *key, const char *value, struct err *e);
/** "KIND[:KEY=VALUE,…]" with \, and \\ escapes. The metric is named after its kind. */
MUST_CHECK enum err_code metric_from_spec(const char *spec, struct metric **out, struct err *e);
/** What its kind, and what it counts, ask for: exact counts need no quiet. */
enum isolation metric_isolation(const struct metric *m);
/** Complete and consistent (a command, a regex that compiles, no regex and json together). */
MUST_CHECK enum err_code metric_check(const struct metric *m, struct err *e);

/** {"name", "kind", keys as in a project file}; there the name is the key of `metrics`. */
json *metric_to_json(const struct metric *m);
/** Checked too. Errors begin with the key at fault. */
MUST_CHECK enum err_code metric_from_json(const json *v, struct metric **out, struct err *e);

/** A kind of a later version is an error that says so. */
MUST_CHECK enum err_code metric_kind_parse(const char *s, enum metric_kind *out, struct err *e);
MUST_CHECK enum err_code worse_parse(const char *s, enum worse *out, struct err *e);
const char *worse_name(enum worse w);
const char *reduce_name(enum reduce r);       /* NULL: unset */
const char *isolation_name(enum isolation i); /* NULL: default */
/** The one number of a run. Pre: n > 0. */
double reduce_values(enum reduce how, const double *values, size_t n);

#endif
