/* SPDX-License-Identifier: Apache-2.0 */
/** What a file with time series comes to: series of points, by names that the store takes. */
#ifndef CLI_IMPORTED_H
#define CLI_IMPORTED_H

#include "base/err.h"
#include "cli/flag.h"
#include "formats/readings.h"
#include "model/points.h"

/** What one source has of one metric on one platform. */
struct imported_series {
    const char *metric, *platform, *host; /* borrowed from the readings, or the options */
    size_t n, cap;
    struct point *items; /* in order of time; of one time, as in the file */
};
struct imported {
    char *project;
    char *project_file; /* NULL: a name was given, or nothing */
    struct readings readings;
    size_t n_points;
    bool is_unnamed; /* nobody says which metric some of it is: no more than a dry run */
    size_t n;
    struct imported_series *items; /* in order of first appearance */
};
void imported_fini(struct imported *i);
DEFINE_AUTO_FINI(struct imported, imported_fini)

enum { IMPORT_BYTES_MOST = 256 * MIB, IMPORT_SERIES_MOST = 1000 };

/**
 * Reads the file (packed or plain; "-" is stdin), finds the commits and sorts out the series.
 *
 * Errors: ERR_NOT_FOUND, ERR_INVALID, ERR_LIMIT: in the file, the flags, or both; rows that cannot
 *         be used are no error unless none is left.
 */
MUST_CHECK enum err_code imported_read(const char *path, const struct options *o,
                                       struct imported *out, struct err *e);

#endif
