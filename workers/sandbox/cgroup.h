/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Control groups: where the kernel itself keeps a job to its memory and number of processes.
 *
 * Version 2 where it has the controllers, else version 1, below the group that this process is in
 * or beside it. Where none can be made a job's limits are kept by looking at it ten times a second.
 */
#ifndef SANDBOX_CGROUP_H
#define SANDBOX_CGROUP_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

enum { CGROUP_FILES = 2 };

/** Where groups can be made. */
struct cgroups;
/** Tries it: forks a child that enters a group and leaves. Removes groups of workers that died. */
struct cgroups *cgroups_new(void);
void cgroups_free(struct cgroups *g);
DEFINE_AUTO(struct cgroups, cgroups_free)
/** "memory and processes", "processes" or "" . Static. */
const char *cgroups_keep(const struct cgroups *g);

struct cgroup_limits {
    int64_t memory_bytes; /* 0: none, here and below */
    int64_t n_threads;    /* the kernel counts these, not processes */
};

/** A job's group; NULL if none can be made or there is nothing to limit. */
struct cgroup *cgroup_new(struct cgroups *g, const struct cgroup_limits *l);
/** Removes it. Pre: its processes have ended. */
void cgroup_free(struct cgroup *c);
DEFINE_AUTO(struct cgroup, cgroup_free)

/** The cgroup.procs files, for those who enter; -1 for what is not there. Borrowed. */
void cgroup_files(const struct cgroup *c, int fds[CGROUP_FILES]);

struct cgroup_events {
    bool has_lacked_memory; /* a process was killed for want of it */
    bool has_lacked_threads;
};
struct cgroup_events cgroup_look(const struct cgroup *c);

#endif
