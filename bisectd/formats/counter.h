/* SPDX-License-Identifier: Apache-2.0 */
/** One hardware or software event, counted over a command. */
#ifndef FORMATS_COUNTER_H
#define FORMATS_COUNTER_H

#include "base/err.h"
#include <stddef.h>

/**
 * What `perf stat -x, -e EVENT` has written: one line with a number. Where perf had to share the
 * counter, the number is its own estimate of the whole.
 *
 * Errors: ERR_NOT_FOUND (the machine does not count this), ERR_INVALID (no such output), in words
 *         that fit after "cannot measure: ".
 */
MUST_CHECK enum err_code counter_read_perf(const char *text, size_t n, double *out, struct err *e);

/** The end of a file that callgrind has written for one process: its instructions. */
MUST_CHECK enum err_code counter_read_callgrind(const char *text, size_t n, double *out,
                                                struct err *e);

#endif
