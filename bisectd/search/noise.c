/* SPDX-License-Identifier: Apache-2.0 */
#include "search/noise.h"

#include "base/mem.h"
#include "search/dice.h"
#include <assert.h>
#include <math.h>

static const double good_level = 100, good_sd = 2, good_count = 20;
static const double log_mean = 1.6487212707001282;              /* of exp(normal): exp(1/2) */
static const double log_sd = 2.1611974158950877;                /* sqrt((e - 1) e) */
static const double mode_at = .9, mode_sd = .43588989435406736; /* sqrt(1 - .9^2) */
static const double p_outlier = .05, outlier_least = 10, outlier_most = 20;
static const double correlation_time = 40, jump_sd = 3, slowest = 1.5;
static const double log_root_2pi = .9189385332046727;

/* In standard deviations around the level: a draw, and a log density. */

static double draw_normal(uint64_t key)
{
    return dice_normal(key, 0);
}

static double draw_lognormal(uint64_t key)
{
    return (exp(dice_normal(key, 0)) - log_mean) / log_sd;
}

static double draw_bimodal(uint64_t key)
{
    return (dice_uniform(key, 1) < .5 ? -mode_at : mode_at) + mode_sd * dice_normal(key, 0);
}

static double draw_outliers(uint64_t key)
{
    double z = dice_normal(key, 0);

    if (dice_uniform(key, 1) < p_outlier)
        z += outlier_least + (outlier_most - outlier_least) * dice_uniform(key, 2);
    return z;
}

static double log_normal_density(double z, double sd)
{
    return -z * z / (2 * sd * sd) - log(sd) - log_root_2pi;
}

static double density_normal(double z)
{
    return log_normal_density(z, 1);
}

static double density_lognormal(double z)
{
    double x = log_mean + log_sd * z;

    return x > 0 ? log_normal_density(log(x), 1) - log(x) + log(log_sd) : -INFINITY;
}

static double density_bimodal(double z)
{
    double low = log_normal_density(z + mode_at, mode_sd);
    double high = log_normal_density(z - mode_at, mode_sd);

    return fmax(low, high) + log1p(exp(-fabs(low - high))) - log(2);
}

static double upper_tail(double z)
{
    return .5 * erfc(z / sqrt(2));
}

static double density_outliers(double z)
{
    double wild = (upper_tail(z - outlier_most) - upper_tail(z - outlier_least)) /
                  (outlier_most - outlier_least);

    return log((1 - p_outlier) * exp(density_normal(z)) + p_outlier * fmax(wild, 0));
}

static double density_drift(double z)
{
    return log_normal_density(z, sqrt(2));
}

static const struct {
    double (*draw)(uint64_t key);
    double (*log_density)(double z);
} shapes[N_NOISE_FAMILIES] = {
    [NOISE_GAUSSIAN] = {draw_normal, density_normal},
    [NOISE_LOGNORMAL] = {draw_lognormal, density_lognormal},
    [NOISE_BIMODAL] = {draw_bimodal, density_bimodal},
    [NOISE_OUTLIERS] = {draw_outliers, density_outliers},
    [NOISE_COUNT] = {NULL, NULL}, /* whole numbers, not around a level */
    [NOISE_DRIFT] = {draw_normal, density_drift},
    [NOISE_WORKERS] = {draw_normal, density_normal},
};
const char *const noise_names[] = {"gaussian", "lognormal", "bimodal", "outliers",
                                   "count",    "drift",     "workers", NULL};

double noise_sd(enum noise_family f)
{
    return f == NOISE_COUNT ? sqrt(good_count) : good_sd;
}

double noise_level(enum noise_family f, double change)
{
    return (f == NOISE_COUNT ? good_count : good_level) + change * noise_sd(f);
}

static double log_poisson(double mean, double x)
{
    int sign;

    if (x < 0 || x != floor(x))
        return -INFINITY;
    return x * log(mean) - mean - lgamma_r(x + 1, &sign);
}

double noise_log_density(enum noise_family f, double change, double x)
{
    double level = noise_level(f, change), sd = noise_sd(f);

    if (f == NOISE_COUNT)
        return log_poisson(level, x);
    return shapes[f].log_density((x - level) / sd) - log(sd);
}

/* Values */

enum { KEY_WORKERS = 1, KEY_DRIFT, KEY_JUMP };

void noise_init(struct noise *n, enum noise_family f, uint64_t key, double start, double horizon)
{
    uint64_t workers = dice_key(key, KEY_WORKERS), jump = dice_key(key, KEY_JUMP);

    *n = (struct noise){.family = f, .key = key, .jump_at = INFINITY};
    for (uint32_t i = 0; i < NOISE_MAX_WORKERS; i++)
        n->factor[i] = f == NOISE_WORKERS ? 1 + (slowest - 1) * dice_uniform(workers, i) : 1;
    if (f == NOISE_DRIFT) {
        n->jump_at = start + horizon * dice_uniform(jump, 0);
        n->jump = dice_uniform(jump, 1) < .5 ? -jump_sd : jump_sd;
    }
}

void noise_fini(struct noise *n)
{
    mem_free(n->drift);
    n->drift = NULL;
}

static double drift_at(struct noise *n, double time)
{
    uint32_t at = (uint32_t)fmax(time, 0);
    uint64_t key = dice_key(n->key, KEY_DRIFT);
    double keep = exp(-1 / correlation_time), fresh = sqrt(1 - keep * keep);

    if (at >= n->n_drift) {
        uint32_t n_drift = 2 * at + 64;
        n->drift = mem_resize(n->drift, n_drift, sizeof(*n->drift));
        for (uint32_t i = n->n_drift; i < n_drift; i++) {
            double z = dice_normal(key, i);
            n->drift[i] = i == 0 ? z : keep * n->drift[i - 1] + fresh * z;
        }
        n->n_drift = n_drift;
    }
    return n->drift[at] + (time >= n->jump_at ? n->jump : 0);
}

/** By inversion: the smallest count whose distribution function reaches u. */
static double draw_poisson(double mean, double u)
{
    double p = exp(-mean), sum = p, x = 0;

    while (sum < u && x < 10 * mean + 100) {
        x += 1;
        p *= mean / x;
        sum += p;
    }
    return x;
}

double noise_value(struct noise *n, const struct noise_run *run)
{
    double level = noise_level(n->family, run->change);

    assert(run->worker < NOISE_MAX_WORKERS);
    if (n->family == NOISE_COUNT)
        return draw_poisson(level, dice_uniform(run->key, 0));
    double z = shapes[n->family].draw(run->key);
    if (n->family == NOISE_DRIFT)
        z += drift_at(n, run->time);
    return (level + good_sd * z) * n->factor[run->worker];
}
