/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_rates.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_GROUPS = 2, DRAWS_A_WORD = 4, INDEX_LOW = 24, INDEX_HIGH = 974 };

const char *const rate_verdict_names[RATE_VERDICT_COUNT] = {"inconclusive", "same", "improved",
                                                            "regressed"};

/* Draws */

void rate_weights(uint64_t seed, uint64_t client, double weights[RATE_REPLICATES])
{
    /* 2^16 times the probability that a Poisson variable of mean 1 is at most 0, 1, 2, … */
    static const unsigned most[] = {24109, 48219, 60273, 64292, 65296, 65497, 65531, 65535};
    const uint64_t start = mix64(seed ^ mix64(client));
    uint64_t word = 0;

    for (size_t r = 0; r < RATE_REPLICATES; r++) {
        word = r % DRAWS_A_WORD ? word >> 16 : mix64(start + r);
        unsigned u = (unsigned)(word & 0xFFFF), w = 0;
        for (size_t k = 0; k < sizeof(most) / sizeof(most[0]); k++)
            w += u >= most[k];
        weights[r] = w;
    }
}

/** How many slow clients there may be where none was seen. */
static double lucky(uint64_t seed, size_t r)
{
    uint64_t u = mix64(mix64(seed + 0x6C75636B) + r) >> 11;

    return -log(((double)u + .5) / 9007199254740992.0);
}

/* Sums */

/** What is observed first, then the replicates. */
struct samples {
    double of[1 + RATE_REPLICATES];
};

static void add_weighted(struct samples *s, double x, const double *weights)
{
    s->of[0] += x;
    for (size_t r = 0; r < RATE_REPLICATES; r++)
        s->of[1 + r] += x * weights[r];
}

static int by_client(const void *a, const void *b)
{
    const struct rate_use *x = a, *y = b;

    return (x->client > y->client) - (x->client < y->client);
}

static int by_row_and_client(const void *a, const void *b)
{
    const struct rate_hit *x = a, *y = b;

    if (x->row != y->row)
        return x->row > y->row ? 1 : -1;
    return (x->client > y->client) - (x->client < y->client);
}

/** Whole numbers, as all that is added up here: so the order changes nothing. */
static double size_of(const struct rate_data *d, const struct rate_use *u)
{
    return d->is_by_hours ? (double)u->used : (double)u->reports;
}

static void sum_uses(struct rate_data *d, struct samples sizes[N_GROUPS])
{
    double weights[RATE_REPLICATES];

    if (d->n_uses)
        qsort(d->uses, d->n_uses, sizeof(*d->uses), by_client);
    for (size_t i = 0; i < d->n_uses;) {
        double sums[N_GROUPS] = {0};
        const uint64_t client = d->uses[i].client;
        for (; i < d->n_uses && d->uses[i].client == client; i++)
            sums[d->uses[i].group] += size_of(d, &d->uses[i]);
        rate_weights(d->seed, client, weights);
        for (size_t g = 0; g < N_GROUPS; g++)
            if (sums[g] > 0)
                add_weighted(&sizes[g], sums[g], weights);
    }
}

/** Slow time of one row. */
struct slow {
    struct samples ms[N_GROUPS];
    size_t n_clients[N_GROUPS];
};

/** The hits of one row, from `i` on; where the next row's begin. */
static size_t sum_row(const struct rate_data *d, size_t i, struct slow *slow)
{
    const uint32_t row = d->hits[i].row;
    double weights[RATE_REPLICATES];

    while (i < d->n_hits && d->hits[i].row == row) {
        double sums[N_GROUPS] = {0};
        const uint64_t client = d->hits[i].client;
        for (; i < d->n_hits && d->hits[i].row == row && d->hits[i].client == client; i++)
            sums[d->hits[i].group] += (double)d->hits[i].total_ms;
        rate_weights(d->seed, client, weights);
        for (size_t g = 0; g < N_GROUPS; g++) {
            if (sums[g] <= 0)
                continue;
            add_weighted(&slow->ms[g], sums[g], weights);
            slow->n_clients[g]++;
        }
    }
    return i;
}

/* Judging */

static void allow_for_luck(const struct rate_data *d, struct slow *slow)
{
    for (size_t g = 0; g < N_GROUPS; g++) {
        size_t other = 1 - g;
        if (slow->n_clients[g] || !slow->n_clients[other])
            continue;
        double mean = slow->ms[other].of[0] / (double)slow->n_clients[other];
        for (size_t r = 0; r < RATE_REPLICATES; r++)
            slow->ms[g].of[1 + r] = lucky(d->seed, r) * mean;
    }
}

/** With nothing on both sides a replicate says nothing: half of these speak for each end. */
static double ratio_of(double before, double after, size_t r)
{
    if (before <= 0 && after <= 0)
        return r % 2 ? 0 : INFINITY;
    return before <= 0 ? INFINITY : after / before;
}

static enum rate_verdict judge(const struct rate *r, double margin)
{
    if (isnan(r->ratio))
        return RATE_INCONCLUSIVE;
    if (r->low >= 1 / (1 + margin) && r->high <= 1 + margin)
        return RATE_SAME;
    return r->low > 1 ? RATE_REGRESSED : r->high < 1 ? RATE_IMPROVED : RATE_INCONCLUSIVE;
}

static struct rate rate_of(const struct rate_data *d, const struct samples sizes[N_GROUPS],
                           struct slow *slow)
{
    double ratios[RATE_REPLICATES];
    struct rate rate = {.ratio = NAN, .low = NAN, .high = NAN};

    if (sizes[0].of[0] <= 0 || sizes[1].of[0] <= 0 || (!slow->n_clients[0] && !slow->n_clients[1]))
        return rate;
    rate.ratio =
        ratio_of(slow->ms[0].of[0] / sizes[0].of[0], slow->ms[1].of[0] / sizes[1].of[0], 0);
    allow_for_luck(d, slow);
    for (size_t r = 0; r < RATE_REPLICATES; r++) {
        double rates[N_GROUPS] = {0};
        for (size_t g = 0; g < N_GROUPS; g++)
            if (sizes[g].of[1 + r] > 0)
                rates[g] = slow->ms[g].of[1 + r] / sizes[g].of[1 + r];
        ratios[r] = ratio_of(rates[0], rates[1], r);
    }
    numbers_sort(ratios, RATE_REPLICATES);
    rate.low = slow->n_clients[1] ? ratios[INDEX_LOW] : 0;
    rate.high = slow->n_clients[0] ? ratios[INDEX_HIGH] : INFINITY;
    rate.verdict = judge(&rate, d->margin);
    return rate;
}

void rates_compare(struct rate_data *d, struct rate *out)
{
    struct samples *sizes = mem_array(N_GROUPS, sizeof(*sizes));
    struct slow *slow = mem_alloc(sizeof(*slow));

    for (size_t i = 0; i < d->n_rows; i++)
        out[i] = (struct rate){.ratio = NAN, .low = NAN, .high = NAN};
    sum_uses(d, sizes);
    if (d->n_hits)
        qsort(d->hits, d->n_hits, sizeof(*d->hits), by_row_and_client);
    for (size_t i = 0; i < d->n_hits;) {
        uint32_t row = d->hits[i].row;
        memset(slow, 0, sizeof(*slow));
        i = sum_row(d, i, slow);
        out[row] = rate_of(d, sizes, slow);
    }
    mem_free(sizes);
    mem_free(slow);
}
