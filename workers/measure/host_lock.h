/* SPDX-License-Identifier: Apache-2.0 */
/**
 * While one of our workers on this host measures, none builds or measures.
 *
 * Two flocks below /tmp/bisectd-<uid>/: who wants the host takes `host.gate`, then `host.lock`
 * (shared to build, exclusive to measure), then lets the gate go. One who waits to measure holds
 * the gate, so that builders that come one after another cannot keep it waiting for ever. Locks end
 * with their holder, however it ends.
 *
 * Who measures on one CPU, and who builds on others than those for measuring, share `host.lock` as
 * builders do; byte N of it is locked by who measures on CPU N, and for reading by who may run on
 * any.
 */
#ifndef MEASURE_HOST_LOCK_H
#define MEASURE_HOST_LOCK_H

#include "base/auto.h"
#include "base/err.h"
#include <sched.h>

enum host_use {
    HOST_BUILD,       /* on any CPU */
    HOST_MEASURE,     /* alone */
    HOST_BUILD_ASIDE, /* on none of the CPUs for measuring */
    HOST_MEASURE_ON   /* on one of `among`, which is in `cpu` then */
};

struct host_lock {
    int fd; /* -1: not held */
    const cpu_set_t *among;
    int cpu;
};

/**
 * Waits until the host may be used so.
 *
 * `folder`: NULL for the usual one; made 0700, and refused if somebody else could write to it.
 * `may_go_on` is asked about every 50 ms while waiting (NULL: waits for ever).
 * Errors: ERR_TIMEOUT "stopped", ERR_DENIED (the folder is not ours alone), ERR_IO.
 */
MUST_CHECK enum err_code host_lock_take(struct host_lock *l, const char *folder, enum host_use use,
                                        int (*may_go_on)(void *context), void *context,
                                        struct err *e);
/** Not held is fine. */
void host_lock_release(struct host_lock *l);
DEFINE_AUTO_FINI(struct host_lock, host_lock_release)

#endif
