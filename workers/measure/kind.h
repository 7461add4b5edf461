/* SPDX-License-Identifier: Apache-2.0 */
/** What a metric kind makes of one finished job. A kind is a row of the table and a file. */
#ifndef MEASURE_KIND_H
#define MEASURE_KIND_H

#include "model/task.h"
#include "workers/sandbox/sandbox.h"

struct observation {
    const struct metric *metric;
    const struct job_outcome *outcome;
    const struct clip *out; /* the command's stdout, or what it wrote to the metric's file */
    const struct clip *log; /* stdout and stderr as they came */
    const char *folder;     /* the kind's own, as the job left it; NULL: it asked for none */
    struct clip *notes;     /* lines to add to the run's log: what the number does not say */
};

/** What came of it. Pre: written fresh ({0}, value nan). */
struct reading {
    enum run_status status; /* RUN_OK, RUN_CANNOT or RUN_ABORT */
    bool is_final;          /* a RUN_CANNOT that trying again cannot change */
    char reason[512];       /* for people; with RUN_OK only where there is something to say */
    size_t n_values;
    double *values;
    double value; /* the one they are reduced to */
};
void reading_fini(struct reading *r);
DEFINE_AUTO_FINI(struct reading, reading_fini)

struct kind_row {
    enum metric_kind kind;
    bool takes_any_exit; /* a status is what it measures; for the rest, one that is not 0 is a
                            failure to measure and does not get to `read` */
    /**
     * Writes the shell command that is run in place of the metric's own, which it wraps; its exit
     * status is to be that one's. NULL: the metric's own is run.
     *
     * `folder`: for what the wrapper leaves for `read`; empty before each run, and named as the job
     *           sees it, which is not how `read` does.
     * Errors: in words, after "cannot measure: "; nothing is run then, and trying again is no use.
     */
    enum err_code (*command)(const struct metric *m, const char *folder, struct buf *out,
                             struct err *e);
    void (*read)(const struct observation *o, struct reading *r);
};
extern const struct kind_row kind_rows[];
extern const size_t n_kind_rows;
/** Whether its counts are to be the same each time: memory then lies at fixed addresses, unless the
 *  metric says otherwise, and $BISECTD_RUN and $BISECTD_SEED are 1 in all runs. */
bool kind_is_exact(enum metric_kind kind);
/** NULL for one that this worker cannot measure. */
const struct kind_row *kind_of(enum metric_kind kind);

/** "exec PROGRAM", or ERR_NOT_FOUND that names the Debian package it comes with. For `command`. */
MUST_CHECK enum err_code kind_program(const char *program, const char *package, struct buf *out,
                                      struct err *e);
/** The reading of a job, whatever its end; limits in time are the caller's to judge. */
void kind_read(const struct kind_row *kind, const struct observation *o, struct reading *r);

/** Writes the reason: `what`, how the job ended and the last line that it printed. */
void reading_quote(struct reading *r, const char *what, const struct observation *o);

/** For kinds with one number. */
void reading_set(struct reading *r, double value);
/** `n` in the metric's unit where that is one for time (memory), else in the kind's own. */
void reading_set_time(struct reading *r, const struct metric *m, int64_t ns);
void reading_set_memory(struct reading *r, const struct metric *m, int64_t bytes);

/** What the command printed, read by formats/format.h. */
void kind_format(const struct observation *o, struct reading *r);
void kind_exit(const struct observation *o, struct reading *r);
void kind_wall(const struct observation *o, struct reading *r);
void kind_cpu(const struct observation *o, struct reading *r);
void kind_rss(const struct observation *o, struct reading *r);
void kind_ts(const struct observation *o, struct reading *r);
enum err_code command_counter(const struct metric *m, const char *folder, struct buf *out,
                              struct err *e);
/** Whether instructions are counted here by a program that plays a processor, some 50 times slower.
 */
bool counter_is_simulated(void);
void kind_counter(const struct observation *o, struct reading *r);
enum err_code command_syscalls(const struct metric *m, const char *folder, struct buf *out,
                               struct err *e);
void kind_syscalls(const struct observation *o, struct reading *r);

#endif
