/* SPDX-License-Identifier: Apache-2.0 */
/** good..bad out of a mirror, as the values that search works on (struct range, model/revision.h).
 */
#ifndef COMMITS_RANGE_H
#define COMMITS_RANGE_H

#include "base/auto.h"
#include "base/err.h"
#include "commits/mirror.h"
#include "model/project.h"
#include "model/revision.h"

enum { RANGE_MAX_CANDIDATES = 1000000 };

struct range_query {
    const char *good, *bad; /* any revision syntax, see mirror_resolve */
    const struct strings
        *paths;   /* what the build reads, as text_glob takes it; NULL or empty: all */
    bool is_pair; /* two commits to be compared: these alone, whatever lies between */
};

/**
 * Reads the range.
 *
 * A pair is a range of two commits, good and its child bad, and errors call them base and head.
 *
 * Order: boundary commits first, then candidates so that each branch stays together, bad last;
 * depends on the graph alone. When good is not an ancestor of bad, the merge bases are among the
 * boundary commits.
 *
 * Errors: ERR_NOT_FOUND (unknown revision), ERR_LIMIT (RANGE_MAX_CANDIDATES), and ERR_INVALID with
 *         a hint: good equals bad; the ends look swapped; no common ancestor; history hidden by a
 *         shallow clone, rewritten by grafts or replace refs; missing objects; a partial clone that
 *         lacks files of the range.
 */
MUST_CHECK enum err_code range_load(const struct mirror *m, const struct range_query *q,
                                    struct range **out, struct err *e);

#endif
