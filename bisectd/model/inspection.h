/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a worker saw of a culprit and its parent, run in turn: untraced, with all system calls
 * counted, with the calls that differ timed, with functions sampled and instructions counted.
 * Numbers of each run as they are; what follows from them is the coordinator's to say
 * (report/explain.h).
 */
#ifndef MODEL_INSPECTION_H
#define MODEL_INSPECTION_H

#include "base/auto.h"
#include "base/err.h"
#include "base/json.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    INSPECTION_BUILDS = 2,  /* of its task: the parent, then the culprit */
    INSPECTION_RUNS = 64,   /* at most */
    INSPECTION_CALLS = 2000 /* at most, of one run; the rest is summed up by call */
};
/** The path of what is summed up. */
#define INSPECTION_REST "(other files)"

enum inspected_how {
    INSPECTED_PLAIN,       /* untraced: what it used */
    INSPECTED_COUNTS,      /* every call counted, paths unknown */
    INSPECTED_TIMES,       /* chosen calls timed, by file */
    INSPECTED_SYMBOLS,     /* where processor time went: of a call, `call` is a function, `path` the
                             program or library it is in, n the samples */
    INSPECTED_INSTRUCTIONS /* counted in user space: `count`, `by` */
};

/** Calls of one name on one file, in one run. */
struct inspected_call {
    char *call;
    char *path; /* "" where there is none, or none is known */
    bool is_directory;
    uint64_t n;        /* that came back */
    uint64_t n_errors; /* of these: failed */
    /** Elapsed, less what tracing adds; where calls of several threads or processes overlap, the
     *  time is split among them, so that no sum passes the run's elapsed time. */
    double seconds;
};

/** What a run used, from the kernel's books. */
struct usage {
    double user_s, system_s;
    int64_t minor_faults, major_faults;
    int64_t waits;                     /* voluntary context switches */
    int64_t preemptions;               /* involuntary ones */
    int64_t read_bytes, written_bytes; /* from and to disks */
};

struct inspected_run {
    uint32_t build; /* 0: the parent, 1: the culprit */
    enum inspected_how how;
    double seconds; /* elapsed, less what tracing adds */
    bool has_usage;
    struct usage usage;
    double count; /* of instructions */
    char *by;     /* what has counted them: "perf version 6.1"; NULL: nothing has */
    size_t n_calls;
    struct inspected_call *calls;
};

struct inspection {
    char *error;    /* why there is nothing to see; NULL: there is */
    char *timed;    /* the calls that were timed, with commas between */
    bool is_pinned; /* traced on one CPU, tracer and traced alike */
    double cost_us; /* what a traced call takes longer; taken off all times below */
    size_t n_runs;
    struct inspected_run *runs;
};

void inspection_free(struct inspection *v);
DEFINE_AUTO(struct inspection, inspection_free)
/** A fresh one at the end. Good until the next is added. */
struct inspected_run *inspection_add_run(struct inspection *v);
/** Forgets the last one. Pre: there is one. */
void inspection_drop_run(struct inspection *v);
struct inspected_call *inspected_run_add_call(struct inspected_run *r, const char *call,
                                              const char *path);
json *inspection_to_json(const struct inspection *v);
MUST_CHECK enum err_code inspection_from_json(const json *v, struct inspection **out,
                                              struct err *e);

#endif
