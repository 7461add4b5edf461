/* SPDX-License-Identifier: Apache-2.0 */
#include "search/calibration.h"

#include <assert.h>
#include <math.h>

static const double half_error = .025;
enum { HALVINGS = 60 };

/* clang-format off */
static const struct bin empty[CALIBRATION_BINS] = {
    {.from = 0,    .to = .9,   .name = "below .9"},
    {.from = .9,   .to = .95,  .name = ".9 to .95"},
    {.from = .95,  .to = .99,  .name = ".95 to .99"},
    {.from = .99,  .to = .999, .name = ".99 to .999"},
    {.from = .999, .to = 1,    .name = ".999 or more"},
};
/* clang-format on */

void calibration_init(struct bin bins[CALIBRATION_BINS])
{
    for (size_t i = 0; i < CALIBRATION_BINS; i++)
        bins[i] = empty[i];
}

struct bin *calibration_bin(struct bin bins[CALIBRATION_BINS], double probability)
{
    size_t i = CALIBRATION_BINS - 1;

    while (i > 0 && !(probability >= bins[i].from))
        i--;
    return &bins[i];
}

struct bin calibration_total(const struct bin bins[CALIBRATION_BINS])
{
    struct bin all = {.from = 0, .to = 1, .name = "all"};

    for (size_t i = 0; i < CALIBRATION_BINS; i++) {
        all.n_stated += bins[i].n_stated;
        all.p_sum += bins[i].p_sum;
        all.n_right += bins[i].n_right;
        all.n_wrong += bins[i].n_wrong;
        all.n_undecided += bins[i].n_undecided;
        all.n_replayed += bins[i].n_replayed;
        all.n_differ += bins[i].n_differ;
    }
    return all;
}

static double log_choose(uint32_t n, uint32_t k)
{
    int sign;

    return lgamma_r(n + 1., &sign) - lgamma_r(k + 1., &sign) - lgamma_r((double)(n - k) + 1, &sign);
}

/** At least k of n at rate p, by the shorter sum. Pre: 0 < p < 1. */
static double tail(uint32_t k, uint32_t n, double p)
{
    double sum = 0;

    if (k > n / 2) {
        for (uint32_t i = k; i <= n; i++)
            sum += exp(log_choose(n, i) + i * log(p) + (double)(n - i) * log1p(-p));
        return sum;
    }
    for (uint32_t i = 0; i < k; i++)
        sum += exp(log_choose(n, i) + i * log(p) + (double)(n - i) * log1p(-p));
    return 1 - sum;
}

/** The rate at which "at least k of n" has this probability: it rises with the rate. */
static double rate_where(uint32_t k, uint32_t n, double probability)
{
    double low = 0, high = 1;

    for (int i = 0; i < HALVINGS; i++) {
        double p = (low + high) / 2;
        if (tail(k, n, p) < probability)
            low = p;
        else
            high = p;
    }
    return (low + high) / 2;
}

void rate_interval(uint32_t k, uint32_t n, double out[2])
{
    assert(n > 0 && k <= n);
    out[0] = k == 0 ? 0 : rate_where(k, n, half_error);
    out[1] = k == n ? 1 : rate_where(k + 1, n, 1 - half_error);
}
