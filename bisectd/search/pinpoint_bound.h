/* SPDX-License-Identifier: Apache-2.0 */
/** When Pinpoint takes two revisions for the same. */
#ifndef SEARCH_PINPOINT_BOUND_H
#define SEARCH_PINPOINT_BOUND_H

#include <stdint.h>

/**
 * The 99th percentile of Mann and Whitney's p, `n` runs against `n`, when the two levels differ by
 * `magnitude` times the interquartile range of normal noise: a larger p is not seen with such a
 * change, so there is none. 0 where it is below .05 and decides nothing.
 *
 * Magnitudes go by tenths, from .3; `n` is taken to the nearest that Pinpoint's sizes (10, 20, 40,
 * 80, 160) have as a mean of two.
 */
double pinpoint_same_bound(double magnitude, uint32_t n);

#endif
