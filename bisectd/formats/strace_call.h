/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One system call as strace prints it, taken apart: name(arguments) = result.
 *
 * Pure, and without allocation: all text is borrowed from the line.
 */
#ifndef FORMATS_STRACE_CALL_H
#define FORMATS_STRACE_CALL_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

enum { STRACE_ARGS_MOST = 6 }; /* more arguments are counted, not given */

struct strace_text {
    const char *s; /* not terminated; NULL if absent */
    size_t n;
};

enum strace_end { STRACE_RETURNED, STRACE_RESTARTED, STRACE_NEVER };

/** Everything borrowed, until the callback returns. */
struct strace_call {
    int64_t pid; /* 0: the log does not say */
    struct strace_text name;
    size_t n_args; /* as printed; those past STRACE_ARGS_MOST are not in `args` */
    struct strace_text args[STRACE_ARGS_MOST];
    bool lacks_args; /* its beginning is not in the log */
    enum strace_end end;
    int64_t value;            /* what it returned; 0 where it did not */
    struct strace_text file;  /* of the returned descriptor, as in strace_file */
    struct strace_text error; /* "ENOENT"; absent: it did not fail */
    int64_t start_ns;         /* by -t, -tt (of the day) or -ttt (since 1970); -1: unknown */
    int64_t ns;               /* by -T; -1: unknown */
    bool has_odd_time;        /* where -T has its time stands what is none: <-5.0>, <nan> */
};

enum strace_form {
    STRACE_WHOLE,      /* has its result */
    STRACE_UNFINISHED, /* ends in <unfinished ...>: the rest comes in another line */
    STRACE_MOVED,      /* ends in <pid changed to N ...>: it comes under that process */
    STRACE_DETACHED,   /* ends in <detached ...>: nothing comes */
    STRACE_BROKEN,     /* ends where it should not */
    STRACE_NO_CALL     /* begins with no name and bracket */
};

/**
 * Reads `n` bytes from a call's name on into all of `c` but pid, lacks_args and start_ns.
 *
 * Outputs: of all forms but the last the name; of those unfinished the arguments so far, *n_part:
 *          the bytes in front of the mark, and *moved_to: N.
 */
enum strace_form strace_call_read(const char *s, size_t n, struct strace_call *c, size_t *n_part,
                                  int64_t *moved_to);

/* ---- arguments ---- */

/** A leading number, as of a descriptor; AT_FDCWD is -100. False if there is none. */
bool strace_number(struct strace_text arg, int64_t *out);
/**
 * What stands in < > after a descriptor: a path, or "pipe:[7]". Marks of deleted files and of
 * devices are left away. Absent if there is none. Still escaped, see strace_unescape.
 */
struct strace_text strace_file(struct strace_text arg);
/** What stands in quotes, still escaped; absent if the argument is no string. */
struct strace_text strace_string(struct strace_text arg);
/** Undoes escapes (\n, \74, \x3c) up to a NUL; at most `room` bytes with its own NUL. */
void strace_unescape(struct strace_text text, char *out, size_t room);

#endif
