/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Logs of strace, read into a table.
 *
 * Takes what `strace` writes with any of -f -ff -y -yy -t -tt -ttt -r -T -c -C, one log or a folder
 * of -ff logs, in pieces of any size and in constant memory. Where the log has no -y, descriptors
 * are followed from the call that made them, so that fsync(3) has a path; that needs the calls that
 * open and close in the log, and with -ff threads that share descriptors cannot be told apart.
 *
 * Pure.
 */
#ifndef FORMATS_TRACE_H
#define FORMATS_TRACE_H

#include "formats/strace.h"
#include "formats/trace_table.h"

struct trace;

/** `filter` (NULL: all) and `into` are borrowed until trace_free. */
struct trace *trace_new(const struct trace_filter *filter, struct trace_table *into);
void trace_free(struct trace *t);
DEFINE_AUTO(struct trace, trace_free)

/** One call that came back; borrowed. */
struct trace_event {
    const char *call, *path; /* as in the table, unless rows ran out there */
    int64_t start_ns;        /* by the log's stamps: -t, -tt or -ttt */
    int64_t ns;              /* by -T */
};
/** Tells of each call whose two times are known, once it is in the table. */
void trace_watch(struct trace *t, void (*seen)(void *self, const struct trace_event *event),
                 void *self);

/** The next log of the set; `pid`: whose it is (the end of a -ff file's name), 0 if lines say.
 *  With -ff, hand parents in before their children (in the order of their pids). */
void trace_begin(struct trace *t, int64_t pid);
void trace_feed(struct trace *t, const char *bytes, size_t n);
/** The log's end: what is open in it never ends. */
void trace_end(struct trace *t);
/** The end of the last one. What was read, whatever the filter; borrowed. */
const struct strace_tally *trace_finish(struct trace *t);

#endif
