/* SPDX-License-Identifier: Apache-2.0 */
#include "search/mixture.h"

#include <math.h>
#include <stddef.h>

enum { MAX_GRID = 512, RUNS_MERGED = 8 };
static const double alike = .1;     /* means this near, in standard deviations of 8 runs' mean */
static const double alike_var = .1; /* variances whose logs are this near */
static const double tail = 5;       /* a normal ends after so many standard deviations */
static const double grid_step = .5; /* in the smallest standard deviation */
static const double narrowest = .8; /* standard deviation in steps, where the grid is too coarse */
static const double least_var = 1e-300;
static const double least_part = 1e-9;  /* of the weight: less does not show */
static const double resolution = 1e-12; /* no deviation is taken for less of the largest mean */

static double var_of_mean(const struct component *c, uint32_t n_runs)
{
    return c->var + c->run_var / n_runs;
}

/** Variance of the mean of the most runs that are asked about. */
static double finest_var(const struct mixture *m, const struct component *c)
{
    if (m->is_rate)
        return c->var + (c->mean * (1 - c->mean) + 1e-4) / RUNS_MERGED;
    return fmax(var_of_mean(c, RUNS_MERGED), least_var);
}

static void component_merge(struct component *a, const struct component *b)
{
    double weight = a->weight + b->weight, off = b->mean - a->mean;
    double part = weight > 0 ? b->weight / weight : 0;

    a->var += part * (b->var - a->var) + part * (1 - part) * off * off;
    a->run_var += part * (b->run_var - a->run_var);
    a->mean += part * off;
    a->weight = weight;
}

uint32_t mixture_add(struct mixture *m, const struct component *c)
{
    double var = finest_var(m, c), nearest = INFINITY;
    uint32_t at = 0;

    m->total += c->weight;
    for (uint32_t i = 0; i < m->n; i++) {
        double other = finest_var(m, &m->items[i]), off = c->mean - m->items[i].mean;
        double far = off * off / (alike * alike * fmin(var, other));
        double wide = fabs(var - other) / (alike_var * fmin(var, other));
        if (far + wide < nearest) {
            nearest = far + wide;
            at = i;
        }
    }
    if (nearest < 1 || m->n == MIXTURE_MAX) {
        component_merge(&m->items[at], c);
        return at;
    }
    m->items[m->n] = *c;
    return m->n++;
}

/** A component as a normal distribution of the mean of some runs. */
struct bell {
    double weight, mean, sd;
};

static void sort_by_mean(struct bell *bells, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct bell b = bells[i];
        uint32_t k = i;
        for (; k > 0 && bells[k - 1].mean > b.mean; k--)
            bells[k] = bells[k - 1];
        bells[k] = b;
    }
}

/** Bells that overlap, from `from` to `to`, and the grid of points they are summed on. */
struct cluster {
    const struct bell *bells;
    uint32_t n;
    double from, to, step;
    double density[MAX_GRID]; /* of all bells */
    double own[MAX_GRID];     /* sum of density times its logarithm, each bell by itself */
};

/** The next point's value is this one's times a ratio, and the ratio changes by a constant one. */
static void cluster_add(struct cluster *c, const struct bell *b)
{
    double sd = fmax(b->sd, narrowest * c->step), delta = c->step / sd;
    double first = ceil((b->mean - tail * sd - c->from) / c->step);
    uint32_t at = first > 0 ? (uint32_t)first : 0;
    double z = (c->from + at * c->step - b->mean) / sd;
    double value = b->weight / sd * exp(-z * z / 2);
    double ratio = exp(-delta * z - delta * delta / 2), change = exp(-delta * delta);
    double log_top = -log(sd);

    for (; z <= tail && at < MAX_GRID; z += delta, at++) {
        c->density[at] += value;
        c->own[at] += value * (log_top - z * z / 2);
        value *= ratio;
        ratio *= change;
    }
}

/** Information within a cluster, in nats, and from knowing that it is this one. */
static double cluster_nats(struct cluster *c)
{
    double sd = INFINITY, sum = 0;

    for (uint32_t i = 0; i < c->n; i++)
        sd = fmin(sd, c->bells[i].sd);
    c->step = fmax(grid_step * sd, (c->to - c->from) / (MAX_GRID - 1));
    uint32_t n_points = (uint32_t)((c->to - c->from) / c->step) + 1;
    for (uint32_t k = 0; k < n_points; k++)
        c->density[k] = c->own[k] = 0;
    for (uint32_t i = 0; i < c->n; i++)
        cluster_add(c, &c->bells[i]);
    for (uint32_t k = 0; k < n_points; k++)
        if (c->density[k] > 0)
            sum += c->own[k] - c->density[k] * log(c->density[k]);
    return sum * c->step / sqrt(2 * M_PI);
}

