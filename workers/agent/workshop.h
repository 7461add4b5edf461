/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The folders of one worker, and what it works with.
 *
 *     source/    the checkout while building, one artifact's files while measuring: one path for
 * all parked/    the checkout while measuring ready/N/   artifacts of the task's builds, unpacked
 *     home/ tmp/ out/   of jobs
 *     scratch/   tar files under way
 *     cache/     repositories fetched; kept
 *     artifacts/ unless another folder is named; kept
 */
#ifndef AGENT_WORKSHOP_H
#define AGENT_WORKSHOP_H

#include "base/err.h"
#include "wire/http.h"
#include "workers/build/artifact.h"
#include "workers/sandbox/job_env.h"
#include "workers/sandbox/sandbox.h"
#include <stdbool.h>

struct workshop {
    char *folder;
    char *source, *parked, *ready, *home, *tmp, *out, *scratch, *cache;
    int lock; /* on the folder, so that no other worker uses it */
    struct artifacts *artifacts;
    bool is_shared;          /* the coordinator sees the same folder of artifacts */
    struct sandbox *sandbox; /* borrowed */
    char *name, *host, *platform;
    const char *lock_folder; /* of the host lock; NULL: the usual one */
};

struct workshop_options {
    const char *folder;
    const char *artifacts; /* NULL: a folder of its own */
    const char *name, *host, *platform;
    struct sandbox *sandbox;
};

/** Takes the folder over, and cleans it of an earlier life. ERR_CONFLICT: another worker has it. */
MUST_CHECK enum err_code workshop_new(const struct workshop_options *o, struct workshop **out,
                                      struct err *e);
void workshop_free(struct workshop *w);
DEFINE_AUTO(struct workshop, workshop_free)

/** Where jobs run. */
struct job_place workshop_place(const struct workshop *w);
/** Frees the path `source` for measuring, and puts the checkout back. Both may be repeated. */
MUST_CHECK enum err_code workshop_park(const struct workshop *w, struct err *e);
MUST_CHECK enum err_code workshop_unpark(const struct workshop *w, struct err *e);
/** True when there is hardly any room left: what fails now fails for that reason. */
bool workshop_is_full(const struct workshop *w);

#endif
