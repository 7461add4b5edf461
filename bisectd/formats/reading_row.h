/* SPDX-License-Identifier: Apache-2.0 */
/** A row of a time series, whatever format it came in: inside of readings.h. */
#ifndef FORMATS_READING_ROW_H
#define FORMATS_READING_ROW_H

#include "formats/piece.h"
#include "formats/readings.h"

/** One cell; names that differ in case alone are the same. */
struct row_cell {
    struct piece name, text;
};

/** What a column is for, by its name. */
enum row_role {
    ROW_REVISION,
    ROW_TIME,
    ROW_VALUE,
    ROW_METRIC,
    ROW_PLATFORM,
    ROW_HOST,
    ROW_STATUS,
    ROW_ROLES
};
struct row_roles {
    int cell[ROW_ROLES]; /* -1: none */
};
void row_roles_find(const struct row_cell *cells, size_t n, struct row_roles *out);

/** Takes the row in, or counts why not. Without a value column each of `metrics`, numbers of cells,
 * is one by its name; n_metrics is 0 with one. */
struct row {
    const struct row_cell *cells;
    size_t n;
    struct row_roles roles;
    const size_t *metrics;
    size_t n_metrics;
    size_t line;
};
void row_take(struct readings *r, const struct readings_query *q, const struct row *row);
/** When all rows are taken: fills r->no_column. */
void readings_find_no_column(struct readings *r, const struct readings_query *q);

/** Text of its own for as long as the readings, the same for equal ones. */
const char *readings_intern(struct readings *r, struct piece text);

#endif
