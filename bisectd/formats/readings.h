/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time series as other programs write them: values of many revisions.
 *
 *     csv         a head line; columns revision, time, value, and if they like metric, platform,
 *                 host, status and others, in any order; or a column for each metric
 *     jsonl       an object a line with these keys; or one list of such objects
 *     perfherder  answers of Treeherder's performance/data (by signature: a list of values) and
 *                 performance/summary (a list of signatures with "data")
 *     results     what formats/format.h reads, of one revision or with revisions in it
 *
 * Pure. A row that cannot be used is counted with its reason, and the others are read.
 */
#ifndef FORMATS_READINGS_H
#define FORMATS_READINGS_H

#include "base/auto.h"
#include "base/clock.h"
#include "base/err.h"
#include "model/strings.h"
#include <stdbool.h>
#include <stddef.h>

enum { READINGS_MOST = 1000000, READINGS_REASONS = 16, READINGS_NAMES = 100000 };

/** One value. Text is as written, at most 200 bytes, and borrowed from the readings. */
struct reading {
    const char *revision;                 /* "" if there is none */
    const char *metric, *platform, *host; /* "" where the row does not say */
    struct utc at;
    bool has_time;
    double value;
    size_t line; /* or which of a list, from 1 */
};

struct reject {
    const char *reason;
    size_t n, line; /* line: of the first one */
};

struct readings {
    size_t n, cap;
    struct reading *items; /* in the order of the file */
    size_t n_rejects;      /* reasons */
    struct reject rejects[READINGS_REASONS];
    size_t n_rows, n_passed_over; /* rows read; rows that `where` does not want */
    bool is_full;                 /* there were more rows than fit: the whole is refused */
    struct names *names;
    struct strings columns; /* of the first row, for people */
    const char *no_column;  /* the first of `where` that no row has; NULL: each is in some row */
    bool *has_column;       /* inside: of each of `where` */
    size_t n_has;
};
void readings_fini(struct readings *r);
DEFINE_AUTO_FINI(struct readings, readings_fini)

enum readings_format {
    READINGS_AUTO,
    READINGS_CSV,
    READINGS_JSONL,
    READINGS_PERFHERDER,
    READINGS_RESULTS
};
extern const char *const readings_formats[]; /* names in this order; ends with NULL */

struct readings_query {
    enum readings_format format;
    struct pairs where;   /* columns, and the text that rows must have there */
    const char *revision; /* of rows that have none; NULL: none */
    const char *time;     /* the same */
};

/**
 * Reads all of it into a fresh `out`, which is to be freed also after an error.
 *
 * Errors: ERR_INVALID: none of the formats, or no such time; ERR_LIMIT beyond READINGS_MOST.
 */
MUST_CHECK enum err_code readings_parse(const char *bytes, size_t n, const struct readings_query *q,
                                        struct readings *out, struct err *e);

/** A time of a row: ISO 8601, or a number since 1970 in s, ms, µs or ns, told by its size. */
MUST_CHECK enum err_code reading_time(const char *text, struct utc *out, struct err *e);

/** Text of its own for as long as the readings: the same as that of every reading that has it. */
const char *readings_name(struct readings *r, const char *text);
/** For whoever uses them: one more row of the reason that is no good. `reason` is constant. */
void readings_reject(struct readings *r, const char *reason, size_t line);

#endif
