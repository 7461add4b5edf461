/* SPDX-License-Identifier: Apache-2.0 */
/** What the tests of one format share: a metric, a document, and what comes of it. */
#ifndef UNIT_FORMATS_ROWS_H
#define UNIT_FORMATS_ROWS_H

#include "formats/format.h"
#include "unit/run.h"
#include <math.h>

struct format_row {
    const char *name; /* reads as a claim */
    const char *spec; /* of the metric, as --metric takes it */
    const char *text;
    double want;      /* NAN: it cannot be measured */
    const char *says; /* the reason behind "cannot measure: ", or the note; NULL: none */
};
/** Reads the row's text, in a block of exactly its size, and checks what comes of it. */
void format_row_check(const struct format_row *row);

/** Takes the text alone, by its looks: the format is `kind`, or none (METRIC_AUTO). */
void format_looks_check(const char *text, enum metric_kind kind);

#endif
