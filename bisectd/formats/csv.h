/* SPDX-License-Identifier: Apache-2.0 */
/** Comma-separated values with a header, quoted as RFC 4180 says. */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "base/err.h"
#include "formats/piece.h"

enum { CSV_MOST_COLUMNS = 1000 };

struct csv_row {
    size_t n;
    struct piece *cells; /* trimmed, within `bytes` */
    char *bytes;
};
struct csv {
    struct piece rest;
    struct csv_row header, row;
    size_t n_line; /* of the row, from 1 */
};
void csv_fini(struct csv *c);
DEFINE_AUTO_FINI(struct csv, csv_fini)

/** Starts at the first line of `text` that is not empty, as the header. */
MUST_CHECK enum err_code csv_init(struct csv *c, struct piece text, struct err *e);
/** The next row that is not empty; false at the end, and with ERR_INVALID in `e` where a quote does
 * not end or the row is not as wide as the header. */
bool csv_next(struct csv *c, struct err *e);
/** The number of a column, or -1. */
int csv_column(const struct csv *c, const char *name);
/** The cell of a column in the row; empty for column -1. */
struct piece csv_cell(const struct csv *c, int column);

#endif