static double normal_nats(const struct mixture *m, uint32_t n_runs)
{
    struct bell bells[MIXTURE_MAX];
    struct cluster c;
    double nats = 0, least = sqrt(least_var);
    uint32_t n = 0;

    for (uint32_t i = 0; i < m->n; i++)
        least = fmax(least, resolution * fabs(m->items[i].mean));
    for (uint32_t i = 0; i < m->n; i++)
        if (m->items[i].weight > least_part * m->total)
            bells[n++] = (struct bell){m->items[i].weight / m->total, m->items[i].mean,
                                       fmax(sqrt(var_of_mean(&m->items[i], n_runs)), least)};
    sort_by_mean(bells, n);
    for (uint32_t i = 0; i < n; i += c.n) {
        c.bells = bells + i;
        c.from = bells[i].mean - tail * bells[i].sd;
        c.to = bells[i].mean + tail * bells[i].sd;
        for (c.n = 1; i + c.n < n; c.n++) {
            const struct bell *b = &bells[i + c.n];
            if (b->mean - tail * b->sd > c.to)
                break;
            c.from = fmin(c.from, b->mean - tail * b->sd);
            c.to = fmax(c.to, b->mean + tail * b->sd);
        }
        nats += cluster_nats(&c);
    }
    return nats;
}

/** Chances of 0 to n fails when the rate itself is uncertain (beta-binomial, by moments). */
static void p_fails(const struct component *c, uint32_t n, double *p)
{
    double mean = fmin(fmax(c->mean, 1e-6), 1 - 1e-6);
    double room = mean * (1 - mean);
    double strength = c->var > 1e-9 ? fmax(room / c->var - 1, .1) : 1e6;
    double a = mean * strength, b = (1 - mean) * strength;

    p[0] = 1;
    for (uint32_t j = 0; j < n; j++)
        p[0] *= (b + j) / (a + b + j);
    for (uint32_t k = 0; k < n; k++)
        p[k + 1] = p[k] * (n - k) / (k + 1) * (a + k) / (b + n - k - 1);
}

static double rate_nats(const struct mixture *m, uint32_t n_runs)
{
    double mix[RUNS_MERGED + 1] = {0}, p[RUNS_MERGED + 1], nats = 0;
    uint32_t n = n_runs < RUNS_MERGED ? n_runs : RUNS_MERGED;

    for (uint32_t i = 0; i < m->n; i++) {
        double weight = m->items[i].weight / m->total;
        p_fails(&m->items[i], n, p);
        for (uint32_t k = 0; k <= n; k++) {
            mix[k] += weight * p[k];
            nats += p[k] > 0 ? weight * p[k] * log(p[k]) : 0;
        }
    }
    for (uint32_t k = 0; k <= n; k++)
        nats -= mix[k] > 0 ? mix[k] * log(mix[k]) : 0;
    return nats;
}

/** The standard normal number with that much below it, to .005 (Winitzki's inverse of erf). */
static double normal_at(double place)
{
    const double a = .147, x = 2 * place - 1, log_rest = log(1 - x * x);
    double half = 2 / (M_PI * a) + log_rest / 2;

    return copysign(M_SQRT2 * sqrt(sqrt(half * half - log_rest / a) - half), x);
}

double component_outcome(const struct component *c, bool is_rate, uint32_t n_runs, double place)
{
    double p[RUNS_MERGED + 1], sum = 0;
    uint32_t n = n_runs < RUNS_MERGED ? n_runs : RUNS_MERGED, k = 0;

    if (!is_rate)
        return c->mean + normal_at(place) * sqrt(fmax(var_of_mean(c, n_runs), least_var));
    p_fails(c, n, p);
    while (k < n && (sum += p[k]) < place)
        k++;
    return (double)k / n;
}

double component_log(const struct component *c, bool is_rate, uint32_t n_runs, double mean)
{
    double p[RUNS_MERGED + 1];
    uint32_t n = n_runs < RUNS_MERGED ? n_runs : RUNS_MERGED;

    if (is_rate) {
        p_fails(c, n, p);
        return log(fmax(p[(uint32_t)(mean * n + .5)], least_var));
    }
    double var = fmax(var_of_mean(c, n_runs), least_var), off = mean - c->mean;
    return -off * off / (2 * var) - log(var) / 2;
}

double mixture_bits(const struct mixture *m, uint32_t n_runs)
{
    double nats = m->is_rate ? rate_nats(m, n_runs) : normal_nats(m, n_runs);

    return fmax(nats / M_LN2, 0);
}

/** No density of this variance has more entropy than a normal one; nor can more be learned than
 *  is not known. */
double mixture_bound_bits(const struct mixture *m, uint32_t n_runs)
{
    double mean = 0, square = 0, own = 0, entropy = 0;

    for (uint32_t i = 0; i < m->n; i++)
        mean += m->items[i].weight / m->total * m->items[i].mean;
    for (uint32_t i = 0; i < m->n; i++) {
        double weight = m->items[i].weight / m->total, off = m->items[i].mean - mean;
        double var = fmax(var_of_mean(&m->items[i], n_runs), least_var);
        square += weight * (var + off * off);
        own += weight * log(var);
        entropy -= weight > 0 ? weight * log(weight) : 0;
    }
    if (m->is_rate)
        return entropy / M_LN2;
    return fmin(entropy, (log(square) - own) / 2) / M_LN2;
}
