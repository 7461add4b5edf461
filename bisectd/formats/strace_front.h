/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What strace writes in front of an event: process, time, and what else was asked for; and whose a
 * line without a process is.
 *
 * Pure.
 */
#ifndef FORMATS_STRACE_FRONT_H
#define FORMATS_STRACE_FRONT_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

enum { STRACE_LIVE_MOST = 32768 }; /* processes of a terminal's log that are told apart */

/**
 * The processes of one log. A terminal shows numbers only while there is more than one process; a
 * line without is the only one's. The first process began without a number, and stays 0.
 */
struct strace_pids {
    int64_t log_pid; /* of a -ff log; else 0 */
    int64_t leader;  /* the number of the first process; 0: not known yet */
    bool is_leader_gone;
    int64_t *live; /* other processes that live */
    size_t n_live, cap;
};

void strace_pids_fini(struct strace_pids *p);
/** Starts on another log. */
void strace_pids_begin(struct strace_pids *p, int64_t log_pid);
/** Somebody said that the process is there. */
void strace_pids_add(struct strace_pids *p, int64_t pid);
void strace_pids_remove(struct strace_pids *p, int64_t pid);

struct strace_front {
    int64_t pid;
    int64_t start_ns; /* -1 if the line has no time, or that of -r alone */
};

/** Reads from `p` on; returns where the event begins. */
const char *strace_front_read(struct strace_pids *pids, const char *p, const char *end,
                              struct strace_front *f);

#endif
