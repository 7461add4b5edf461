/* SPDX-License-Identifier: Apache-2.0 */
/** Whether two samples come from one distribution, by ranks: two-sided, asymptotic. */
#ifndef SEARCH_RANKS_H
#define SEARCH_RANKS_H

#include <stdint.h>

/** Neither may be empty; values are finite. */
struct two_samples {
    const double *a, *b;
    uint32_t n_a, n_b;
};

/** Mann and Whitney's U with corrections for ties and continuity; 1 if all values are the same. */
double mann_whitney_p(const struct two_samples *s);

/** Kolmogorov and Smirnov's D with Stephens' correction for small samples. */
double kolmogorov_smirnov_p(const struct two_samples *s);

#endif
