/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How often a stated confidence was right: checks counted by what had been stated.
 *
 * Of n claims stated with probability p each, n * p are to be right; the interval says how much of
 * what is missing is luck. Undecided checks say nothing either way and are left out of it.
 */
#ifndef SEARCH_CALIBRATION_H
#define SEARCH_CALIBRATION_H

#include <stddef.h>
#include <stdint.h>

struct bin {
    double from, to; /* stated probability, `to` excluded but for the last */
    const char *name;
    uint32_t n_stated;
    double p_sum; /* of the stated probabilities */
    uint32_t n_right, n_wrong, n_undecided;
    uint32_t n_replayed, n_differ; /* decided again from their samples; with another outcome */
};

enum { CALIBRATION_BINS = 5 };

/** Empty bins, lowest first. */
void calibration_init(struct bin bins[CALIBRATION_BINS]);
/** The bin of a stated probability; nan goes to the lowest. */
struct bin *calibration_bin(struct bin bins[CALIBRATION_BINS], double probability);
/** All of them as one; its name is "all". */
struct bin calibration_total(const struct bin bins[CALIBRATION_BINS]);

/** The 95 % interval of a rate that gave k of n. Pre: k <= n, n > 0.
 *  Source: Clopper & Pearson, Biometrika 26 (1934): it holds in at least 95 % for every rate. */
void rate_interval(uint32_t k, uint32_t n, double out[2]);

#endif
