/* SPDX-License-Identifier: Apache-2.0 */
/** What a job sees of its surroundings: folders and environment, the same for every revision. */
#ifndef SANDBOX_JOB_ENV_H
#define SANDBOX_JOB_ENV_H

#include "base/err.h"
#include "model/project.h"
#include "model/revision.h"
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/** One constant for all revisions, so that artifacts can be identical: 2000-01-01. */
#define JOB_SOURCE_DATE_EPOCH 946684800

enum job_phase { JOB_BUILD, JOB_MEASURE };

/** The folders of a job; a worker has one place, at constant paths. NULL: it has no such one. */
struct job_place {
    const char *source; /* where commands start */
    const char *home;
    const char *tmp;
    const char *out; /* $BISECTD_OUT */
    const char *own; /* of what wraps the command */
};

/** Bytes that the folders of the place take on disk; stops counting once over `enough_bytes`. */
int64_t job_place_usage(const struct job_place *place, int64_t enough_bytes);

/**
 * Fills `out` ("KEY=value") with PATH HOME TMPDIR LC_ALL TZ SOURCE_DATE_EPOCH, the `own`
 * variables (the project's; they win over those), and BISECTD_SOURCE, _REVISION, _PHASE and _JOBS
 * (which win over all). PATH is this process's.
 *
 * GIT_CEILING_DIRECTORIES, which wins over all too, is the folder above the source folder: source,
 * home and tmp are no repository, and `git` in them says so, where it would else go up and find one
 * that happens to be around the worker's folder (a store in .git/bisectd), and work on that.
 */
void job_env_fill(struct strings *out, const struct pairs *own, const struct job_place *place,
                  const struct revision *revision, enum job_phase phase);
/** Sets BISECTD_JOBS for a job that may not use all CPUs; NULL changes nothing. */
void job_env_cpus(struct strings *env, const cpu_set_t *cpus);
/** Adds a variable, or changes it. */
void job_env_set(struct strings *env, const char *key, const char *value);

/**
 * Whether what a job has left at the path still is a folder; its owner may go in and write again.
 * False for anything else, such as a link to somewhere.
 */
bool job_folder_survives(const char *path);
/** Removes what is in the folder and makes it anew. */
MUST_CHECK enum err_code job_folder_empty(const char *path, struct err *e);

#endif
