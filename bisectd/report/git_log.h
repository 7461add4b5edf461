/* SPDX-License-Identifier: Apache-2.0 */
/** A finished bisection in the form `git bisect replay` reads. */
#ifndef REPORT_GIT_LOG_H
#define REPORT_GIT_LOG_H

#include "model/bisection.h"
#include "model/revision.h"

/** One revision that was tried, in the order of first tries. */
struct tried {
    struct revision revision;
    uint32_t n_runs; /* with a value */
    double mean;     /* nan without runs */
    const char *why; /* it could not be tested; NULL if it could. Hostile, borrowed. */
};

/**
 * Appends the log.
 *
 * With the range at hand (else NULL), what is good and what is bad follows from ancestry: bad is
 * what contains the culprit, so that git ends at the same commit; a revision that says nothing
 * about the culprit's place stays a comment. Without it, the nearer level decides. For a verdict
 * that names no commit the tried ones are comments only.
 */
void git_log_write(const struct verdict *v, const struct range *range, const struct tried *tried,
                   size_t n, struct buf *out);

#endif
