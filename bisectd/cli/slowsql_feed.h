/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Files of lines, or stdin, in chunks of whole lines, for any number of threads at once.
 *
 * Plain files are read in parallel, from where a chunk begins; pipes and packed files (gzip, zstd)
 * one chunk after the other, several of them in parallel where the order does not matter.
 */
#ifndef CLI_SLOWSQL_FEED_H
#define CLI_SLOWSQL_FEED_H

#include "base/buf.h"
#include "base/err.h"
#include "model/strings.h"
#include <stdbool.h>
#include <stdint.h>

enum { FEED_CHUNK = 512 * KIB, FEED_LINE_MOST = 64 * MIB };

enum feed_order { FEED_ANY_ORDER, FEED_IN_ORDER /* numbers follow the order of lines */ };

struct chunk {
    struct buf bytes;    /* whole lines; the last one may lack its newline */
    uint64_t number;     /* of FEED_IN_ORDER: 0, 1, 2, … */
    size_t source;       /* which file */
    uint64_t offset;     /* where in its plain bytes the chunk begins */
    unsigned n_too_long; /* lines over FEED_LINE_MOST that are left out */
};

struct feed;
/** Errors: ERR_NOT_FOUND, ERR_IO: a file that cannot be read. None: stdin, as is "-". */
MUST_CHECK enum err_code feed_new(const char *const *paths, size_t n, enum feed_order order,
                                  struct feed **out, struct err *e);
void feed_free(struct feed *f);
DEFINE_AUTO(struct feed, feed_free)
/** Of a chunk's source, for people. */
const char *feed_name(const struct feed *f, size_t source);
/** The next chunk; *has is false at the end. A mark of UTF-8 at the start of a file is left out;
 *  ERR_INVALID: packed in a way that is not read. Errors name the file. Thread-safe. */
MUST_CHECK enum err_code feed_next(struct feed *f, struct chunk *c, bool *has, struct err *e);

#endif
