/* SPDX-License-Identifier: Apache-2.0 */
/** The processes below one process, as /proc shows them at this moment. */
#ifndef SANDBOX_TREE_H
#define SANDBOX_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { TREE_MAX = 32768 };

/** Writes the descendants of `root` (not itself), parents before children; returns how many, at
 *  most `max`. A child that is being born may be missed: look again. Allocates nothing. */
size_t tree_list(pid_t root, pid_t *out, size_t max);

/** How many of them have not ended; those that nobody has reaped yet do not count. */
size_t tree_count(pid_t root);

struct tree_usage {
    size_t n_processes;
    int64_t memory_bytes; /* private to the processes: resident less shared */
};
struct tree_usage tree_measure(pid_t root);

/** Threads of all processes that user has now, as RLIMIT_NPROC counts them. */
int64_t tree_user_threads(uid_t uid);

/**
 * Kills every descendant of this process and reaps them.
 *
 * Freezes first, so that a program that forks without end is caught. `reaped` is called for each.
 * Pre:    this process is a child subreaper, so that nothing can slip out of the tree.
 * Returns 0 when none is left, or the number still there after `patience_ns` (stuck in the kernel).
 */
struct rusage;
size_t tree_kill_own(int64_t patience_ns,
                     void (*reaped)(void *context, pid_t pid, int status,
                                    const struct rusage *used),
                     void *context);

#endif
