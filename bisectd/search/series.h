/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A time series that somebody else measured, as evidence for a bisection: which points are worth
 * giving to the search, and of which commit.
 *
 * The search keeps a row over all commits for each sampled one, so a series with a value for every
 * other commit of a long range would cost more than it tells. Kept are the ends, what lies around
 * the changes that change_points.h sees, and a few points of all the rest, chosen by place and not
 * by value. The points just before good and just after bad are on the level of that end, as far as
 * no change is seen between; they count as runs of it.
 */
#ifndef SEARCH_SERIES_H
#define SEARCH_SERIES_H

#include <stddef.h>
#include <stdint.h>

#define SERIES_OUTSIDE UINT32_MAX

enum {
    SERIES_COMMITS = 48, /* that a bisection is given at most, over all series */
    SERIES_RUNS = 8,     /* of one commit */
    SERIES_BESIDE = 24,  /* points before good, and after bad */
    SERIES_SPAN = 1000
};

struct series_point {
    uint32_t commit; /* index in the range, or SERIES_OUTSIDE */
    double value;
};
struct series {
    size_t n;
    const struct series_point *points; /* in order of time */
    uint32_t n_commits;                /* of the range */
    uint32_t good, bad;                /* indices in the range */
    uint32_t most;                     /* commits to keep; at least 4 */
};

/** The largest magnitude that is no slip of whoever wrote the series: SERIES_SPAN times the median
 *  magnitude, so at least half of the values are within. INFINITY if that is 0. */
double series_limit(const double *values, size_t n);

/** as[i] becomes the commit that point i counts for, or SERIES_OUTSIDE where it is left out. */
void series_choose(const struct series *s, uint32_t *as);

#endif
