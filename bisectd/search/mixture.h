/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What runs of one revision could show: each hypothesis expects values around a level of its own,
 * and seeing them tells about the hypotheses.
 *
 * Hypotheses that expect nearly the same are put together as they come in, which understates the
 * information by up to some thousandths of a bit and makes it a few times cheaper.
 */
#ifndef SEARCH_MIXTURE_H
#define SEARCH_MIXTURE_H

#include <stdbool.h>
#include <stdint.h>

struct component {
    double weight;
    double mean, var; /* of the level, which is uncertain; for rates of the rate */
    double run_var;   /* of one run around it; unused for rates */
};

/** The mean of n runs that lies at a place between 0 and 1 of what is expected. */
double component_outcome(const struct component *c, bool is_rate, uint32_t n_runs, double place);
/** Logarithm of how likely that mean is; some constant is left out. */
double component_log(const struct component *c, bool is_rate, uint32_t n_runs, double mean);

enum { MIXTURE_MAX = 48 };

struct mixture {
    bool is_rate; /* runs pass (0) or fail (1) */
    uint32_t n;
    double total; /* of the weights; need not be 1 */
    struct component items[MIXTURE_MAX];
};

/** Returns its place among the items, where it may join others; with all places taken it joins the
 *  nearest. */
uint32_t mixture_add(struct mixture *m, const struct component *c);

/** Expected information in the mean of n runs about which component it is. */
double mixture_bits(const struct mixture *m, uint32_t n_runs);
/** An upper bound of it that costs next to nothing. */
double mixture_bound_bits(const struct mixture *m, uint32_t n_runs);

#endif
