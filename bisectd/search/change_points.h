/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the level of a time series changes.
 *
 * Pure and deterministic: significance is a t-test's, not that of random permutations.
 *
 * Source: Matteson & James, "A nonparametric approach for multiple change point analysis of
 *         multivariate data" (E-divisive; arXiv:1306.4933), in windows and pruned as in Fleming et
 *         al., "Hunter: Using change point detection to hunt for performance regressions", ICPE
 *         2023 (doi:10.1145/3578244.3583719; now Apache Otava).
 */
#ifndef SEARCH_CHANGE_POINTS_H
#define SEARCH_CHANGE_POINTS_H

#include "search/evidence.h"

struct change_rule {
    uint32_t window;      /* values looked at together; the next begins half of them later */
    double max_p;         /* of Student's two-sided test between neighbouring stretches */
    double min_magnitude; /* least relative change, against the smaller of both levels */
};
/** Window 50, p .001, any magnitude. */
extern const struct change_rule change_rule_usual;

struct change_point {
    uint32_t at;          /* the first value of the new level */
    uint32_t first, last; /* it is one of these, with probability .99 if the noise is normal */
    double p;
    struct moments before, after; /* of the stretches from the change before to the one after */
};

/** Change points in order, as a new array that the caller frees; returns how many. Values are
 *  finite and in order of time. */
uint32_t change_points_find(const double *values, uint32_t n, const struct change_rule *rule,
                            struct change_point **out);

#endif
