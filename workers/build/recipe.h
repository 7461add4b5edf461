/* SPDX-License-Identifier: Apache-2.0 */
/** A project's build steps, run one after another on a checked-out revision. */
#ifndef BUILD_RECIPE_H
#define BUILD_RECIPE_H

#include "base/err.h"
#include "model/task.h"
#include "workers/sandbox/job_env.h"
#include "workers/sandbox/sandbox.h"

struct recipe {
    struct sandbox *sandbox;
    const struct project *project;
    const struct pairs *environment; /* NULL: the project's */
    const struct revision *revision;
    const cpu_set_t *cpus;  /* that steps may use; NULL: all of the worker's */
    struct job_place place; /* source holds the checkout; home and tmp are emptied before */
    struct clip *log;       /* gets a line a step and all output */
    enum job_go (*tick)(void *context);
    void *context;
};

struct recipe_outcome {
    enum build_status status; /* BUILD_OK, BUILD_FAILED, BUILD_TIMEOUT or BUILD_LIMIT */
    char reason[512];         /* for people; empty if ok */
};

/**
 * Runs the steps until one fails; one that leaves no source folder has failed. None is fine.
 * Errors: ours: those of sandbox_run; ERR_TIMEOUT "stopped" when tick said so.
 */
MUST_CHECK enum err_code recipe_run(const struct recipe *r, struct recipe_outcome *out,
                                    struct err *e);

#endif
