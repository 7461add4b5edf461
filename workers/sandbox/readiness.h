/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Watching a job for the moment at which it is ready: the supervisor's part.
 *
 * How late it may be seen:
 *   line  as soon as poll(2) wakes us: the job's output runs through here on its way to the worker
 *   file  as soon as inotify wakes us; where it cannot watch (no such folder yet), as below
 *   port, http: a connection is tried every PROBE_LEAST_NS at first, and after 250 ms every 1/500
 * of the time gone by, at most PROBE_MOST_NS: within .2 %, or half a millisecond. Only `line` needs
 * the supervisor itself; for the rest a child of it looks. With walls all this is done inside,
 * where the job's files and ports are.
 */
#ifndef SANDBOX_READINESS_H
#define SANDBOX_READINESS_H

#include "model/ready.h"
#include "workers/sandbox/order.h"
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#define PROBE_LEAST_NS INT64_C(500000)
#define PROBE_MOST_NS  INT64_C(10000000)

struct relay; /* output on its way through */

struct readiness {
    enum ready_kind kind;
    uint16_t port;
    char *text;    /* line: what to look for; http: the request; file: an absolute path */
    int64_t at_ns; /* CLOCK_MONOTONIC; 0: not ready yet */
    int sys;       /* errno: looking does not work; 0: it does */
    int from_probe;
    struct relay *relays[2];
};

/**
 * Before the job is forked.
 *
 * Outputs: for `line` the two descriptors for its output are replaced; the ones that were there are
 *          the readiness's from now on.
 * Returns true when it would be ready without the job: nothing can be measured then.
 */
bool readiness_begin(struct readiness *r, const struct order *o, const char *text,
                     int fds[ORDER_DESCRIPTORS]);
/** After it: starts to look. */
void readiness_watch(struct readiness *r);

enum { READINESS_FDS = 3 };
/** What to poll for; returns how many. */
size_t readiness_poll(const struct readiness *r, struct pollfd fds[READINESS_FDS]);
/** Looks at what there is, without waiting. */
void readiness_turn(struct readiness *r);
/** The command has ended: what it did just before that still counts. Waits at most 20 ms. */
void readiness_last_look(struct readiness *r);
/** When nothing of the job is left: passes the rest of its output on, and frees. */
void readiness_end(struct readiness *r);

#endif
