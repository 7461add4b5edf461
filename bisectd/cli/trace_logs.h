/* SPDX-License-Identifier: Apache-2.0 */
/** Logs of strace on disk: a file, the files of a folder, or those that `strace -ff -o NAME` left.
 */
#ifndef CLI_TRACE_LOGS_H
#define CLI_TRACE_LOGS_H

#include "base/err.h"
#include "formats/trace.h"

/** What was read. */
struct trace_logs {
    struct trace_table *table;
    struct strace_tally tally;
    size_t n_logs;
    size_t n_damaged; /* compressed ones that are damaged or end too early: read up to there */
    char *damage;     /* the first of these and what is wrong with it; NULL: none is */
    char *first_line; /* of the first log, its beginning, safe for a terminal; NULL: it has none */
};
void trace_logs_fini(struct trace_logs *l);
DEFINE_AUTO_FINI(struct trace_logs, trace_logs_fini)

/**
 * Reads plain, gzip or zstd logs in constant memory. A name that ends in .NUMBER (before .gz or
 * .zst) is that process's log of -ff; parents come before their children where their numbers do.
 *
 * Errors: ERR_NOT_FOUND (nothing there, no log in the folder), ERR_IO; ERR_INVALID (packed in
 *         another way; damaged before the first call; lines, and none that strace writes).
 */
MUST_CHECK enum err_code trace_logs_read(const char *path, const struct trace_filter *filter,
                                         struct trace_logs *out, struct err *e);

#endif
