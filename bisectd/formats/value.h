/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Numbers out of what a measuring command wrote: plain text, a regular expression or a JSON
 * pointer.
 *
 * Pure. Nothing that model/quantity.h refuses ever becomes a value: what is no finite number, or
 * over its limit.
 */
#ifndef FORMATS_VALUE_H
#define FORMATS_VALUE_H

#include "base/err.h"
#include "model/metric.h"

enum { VALUES_MOST = 10000 };

/** All numbers of one run, and the one they are reduced to. */
struct values {
    size_t n;
    double *items;
    double reduced;
    char *note; /* what a person should know of them; NULL: nothing */
};
void values_fini(struct values *v);
DEFINE_AUTO_FINI(struct values, values_fini)

/**
 * Reads `n` bytes (the command's stdout, or the metric's file) as the metric says:
 *
 * regex    the first group of every match (the whole match if it has none); extended POSIX syntax,
 *          line by line, lines of at most 64 KiB
 * pointer  the number there, or an array of numbers
 * neither  numbers and white space only; with reduce set, one number a line
 *
 * More than one number needs m->reduce. `out` is fresh ({0}) and written only on success.
 * Errors: ERR_INVALID, "cannot measure: …" in words for whoever wrote the command.
 */
MUST_CHECK enum err_code value_read(const struct metric *m, const char *bytes, size_t n,
                                    struct values *out, struct err *e);

#endif
