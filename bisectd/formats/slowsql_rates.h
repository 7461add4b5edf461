/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Did jank change? Rates of two groups of reports, set against each other.
 *
 * The rate is slow milliseconds an hour of use, or a report where too few reports say how long they
 * lasted. What varies is clients: one sends many reports, and its slow disk makes all of them slow.
 * So the interval comes from a bootstrap over clients, each of which counts as often as a Poisson
 * variable of mean 1 says (Chamandy et al., Estimating uncertainty for massive data streams, 2012),
 * drawn from the seed and the client alone: neither order nor number of threads matters.
 *
 * A group in which no client was slow may have been lucky: the number of clients to be expected in
 * it is then drawn from what such luck allows (exponential of mean 1, which is the posterior of a
 * Poisson mean after none), with the mean of those in the other group.
 *
 * Pure.
 */
#ifndef FORMATS_SLOWSQL_RATES_H
#define FORMATS_SLOWSQL_RATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_REPLICATES = 999 }; /* .025 and .975 of them are whole ones */

/** How long, and in how many reports, a client was in a group. */
struct rate_use {
    uint64_t client;
    uint32_t group;
    int64_t reports;
    int64_t used; /* millionths of an hour */
};
/** Slow time of a client in a row and a group. Several may say parts of it. */
struct rate_hit {
    uint64_t client;
    uint32_t row;
    uint32_t group;
    int64_t total_ms;
};

enum rate_verdict { RATE_INCONCLUSIVE, RATE_SAME, RATE_IMPROVED, RATE_REGRESSED, RATE_VERDICT_COUNT };
extern const char *const rate_verdict_names[RATE_VERDICT_COUNT];

struct rate {
    double ratio;     /* group 1 over group 0; inf: nothing before; nan: nothing at all */
    double low, high; /* 95 % */
    enum rate_verdict verdict;
};

struct rate_data {
    struct rate_use *uses; /* sorted by the call */
    size_t n_uses;
    struct rate_hit *hits; /* sorted by the call */
    size_t n_hits;
    size_t n_rows;
    bool is_by_hours;
    double margin; /* that much more or less is the same: .05 */
    uint64_t seed;
};

/** Groups 0 and 1; `out` has n_rows. */
void rates_compare(struct rate_data *d, struct rate *out);

/** How often a client counts in each replicate. */
void rate_weights(uint64_t seed, uint64_t client, double weights[RATE_REPLICATES]);

#endif
