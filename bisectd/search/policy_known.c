/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A posterior search that is told both distributions: what a search that is not told can at best
 * come close to. With builds free it takes the run that tells most; else the most bits for the
 * price, where a build is worth at least two runs.
 */
#include "base/mem.h"
#include "search/floor.h"
#include "search/policy.h"
#include <math.h>

enum { N_REPEATS = 4, GRID = 200, STEPS = 400 };
static const uint32_t repeats[N_REPEATS] = {1, 2, 4, 8};
static const double least_build_price = 2, most_log_ratio = 700, least_bits = 1e-9;

/** Bits that the mean of so many runs tells about whether a revision is bad, by its probability. */
struct worth {
    double bits[N_REPEATS][GRID + 1];
};

/** Of one normal value whose mean is 0 or `d`, with sd 1. */
static double bits_of(double p, double d)
{
    const double reach = 9;
    double low = -reach, step = (d + 2 * reach) / STEPS, sum = 0;

    if (p <= 0 || p >= 1)
        return 0;
    for (int i = 0; i <= STEPS; i++) {
        double x = low + i * step, ratio = d * x - d * d / 2; /* log of bad over good */
        double odds = p * exp(fmin(ratio, most_log_ratio)) + 1 - p;
        double good = exp(-x * x / 2) / sqrt(2 * M_PI);
        double bad = exp(-(x - d) * (x - d) / 2) / sqrt(2 * M_PI);
        sum += (1 - p) * good * -log(odds) + p * bad * (ratio - log(odds));
    }
    return fmax(sum * step / log(2), 0);
}

/** The effect in normal noise that one run tells as much of as of `change` in this noise. */
static double normal_equivalent(enum noise_family f, double change)
{
    double goal = floor_capacity_bits(f, (double[]){0, change}, 2), low = 0, high = 40;

    if (f == NOISE_GAUSSIAN || f == NOISE_DRIFT || f == NOISE_WORKERS)
        return change;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (bits_of(.5, middle) < goal)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double total_effect(const struct setting *s)
{
    double sum = 0;

    for (uint32_t i = 0; i < s->n_culprits; i++)
        sum += s->effects[i];
    return sum;
}

static void *prepare(const struct setting *setting)
{
    struct worth *w = mem_alloc(sizeof(*w));
    double d = normal_equivalent(setting->noise, total_effect(setting));

    for (uint32_t r = 0; r < N_REPEATS; r++)
        for (uint32_t i = 0; i <= GRID; i++)
            w->bits[r][i] = bits_of((double)i / GRID, d * sqrt(repeats[r]));
    return w;
}

static void release(void *shared)
{
    mem_free(shared);
}

struct known {
    const struct worth *worth;
    struct scene *scene;
    double *log_weight, *p; /* of each revision to be the culprit; 0 for good */
    bool *is_broken;
};

static void update(struct known *k)
{
    double high = -INFINITY, sum = 0;

    for (uint32_t v = 1; v <= k->scene->n; v++)
        high = fmax(high, k->log_weight[v]);
    for (uint32_t v = 1; v <= k->scene->n; v++)
        sum += k->p[v] = exp(k->log_weight[v] - high);
    for (uint32_t v = 1; v <= k->scene->n; v++)
        k->p[v] /= sum;
}

static double worth_of(const struct worth *w, uint32_t r, double p)
{
    double at = fmin(fmax(p, 0), 1) * GRID;
    uint32_t i = at < GRID ? (uint32_t)at : GRID - 1;

    return w->bits[r][i] + (at - i) * (w->bits[r][i + 1] - w->bits[r][i]);
}

/** UINT32_MAX when nothing is left to learn. */
static uint32_t choose(const struct known *k)
{
    bool is_free = k->scene->setting->build_cost == 0;
    double price_of_build = fmax(k->scene->setting->build_cost, least_build_price);
    double p_bad = 0, best_rate = 0;
    uint32_t best = UINT32_MAX;

    for (uint32_t v = 1; v < k->scene->n; v++) {
        p_bad += k->p[v];
        for (uint32_t r = 0; r < (is_free ? 1 : N_REPEATS) && !k->is_broken[v]; r++) {
            double build = is_free || k->scene->is_built[v] ? 0 : price_of_build;
            double bits = worth_of(k->worth, r, p_bad), rate = bits / (build + repeats[r]);
            if (bits > least_bits && rate > best_rate) {
                best_rate = rate;
                best = v;
            }
        }
    }
    return best;
}

static void test(struct known *k, uint32_t revision)
{
    const struct setting *setting = k->scene->setting;
    double value = 0;
    uint32_t host = 0;
    struct order o = {.revision = revision, .n_runs = 1, .values = &value, .hosts = &host};

    scene_measure(k->scene, &o, 1);
    if (o.is_broken) {
        k->is_broken[revision] = true;
        return;
    }
    value /= k->scene->noise.factor[host];
    double ratio = noise_log_density(setting->noise, total_effect(setting), value) -
                   noise_log_density(setting->noise, 0, value);
    ratio = fmin(fmax(ratio, -most_log_ratio), most_log_ratio);
    for (uint32_t v = 1; v <= revision; v++)
        k->log_weight[v] += ratio;
    update(k);
}

/** Names the culprit, or the broken stretch with the first commit after it, once it is sure. */
static bool is_answered(const struct known *k, struct answer *out)
{
    uint32_t n = k->scene->n;
    double sure = k->scene->setting->confidence;

    for (uint32_t v = 1, from = 1; v <= n; v++) {
        double p = 0;
        if (k->is_broken[v])
            continue;
        for (uint32_t i = from; i <= v; i++)
            p += k->p[i];
        for (uint32_t i = from; i <= v && p >= sure; i++)
            answer_add(out, i);
        from = v + 1;
    }
    if (out->n > 0)
        out->kind = out->n == 1 ? ANSWER_CULPRITS : ANSWER_RANGE;
    return out->n > 0;
}

static void play(const void *shared, struct scene *s, struct answer *out)
{
    struct known k = {.worth = shared, .scene = s};

    k.log_weight = mem_array(s->n + 1, sizeof(*k.log_weight));
    k.p = mem_array(s->n + 1, sizeof(*k.p));
    k.is_broken = mem_array(s->n + 1, sizeof(*k.is_broken));
    update(&k);
    while (!is_answered(&k, out) && s->n_runs < s->setting->budget_runs) {
        uint32_t next = choose(&k);
        if (next == UINT32_MAX)
            break;
        test(&k, next);
    }
    mem_free(k.log_weight);
    mem_free(k.p);
    mem_free(k.is_broken);
}

const struct policy policy_known = {"known", prepare, release, play};
