/* SPDX-License-Identifier: Apache-2.0 */
/**
 * At which build did jank change? Splits a series of builds where the rate differs most, then its
 * parts likewise.
 *
 * Sums of slow time less what the mean rate of all builds makes of the use so far (a CUSUM) are
 * set against their own spread in a bootstrap over clients; there is a change if not even one in a
 * hundred bootstraps moves any of them as far by chance. Where each bootstrap puts it says how sure
 * the place is. Pure.
 */
#ifndef FORMATS_SLOWSQL_CHANGE_H
#define FORMATS_SLOWSQL_CHANGE_H

#include "base/err.h"
#include "formats/slowsql_rates.h"

enum { CHANGE_BUILDS = 2000, CHANGES_MOST = 8 };

struct slow_change {
    uint32_t first;     /* the first build that has it, most likely */
    uint32_t low, high; /* with 95 %: it came with one of these builds */
    uint32_t from, to;  /* builds from..first-1 are compared with first..to-1 */
    struct rate rate;
};

/**
 * `d`: the groups of uses and hits are builds 0 to n_builds - 1, oldest first; rows do not count.
 *
 * Output: the changes in the order of builds, at most CHANGES_MOST; *n_out of them.
 * Errors: ERR_LIMIT over CHANGE_BUILDS builds.
 */
MUST_CHECK enum err_code slow_changes_find(const struct rate_data *d, uint32_t n_builds,
                                           struct slow_change out[CHANGES_MOST], size_t *n_out,
                                           struct err *e);

#endif
