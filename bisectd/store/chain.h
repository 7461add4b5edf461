/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rows that vouch for one another.
 *
 * Each table of evidence (events, results, builds, samples) is one chain a bisection:
 *
 *     hash = SHA-256(hash of the row before, or "" | each column in order of the table)
 *
 * over all columns but the row number and the hash itself. A column is written as "N;" for null,
 * "I<decimal>;" for integers, "R<%.17g>;" for reals, "T<bytes>:<text>" for text. Columns that came
 * with a later schema are left out where they are null, and else have "L<which>:" before them. The
 * table chains keeps number of rows and newest hash, so a row missing at the end is noticed too.
 */
#ifndef STORE_CHAIN_H
#define STORE_CHAIN_H

#include "base/hash.h"
#include "store/db.h"

enum chain_of { CHAIN_EVENTS, CHAIN_RESULTS, CHAIN_BUILDS, CHAIN_SAMPLES, CHAIN_COUNT };

struct chain {
    enum chain_of of;
    const char *bisection; /* borrowed */
    int64_t n;
    char head[65]; /* empty: no rows yet */
};

MUST_CHECK enum err_code chain_begin(struct store *s, enum chain_of of, const char *bisection,
                                     struct chain *c, struct err *e);
/** Inserts one row: all columns in order, without row number and hash. */
MUST_CHECK enum err_code chain_add(struct store *s, struct chain *c, const struct cell *cells,
                                   size_t n, struct err *e);
/** Writes number and head. Belongs into the unit of its chain_add calls. */
MUST_CHECK enum err_code chain_end(struct store *s, const struct chain *c, struct err *e);

/** ERR_INVALID names the first row that does not fit. */
MUST_CHECK enum err_code chain_verify(struct store *s, enum chain_of of, const char *bisection,
                                      struct err *e);

#endif
