/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Workers of our own on this machine: started, watched, started again.
 *
 * They die with us (a parent-death signal) and are children of the calling thread. Workers that
 * connect by themselves (engine "pool") need nothing started and have no code here.
 */
#ifndef ENGINE_LOCAL_H
#define ENGINE_LOCAL_H

#include "base/clock.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct local_options {
    const char *program;  /* path of bisect-worker */
    const char *socket;   /* of the coordinator */
    const char *data_dir; /* folders work/<i> and artifacts are in it */
    const char *platform; /* NULL: the worker's own default */
    uint32_t n_workers;
};

struct local;

/** Copies the options. Starts nothing yet. */
struct local *local_new(const struct local_options *o);
/** Stops what still runs, without waiting. */
void local_free(struct local *l);
DEFINE_AUTO(struct local, local_free)

uint32_t local_count(const struct local *l);
/** "local-0" and so on. Borrowed. */
const char *local_name(const struct local *l, uint32_t i);
/** Is this worker one of ours? */
bool local_has(const struct local *l, const char *name);

/** Starts those that are due. A start that fails is logged and due again later. */
void local_start_due(struct local *l, struct mono now);
/** When the next start is due; false: all run. */
bool local_deadline(const struct local *l, struct mono *out);

/**
 * Looks for a worker that has ended since the last call: its index, or -1 for none.
 *
 * It is due again after a pause that doubles with each quick death, from 0.2 s up to 30 s.
 */
int local_reap(struct local *l, struct mono now);

/** Asks all to stop, waits up to `grace_ns`, then kills. None is started after this. */
void local_stop(struct local *l, int64_t grace_ns);

#endif
