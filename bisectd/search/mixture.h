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

enum { MIXTURE_MAX = 48 };

struct mixture {
    bool is_rate; /* runs pass (0) or fail (1) */
    uint32_t n;
    double total; /* of the weights; need not be 1 */
    struct component items[MIXTURE_MAX];
};

/** When all places are taken, it is put together with the nearest. Pre: weight > 0. */
void mixture_add(struct mixture *m, const struct component *c);

/** Expected information in the mean of n runs about which component it is. */
double mixture_bits(const struct mixture *m, uint32_t n_runs);
/** An upper bound of it that costs next to nothing. */
double mixture_bound_bits(const struct mixture *m, uint32_t n_runs);

#endif
