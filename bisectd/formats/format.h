/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The result formats: a format is a row here and a function that reads it.
 *
 * Kinds without a row (exit, wall, …) are measured from outside and do not look at the output.
 */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "formats/value.h"

struct format {
    enum metric_kind kind;
    /** As value_read: ERR_INVALID says in words why nothing was measured. */
    enum err_code (*read)(const struct metric *m, const char *bytes, size_t n, struct values *out,
                          struct err *e);
    const char *help;
};
extern const struct format formats[];
extern const size_t n_formats;

/** NULL for kinds that do not read the output. */
const struct format *format_of(enum metric_kind kind);

#endif
