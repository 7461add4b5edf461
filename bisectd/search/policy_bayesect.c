/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git-bayesect, told the threshold between good and bad: runs pass or fail, with unknown rates
 * before and after the culprit; the next revision is that with the least expected entropy.
 *
 * Source: Bisector in git_bayesect.py of hauntsaninja/git_bayesect, with Beta(1/2, 1/2) on both
 * rates.
 */
#include "base/mem.h"
#include "search/policy.h"
#include <math.h>

static const double half = .5; /* both parameters of both priors */

/** Logs of the gamma function at half and at whole numbers. */
struct gammas {
    double *at_half, *at_whole; /* of k + 1/2, of k + 1 */
};

static void *prepare(const struct setting *setting)
{
    struct gammas *g = mem_alloc(sizeof(*g));
    size_t n = (size_t)setting->budget_runs + 2;
    int sign;

    g->at_half = mem_array(n, sizeof(*g->at_half));
    g->at_whole = mem_array(n, sizeof(*g->at_whole));
    for (size_t k = 0; k < n; k++) {
        g->at_half[k] = lgamma_r((double)k + half, &sign);
        g->at_whole[k] = lgamma_r((double)k + 1, &sign);
    }
    return g;
}

static void release(void *shared)
{
    struct gammas *g = shared;

    mem_free(g->at_half);
    mem_free(g->at_whole);
    mem_free(g);
}

/** What is known of one revision, and of the hypothesis that it is the culprit. */
struct cell {
    uint32_t n, n_failed;
    bool is_skipped;
    double p;                   /* probability that it is the culprit */
    double rate_bad, rate_good; /* expected share of failures from it on, and before it */
};

struct bayesect {
    const struct gammas *gammas;
    uint32_t n, n_runs; /* cells: revision i is cells[i] */
    struct cell *cells;
};

static double log_beta(const struct gammas *g, uint32_t failed, uint32_t passed)
{
    return g->at_half[failed] + g->at_half[passed] - g->at_whole[failed + passed];
}

static void update(struct bayesect *b)
{
    uint32_t total = 0, total_failed = 0, n = 0, failed = 0;
    double high = -INFINITY, sum = 0;

    for (uint32_t i = 0; i < b->n; i++) {
        total += b->cells[i].n;
        total_failed += b->cells[i].n_failed;
    }
    for (uint32_t i = 0; i < b->n; i++) { /* n and failed: of all runs before it */
        struct cell *c = &b->cells[i];
        uint32_t n_bad = total - n, failed_bad = total_failed - failed;
        c->p = c->is_skipped ? -INFINITY
                             : log_beta(b->gammas, failed, n - failed) +
                                   log_beta(b->gammas, failed_bad, n_bad - failed_bad);
        c->rate_good = (failed + half) / (n + 1);
        c->rate_bad = (failed_bad + half) / (n_bad + 1);
        high = fmax(high, c->p);
        n += c->n;
        failed += c->n_failed;
    }
    for (uint32_t i = 0; i < b->n; i++)
        sum += b->cells[i].p = exp(b->cells[i].p - high);
    for (uint32_t i = 0; i < b->n; i++)
        b->cells[i].p /= sum;
}

static double xlogx(double x)
{
    return x > 0 ? x * log(x) : 0;
}

/** Mass and entropy sums of "it fails" and "it passes" over hypotheses at or below a revision,
 *  where its runs are bad ones, and above it. */
struct sums {
    double fail, pass, fail_log, pass_log;
};

static void sums_add(struct sums *s, double p, double rate, double sign)
{
    s->fail += sign * p * rate;
    s->pass += sign * p * (1 - rate);
    s->fail_log += sign * xlogx(p * rate);
    s->pass_log += sign * xlogx(p * (1 - rate));
}

static uint32_t choose(const struct bayesect *b)
{
    struct sums above = {0}, below = {0};
    uint32_t best = UINT32_MAX;
    double least = INFINITY;

    for (uint32_t i = 0; i < b->n; i++)
        sums_add(&above, b->cells[i].p, b->cells[i].rate_good, 1);
    for (uint32_t i = 0; i < b->n; i++) {
        const struct cell *c = &b->cells[i];
        sums_add(&above, c->p, c->rate_good, -1);
        sums_add(&below, c->p, c->rate_bad, 1);
        double fail = fmax(below.fail + above.fail, 0), pass = fmax(below.pass + above.pass, 0);
        double entropy = xlogx(fail) - (below.fail_log + above.fail_log) + xlogx(pass) -
                         (below.pass_log + above.pass_log);
        if (!c->is_skipped && entropy <= least + 1e-12) { /* of equals the newest */
            least = fmin(entropy, least);
            best = i;
        }
    }
    return best;
}

static uint32_t likeliest(const struct bayesect *b)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < b->n; i++)
        if (b->cells[i].p >= b->cells[best].p)
            best = i;
    return best;
}

static void test(struct bayesect *b, struct scene *s, uint32_t revision)
{
    double value = 0, threshold = noise_level(s->setting->noise, scene_change(s, s->n) / 2);
    struct order o = {.revision = revision, .n_runs = 1, .values = &value};

    scene_measure(s, &o, 1);
    if (o.is_broken) {
        b->cells[revision].is_skipped = true;
        return;
    }
    b->cells[revision].n++;
    b->cells[revision].n_failed += value > threshold;
    b->n_runs++;
}

static void play(const void *shared, struct scene *s, struct answer *out)
{
    struct bayesect b = {.gammas = shared, .n = s->n + 1};

    b.cells = mem_array(b.n, sizeof(*b.cells));
    update(&b);
    while (b.cells[likeliest(&b)].p < s->setting->confidence &&
           b.n_runs < s->setting->budget_runs) {
        test(&b, s, choose(&b));
        update(&b);
    }
    if (b.cells[likeliest(&b)].p >= s->setting->confidence) {
        answer_add(out, likeliest(&b));
        out->kind = ANSWER_CULPRITS;
    }
    mem_free(b.cells);
}

const struct policy policy_bayesect = {"bayesect", prepare, release, play};
