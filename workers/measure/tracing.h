/* SPDX-License-Identifier: Apache-2.0 */
/** A command under strace or perf, and what their logs say. */
#ifndef MEASURE_TRACING_H
#define MEASURE_TRACING_H

#include "base/buf.h"
#include "base/err.h"
#include "model/inspection.h"
#include "workers/sandbox/job_env.h"

struct tracing {
    char *strace, *taskset, *perf; /* shell words; but for strace NULL: not here */
    char *log;             /* where strace writes; in the job's $TMPDIR, which is fresh each run */
    struct job_place seen; /* the folders as the job knows them; borrowed */
    int cpu;               /* for tracer and traced; -1: any */
    char *calls;           /* to be timed, with commas between; NULL: not chosen yet */
};

/** ERR_NOT_FOUND: no strace on this worker. `tmp`: the job's, as we know it; `cpu`: to run on, -1
 *  for any. */
MUST_CHECK enum err_code tracing_init(struct tracing *t, const char *tmp,
                                      const struct job_place *seen, int cpu, struct err *e);
void tracing_fini(struct tracing *t);

/** A command that runs `command` untraced where it is traced, on that CPU. */
void tracing_pin(const struct tracing *t, const char *command, struct buf *out);

/** A command that counts all calls of `command`, and what it left. */
void tracing_count(const struct tracing *t, const char *command, struct buf *out);
void tracing_read_counts(const struct tracing *t, struct inspected_run *r);

/** Chooses the calls to be timed: those whose number or time differs between runs that counted
 *  (none: a list of the usual ones), those that write to disk, and those that the metric is of. */
void tracing_choose(struct tracing *t, const struct metric *m, const struct inspection *seen);

/** What a traced call costs more than one that is not. */
struct trace_cost {
    int64_t call_ns;    /* of the time that strace states */
    int64_t elapsed_ns; /* of the time that goes by */
};
/** A command of trivial calls, and what its log says of the cost; false if nothing. */
void tracing_weigh(const struct tracing *t, struct buf *out);
bool tracing_read_cost(const struct tracing *t, struct trace_cost *cost);

/** A command that times the chosen calls of `command`; what it left, less the cost. Pre: r->seconds
 *  is the elapsed time; the cost is taken off that too. */
void tracing_time(const struct tracing *t, const char *command, struct buf *out);
void tracing_read_times(const struct tracing *t, const struct trace_cost *cost,
                        struct inspected_run *r);

/** A command that samples which functions `command` is busy in; false without perf. */
bool tracing_sample(const struct tracing *t, const char *command, struct buf *out);
void tracing_read_samples(const struct tracing *t, struct inspected_run *r);

#endif
