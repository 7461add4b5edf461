/* SPDX-License-Identifier: Apache-2.0 */
/** The table that `strace -c` writes: header, rule, a row a call, rule, total. Pure. */
#ifndef FORMATS_STRACE_SUM_H
#define FORMATS_STRACE_SUM_H

#include "formats/strace_call.h"

/** A row of it. */
struct strace_sum {
    struct strace_text name;
    uint64_t calls, errors;
    int64_t ns; /* -1: no such column; in the system, or elapsed with -w: the table does not say */
};

/** How far a table has been read; {0}: none has begun. */
struct strace_sums {
    enum { STRACE_SUMS_NONE, STRACE_SUMS_HEAD, STRACE_SUMS_ROWS, STRACE_SUMS_TOTAL } state;
    int n_columns;
    int name, calls, errors, seconds; /* columns; -1: not there (-U) */
};

enum strace_sums_line { STRACE_SUMS_NOT, STRACE_SUMS_FRAME, STRACE_SUMS_ROW };

/** Whether the line belongs to a table; *row of a STRACE_SUMS_ROW. */
enum strace_sums_line strace_sums_read(struct strace_sums *s, const char *p, const char *end,
                                       struct strace_sum *row);

#endif
