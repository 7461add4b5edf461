/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A against B on one metric, no search: what two sets of runs say about their difference.
 *
 * A comparison is a struct bisection over a range of two commits, base (good) and head (bad). Its
 * runs come in batches, each interleaved (A B B A …) on one worker, and a batch is compared within
 * itself alone: what drifts between batches is no evidence.
 *
 * Two beliefs, since the two mistakes want two sceptics. "Changed" has to beat a prior that half
 * believes in no difference at all and is proper in the size of one, so that it may be looked at
 * after every batch: without a difference it is ever believed with confidence c in at most
 * (1 - c) / c of all comparisons (Ville's inequality). "Same" has to hold with both levels unknown
 * and unrelated: the difference itself is known to be smaller than the minimum effect.
 */
#ifndef SEARCH_COMPARISON_H
#define SEARCH_COMPARISON_H

#include "search/fit.h"

struct belief {
    double p_higher, p_lower; /* head differs from base by at least the minimum effect */
    double p_same;            /* by less; these three sum to one */
    double p_within;          /* by less, had nobody thought beforehand that they might be equal */
};

/** `p_even`: prior mass of no difference at all; the rest is shared by both directions. */
void comparison_weigh(const struct split *s, bool is_rate, struct scale scale, double p_even,
                      struct belief *out);

/** How many runs of each side a batch adds to those at hand: half as many, in whole A B B A. */
uint32_t comparison_batch(double n_runs);

#endif
