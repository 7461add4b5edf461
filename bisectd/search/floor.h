/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How few runs any search could do with: Burnashev and Zigangirov's bound (1975), by way of the
 * capacity of one run as a noisy channel.
 */
#ifndef SEARCH_FLOOR_H
#define SEARCH_FLOOR_H

#include "search/noise.h"

enum { FLOOR_MAX_LEVELS = 64 };

/**
 * Most bits that one run can tell about which of `n` levels a revision has, each given as a change
 * in standard deviations, all different. Drift and workers count as known.
 *
 * Source: Arimoto and Blahut, 1972. Pre: 0 < n <= FLOOR_MAX_LEVELS.
 */
double floor_capacity_bits(enum noise_family f, const double *changes, uint32_t n);

/** Bound L1: runs on average to tell exp(log_candidates) apart with error `delta`. Nan without
 *  anything to tell by (capacity 0). */
double floor_runs(double log_candidates, double delta, double capacity_bits);

#endif
