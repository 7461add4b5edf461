/* SPDX-License-Identifier: Apache-2.0 */
/** System calls of Linux: which argument is a file, and what the call does to descriptors. */
#ifndef FORMATS_SYSCALL_H
#define FORMATS_SYSCALL_H

#include "base/auto.h"
#include <stdbool.h>

enum syscall_effect {
    SYSCALL_PLAIN,
    SYSCALL_OPEN,   /* gives a descriptor of the path */
    SYSCALL_MAKE,   /* gives a descriptor of something without a path */
    SYSCALL_PIPE,   /* fills an array of two descriptors */
    SYSCALL_DUP,    /* gives another descriptor of the same file */
    SYSCALL_DUP_TO, /* the same, to the second argument */
    SYSCALL_FCNTL,  /* F_DUPFD, F_DUPFD_CLOEXEC, F_SETFD */
    SYSCALL_CLOSE,
    SYSCALL_CLOSE_RANGE, /* first to last */
    SYSCALL_CLONE,       /* gives a process that shares or copies descriptors */
    SYSCALL_EXEC,        /* closes what is marked so */
    SYSCALL_UNSHARE
};

struct syscall_row {
    const char *name;
    signed char fd;   /* which argument, counted from 0, is a descriptor of the file; -1: none */
    signed char path; /* which is its path as a string; -1: none */
    signed char at; /* which is the descriptor of the folder that the path starts from; -1: none */
    enum syscall_effect effect;
    bool is_wait;     /* takes as long as others let it */
    const char *kind; /* SYSCALL_MAKE and _PIPE: what it makes, "socket" */
};
extern const struct syscall_row syscalls[];
extern const size_t n_syscalls;

/** NULL for one without a row: it is nothing to files, or unknown. `name` needs no terminator. */
const struct syscall_row *syscall_find(const char *name, size_t n);

/**
 * Whether the call's time is spent waiting for other processes or for a peer: wait4, poll, futex
 * and the like, and reads of pipes and sockets, as `path` says.
 */
bool syscall_waits(const char *name, const char *path);

#endif
