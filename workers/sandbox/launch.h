/* SPDX-License-Identifier: Apache-2.0 */
/** The supervisor's child between fork and exec: how it becomes a job, or the walls of one. */
#ifndef SANDBOX_LAUNCH_H
#define SANDBOX_LAUNCH_H

#include "base/auto.h"
#include "workers/sandbox/order.h"

/* RLIMIT_NPROC counts threads, and those of everything the user runs. It is the wall behind the
 * limit that the worker watches, against a program that forks faster than that one looks. */
enum { LAUNCH_SPARE_THREADS = 256 };

/** Written by the child, read by the supervisor: lies in memory that they share. */
struct launch {
    int64_t exec_ns;
    int sys;
    char step[24];
};

/** What came with an order; the lists are NULL-terminated and point into the text. */
struct launch_plan {
    char **wall, **argv, **folder, **wanted, **environment;
    char *text;
    size_t n_text;
};

/** Reads it from the descriptor; false with errno. `out` is fresh ({0}), to be freed either way. */
MUST_CHECK bool launch_plan_read(const struct order *o, int fd, struct launch_plan *out);
void launch_plan_fini(struct launch_plan *p); /* keeps errno */
DEFINE_AUTO_FINI(struct launch_plan, launch_plan_fini)

/** In the child: becomes the command. `n_threads` is RLIMIT_NPROC; 0: none. */
_Noreturn void launch_job(const struct order *o, const struct launch_plan *p,
                          const int fds[ORDER_DESCRIPTORS], int64_t n_threads, struct launch *l);
/** In the child: becomes the program that puts up the walls, and bisect-job after that; `inside` is
 *  the socket of this one, and what both have for stdout and stderr. */
_Noreturn void launch_walls(const struct launch_plan *p, const int fds[ORDER_DESCRIPTORS],
                            const int inside[2], struct launch *l);

#endif
