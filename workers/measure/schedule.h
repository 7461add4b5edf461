/* SPDX-License-Identifier: Apache-2.0 */
/** Taking a task's runs, in the order given. */
#ifndef MEASURE_SCHEDULE_H
#define MEASURE_SCHEDULE_H

#include "base/err.h"
#include "model/task.h"
#include "workers/sandbox/job_env.h"
#include "workers/sandbox/sandbox.h"

enum { RUN_ATTEMPTS = 3 }; /* a run that could not be measured is tried so often */

/** One of the spec's builds, ready to be measured or not. */
struct schedule_build {
    char *folder; /* holds its artifact and nothing else; NULL: not to be had; gone afterwards if a
                     run has removed it */
    char *reason; /* then: why, for people */
};

struct schedule {
    struct sandbox *sandbox;
    const struct project *project;
    const struct metric *metric;
    const struct task_spec *spec;
    const struct schedule_build *builds; /* spec->n_builds */
    struct job_place place; /* source must not be there: each build's folder is moved to it in turn,
                               so that all are measured at one path, and moved back */
    const cpu_set_t *cpus;  /* that runs may use; NULL: all of the worker's */
    const char *out;        /* $BISECTD_OUT; kinds that wrap the command use OUT.kind beside it */
    struct clip *log;
    /** Told before each run: which, counted from 0, and of what. NULL: nobody. */
    void (*progress)(void *context, size_t run, const struct revision *revision);
    enum job_go (*tick)(void *context);
    void *context;
    /** Told how the command ended, each time but for warm-ups. NULL: nobody. */
    void (*ended)(void *onlooker, const struct job_outcome *o);
    void *onlooker;
};

/**
 * Takes the runs: each revision's warm-ups before its first; again, up to RUN_ATTEMPTS, what could
 * not be measured; then no more of that revision. A command that removes the folder that it runs in
 * cannot be measured.
 *
 * Outputs: a result for each attempt, and one for each run that was not begun. Caller frees items
 *          with run_result_fini and the array with mem_free.
 * Errors:  ours: those of sandbox_run; ERR_IO; ERR_TIMEOUT "stopped" when tick said so.
 */
MUST_CHECK enum err_code schedule_run(const struct schedule *s, struct run_result **runs,
                                      size_t *n_runs, struct err *e);

void run_result_fini(struct run_result *r);

#endif
