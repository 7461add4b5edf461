/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What `strace` writes, taken apart: bytes to system calls.
 *
 * Takes the output of any of -f -ff -y -yy -Y -t -tt -ttt -r -T -n -i -X -k -c -C in pieces of any
 * size. A call that is printed in two parts (unfinished, resumed) is put together again by its
 * process. Lines are told apart by their first bytes, and arguments are walked from the left by
 * their brackets, strings and <descriptors>: file names may hold anything, such as ") = 0". A line
 * that cannot be taken apart is counted, by reason, and passed over.
 *
 * Memory is constant: one line, and what is unfinished of each process, both with limits.
 *
 * Pure.
 */
#ifndef FORMATS_STRACE_H
#define FORMATS_STRACE_H

#include "base/auto.h"
#include "formats/strace_call.h"
#include "formats/strace_sum.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    STRACE_LINE_BYTES = MIB,      /* longer lines are passed over */
    STRACE_OPEN_MOST = 32768,     /* processes with an unfinished call at one time */
    STRACE_OPEN_BYTES = 12 * MIB, /* of unfinished calls together */
    STRACE_PART_BYTES = 16 * KIB  /* kept of an unfinished call's arguments */
};

/** Why a line, or a part of a call, is not what it should be. */
enum strace_reject {
    STRACE_UNKNOWN,      /* a line that strace does not write */
    STRACE_CUT,          /* a call that ends within the line, or the last line, cut off anywhere */
    STRACE_TOO_LONG,     /* a line longer than the limit */
    STRACE_NO_BEGINNING, /* resumed, and its beginning is not in the log: counted, without a path */
    STRACE_NO_END,       /* unfinished, and its end is not in the log: not counted */
    STRACE_NO_ROOM,  /* more unfinished calls or open files at once than are kept; once a line */
    STRACE_ODD_TIME, /* its time is none: counted, without a time */
    STRACE_REJECT_COUNT
};
/** For programs: "no_beginning". */
const char *strace_reject_name(enum strace_reject r);
/** For people: "lines that strace does not write". */
const char *strace_reject_words(enum strace_reject r);

struct strace_tally {
    uint64_t lines;
    uint64_t calls;     /* that came back */
    uint64_t restarted; /* interrupted, and begun again or given up: ERESTARTSYS and the like */
    uint64_t never;     /* that never came back: exit_group, killed */
    uint64_t summed;    /* calls of a table of -c */
    uint64_t others;    /* lines of strace about signals, ends of processes and the like */
    bool has_times;     /* some call had its time (-T) */
    bool has_files;     /* some descriptor had its file (-y) */
    uint64_t rejects[STRACE_REJECT_COUNT];
};

struct strace_events {
    void (*call)(void *context, const struct strace_call *c);
    /** The first part of a call: name, arguments so far and start. NULL: not told. */
    void (*begun)(void *context, const struct strace_call *c);
    /** The process ended, or was replaced. NULL: not told. */
    void (*gone)(void *context, int64_t pid);
    /** A row of a table of -c, if the log has no calls of its own. NULL: not told. */
    void (*sum)(void *context, const struct strace_sum *s);
    void *context;
};

struct strace;

/** `events` is copied. */
struct strace *strace_new(const struct strace_events *events);
void strace_free(struct strace *s);
DEFINE_AUTO(struct strace, strace_free)

/** The next log; `pid`: whose it is (the end of a -ff file's name), 0 if its lines say. Unfinished
 *  calls of other logs stay open: with -ff, exec of a thread goes on in another one. */
void strace_begin(struct strace *s, int64_t pid);
void strace_feed(struct strace *s, const char *bytes, size_t n);
/** The log ends here, perhaps in the middle of a line. */
void strace_end(struct strace *s);
/** All logs have ended: what is still open has no end. */
void strace_finish(struct strace *s);
struct strace_tally *strace_tally(struct strace *s);
/** For callbacks: what the line opens finds no room. Counts it, once a line. */
void strace_no_room(struct strace *s);

#endif
