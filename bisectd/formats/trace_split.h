/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Elapsed time split among calls that overlap.
 *
 * Calls of several threads or processes may be open at once; their times add up to more than has
 * gone by. Here each moment is given out once: among the calls open then of the first rank that
 * there is, in equal parts. So no sum passes the time in which any call was open.
 *
 * Pure. Time n log n, and n times as many as are open at once.
 */
#ifndef FORMATS_TRACE_SPLIT_H
#define FORMATS_TRACE_SPLIT_H

#include "base/auto.h"
#include <stdint.h>

enum trace_rank {
    TRACE_WORKS,   /* does something: reads, writes, syncs */
    TRACE_AWAITS,  /* sleeps, or waits for somebody outside: poll, a read of a socket */
    TRACE_ATTENDS, /* waits for processes or threads of its own, whose time is their calls': wait4,
                      futex, a read of a pipe */
    TRACE_RANKS
};
enum trace_rank trace_rank_of(const char *call, const char *path);

struct trace_split;

struct trace_split *trace_split_new(void);
void trace_split_free(struct trace_split *s);
DEFINE_AUTO(struct trace_split, trace_split_free)

/** A call that was open from `start_ns` for `ns`, by any clock; it counts for `row`, which is the
 *  caller's numbering. */
void trace_split_add(struct trace_split *s, uint32_t row, int64_t start_ns, int64_t ns,
                     enum trace_rank rank);
/** Adds what each row has to `out_ns`, which has room for all rows. */
void trace_split_give(struct trace_split *s, double *out_ns);

#endif
