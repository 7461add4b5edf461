/* SPDX-License-Identifier: Apache-2.0 */
#include "search/floor.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>

enum { MAX_ROUNDS = 2000 };
static const double precision = 1e-5; /* of the capacity */

/** Where the densities live, in sd around the lowest and the highest level. */
static const struct {
    double below, above, step;
} spans[N_NOISE_FAMILIES] = {
    [NOISE_GAUSSIAN] = {10, 10, .02}, [NOISE_LOGNORMAL] = {1, 60, .005},
    [NOISE_BIMODAL] = {6, 6, .01},    [NOISE_OUTLIERS] = {10, 30, .02},
    [NOISE_COUNT] = {1e9, 20, 0},     [NOISE_DRIFT] = {10, 10, .02},
    [NOISE_WORKERS] = {10, 10, .02},
};

/** Probabilities of each cell of values under each level. */
struct channel {
    uint32_t n_levels, n_cells;
    double *p;                           /* [level * n_cells + cell] */
    double negentropy[FLOOR_MAX_LEVELS]; /* sum of p log p */
    double weight[FLOOR_MAX_LEVELS];     /* how often each level is asked for */
    double told[FLOOR_MAX_LEVELS];       /* nats learned when it is that level */
};

static void channel_init(struct channel *c, enum noise_family f, const double *changes, uint32_t n)
{
    /* Known drift and known workers leave normal noise. */
    enum noise_family g = f == NOISE_DRIFT || f == NOISE_WORKERS ? NOISE_GAUSSIAN : f;
    double sd = noise_sd(g), low = changes[0], high = changes[0];

    for (uint32_t i = 0; i < n; i++) {
        low = fmin(low, changes[i]);
        high = fmax(high, changes[i]);
    }
    double step = g == NOISE_COUNT ? 1 : spans[g].step * sd;
    double from = g == NOISE_COUNT ? 0 : noise_level(g, low) - spans[g].below * sd;
    double to = noise_level(g, high) + spans[g].above * sd;

    *c = (struct channel){.n_levels = n, .n_cells = (uint32_t)((to - from) / step) + 1};
    c->p = mem_array((size_t)n * c->n_cells, sizeof(*c->p));
    for (uint32_t k = 0; k < n; k++) {
        double *p = c->p + (size_t)k * c->n_cells, sum = 0;
        for (uint32_t i = 0; i < c->n_cells; i++)
            sum += p[i] = exp(noise_log_density(g, changes[k], from + i * step));
        for (uint32_t i = 0; i < c->n_cells; i++) {
            p[i] /= sum;
            c->negentropy[k] += p[i] > 0 ? p[i] * log(p[i]) : 0;
        }
        c->weight[k] = 1. / n;
    }
}

static void channel_fini(struct channel *c)
{
    mem_free(c->p);
}
DEFINE_AUTO_FINI(struct channel, channel_fini)

static void channel_tell(struct channel *c)
{
    for (uint32_t k = 0; k < c->n_levels; k++)
        c->told[k] = c->negentropy[k];
    for (uint32_t i = 0; i < c->n_cells; i++) {
        double mix = 0;
        for (uint32_t k = 0; k < c->n_levels; k++)
            mix += c->weight[k] * c->p[(size_t)k * c->n_cells + i];
        if (mix <= 0)
            continue;
        double log_mix = log(mix);
        for (uint32_t k = 0; k < c->n_levels; k++)
            c->told[k] -= c->p[(size_t)k * c->n_cells + i] * log_mix;
    }
}

double floor_capacity_bits(enum noise_family f, const double *changes, uint32_t n)
{
    AUTO(channel_fini) struct channel c;
    double lower = 0, upper = INFINITY;

    assert(n > 0 && n <= FLOOR_MAX_LEVELS);
    channel_init(&c, f, changes, n);
    for (uint32_t round = 0; round < MAX_ROUNDS && upper - lower > precision * lower; round++) {
        double sum = 0;
        channel_tell(&c);
        lower = upper = 0;
        for (uint32_t k = 0; k < n; k++) {
            lower += c.weight[k] * c.told[k];
            upper = fmax(upper, c.told[k]);
        }
        for (uint32_t k = 0; k < n; k++)
            sum += c.weight[k] *= exp(c.told[k]);
        for (uint32_t k = 0; k < n; k++)
            c.weight[k] /= sum;
    }
    return lower / log(2);
}

double floor_runs(double log_candidates, double delta, double capacity_bits)
{
    double h = -delta * log(delta) - (1 - delta) * log1p(-delta);
    double log_others = log_candidates + log1p(-exp(-log_candidates));

    if (!(capacity_bits > 1e-12))
        return NAN;
    return fmax(log_candidates - h - delta * log_others, 0) / (capacity_bits * log(2));
}
