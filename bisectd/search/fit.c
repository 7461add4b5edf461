/* SPDX-License-Identifier: Apache-2.0 */
#include "search/fit.h"

#include <math.h>
#include <stddef.h>

enum { N_DELTAS = 24, N_RATES = 33 };
static const double delta_low = .45, delta_high = 20;

double log_add(double a, double b)
{
    double high = fmax(a, b);

    if (isinf(high))
        return high;
    return high + log1p(exp(fmin(a, b) - high));
}

/** log Phi(x), good far into the lower tail. */
static double log_phi(double x)
{
    if (x > -30)
        return log(.5 * erfc(-x * M_SQRT1_2));
    return -x * x / 2 - log(-x) - .5 * log(2 * M_PI);
}

/** One value of delta: the mode of L = 1/sigma, the log integral, the log chance that delta/L >= M.
 */
struct laplace {
    double precision, log_mass, log_p_effect, log_p_small;
};

static struct laplace laplace_at(double power, double s_yy, double xy, double half_xx, double delta,
                                 double min_effect)
{
    struct laplace out;
    double root = xy + sqrt(xy * xy + 4 * s_yy * power);
    /* The smaller root form avoids cancellation when xy is large and negative. */
    double l = xy >= 0 ? root / (2 * s_yy) : 2 * power / (sqrt(xy * xy + 4 * s_yy * power) - xy);
    double curvature = power + s_yy * l * l;

    out.precision = l;
    out.log_mass = power * log(l) - s_yy * l * l / 2 + xy * l - half_xx - .5 * log(curvature);
    if (delta > 0) {
        double z = (log(delta / min_effect) - log(l)) * sqrt(curvature);
        out.log_p_effect = log_phi(z);
        out.log_p_small = log_phi(-z);
    } else {
        out.log_p_effect = -INFINITY;
        out.log_p_small = 0;
    }
    return out;
}

void fit_normal(const struct split *s, int sign, struct scale scale, struct fit *out)
{
    double power = s->n - s->n_hosts;
    double s_yy = s->s_yy + scale.floor * scale.floor;
    double low = scale.delta_low > 0 ? scale.delta_low : delta_low;
    struct laplace at[N_DELTAS];
    double high = -INFINITY;

    *out = (struct fit){.log_effect = -INFINITY, .log_small = -INFINITY};
    if (power < .5)
        power = .5;
    for (size_t j = 0; j < N_DELTAS; j++) {
        double delta = low * pow(delta_high / low, (double)j / (N_DELTAS - 1));
        at[j] = laplace_at(power, s_yy, sign * delta * s->s_xy, delta * delta * s->s_xx / 2, delta,
                           scale.min_effect);
        double part = at[j].log_mass - log(N_DELTAS);
        out->log_effect = log_add(out->log_effect, part + at[j].log_p_effect);
        out->log_small = log_add(out->log_small, part + at[j].log_p_small);
        high = fmax(high, part + at[j].log_p_effect);
    }

    double w = 0, step = 0, step2 = 0, sigma = 0;
    for (size_t j = 0; j < N_DELTAS; j++) {
        double delta = low * pow(delta_high / low, (double)j / (N_DELTAS - 1));
        double p = exp(at[j].log_mass - log(N_DELTAS) + at[j].log_p_effect - high);
        double size = sign * fmax(delta / at[j].precision, scale.min_effect);
        w += p;
        step += p * size;
        step2 += p * size * size;
        sigma += p / at[j].precision;
    }
    step /= w;
    step2 = fmax(step2 / w - step * step, 0);
    sigma /= w;

    double mean = (s->good.n * s->good.mean + s->bad.n * s->bad.mean) / s->n;
    double bad_part = s->bad.n / s->n;
    double good_part = s->good.n / s->n;
    double var = sigma * sigma / s->n;
    out->sigma = sigma;
    out->good = (struct side){mean - step * bad_part, var + step2 * bad_part * bad_part};
    out->bad = (struct side){mean + step * good_part, var + step2 * good_part * good_part};
}

void fit_normal_none(const struct split *s, struct scale scale, struct fit_none *out)
{
    double power = fmax(s->n - s->n_hosts, .5);
    double s_yy = s->s_yy + scale.floor * scale.floor;
    struct laplace at = laplace_at(power, s_yy, 0, 0, 0, scale.min_effect);

    out->log_none = at.log_mass;
    out->sigma = 1 / at.precision;
    out->all.mean = (s->good.n * s->good.mean + s->bad.n * s->bad.mean) / s->n;
    out->all.var = out->sigma * out->sigma / s->n;
}

/* Rates. Node 0 is the exact rate (0 for the lower side, 1 for the higher), the rest a grid. */

static const double p_exact = .7;

static double node_rate(size_t i, double exact)
{
    return i == 0 ? exact : (i - .5) / (N_RATES - 1);
}

static double node_weight(size_t i)
{
    return i == 0 ? p_exact : (1 - p_exact) / (N_RATES - 1);
}

static double log_rate(double rate, double n, double fails)
{
    double out = 0;

    if (fails > 0)
        out += rate > 0 ? fails * log(rate) : -INFINITY;
    if (n - fails > 0)
        out += rate < 1 ? (n - fails) * log1p(-rate) : -INFINITY;
    return out;
}

/** Likelihood of each node relative to the largest, whose log is returned. */
static double rate_nodes(double exact, const struct moments *m, double like[N_RATES])
{
    double fails = m->n * m->mean, high = -INFINITY;

    for (size_t i = 0; i < N_RATES; i++) {
        like[i] = log_rate(node_rate(i, exact), m->n, fails);
        high = fmax(high, like[i]);
    }
    for (size_t i = 0; i < N_RATES; i++)
        like[i] = exp(like[i] - high);
    return high;
}

struct rate_sums {
    double w, low, low2, high, high2;
};

static void rate_sums_add(struct rate_sums *s, double w, double low, double high)
{
    s->w += w;
    s->low += w * low;
    s->low2 += w * low * low;
    s->high += w * high;
    s->high2 += w * high * high;
}

void fit_rate(const struct split *s, int sign, struct scale scale, struct fit *out)
{
    const struct moments *low = sign > 0 ? &s->good : &s->bad;
    const struct moments *high = sign > 0 ? &s->bad : &s->good;
    double like_low[N_RATES], like_high[N_RATES];
    double top = rate_nodes(0, low, like_low) + rate_nodes(1, high, like_high);
    double prior = 0, small = 0;
    struct rate_sums sums = {0};

    for (size_t i = 0; i < N_RATES; i++)
        for (size_t j = 0; j < N_RATES; j++) {
            double a = node_rate(i, 0), b = node_rate(j, 1);
            if (b < a)
                continue;
            double w = node_weight(i) * node_weight(j);
            prior += w;
            w *= like_low[i] * like_high[j];
            if (b - a < scale.min_effect)
                small += w;
            else
                rate_sums_add(&sums, w, a, b);
        }
    *out = (struct fit){
        .log_effect = top + log(sums.w / prior),
        .log_small = top + log(small / prior),
    };
    if (sums.w == 0)
        return;
    double mean_low = sums.low / sums.w, mean_high = sums.high / sums.w;
    struct side l = {mean_low, fmax(sums.low2 / sums.w - mean_low * mean_low, 0)};
    struct side h = {mean_high, fmax(sums.high2 / sums.w - mean_high * mean_high, 0)};
    out->good = sign > 0 ? l : h;
    out->bad = sign > 0 ? h : l;
}

void fit_rate_none(const struct split *s, struct fit_none *out)
{
    double n = s->good.n + s->bad.n;
    double fails = s->good.n * s->good.mean + s->bad.n * s->bad.mean;
    double high = -INFINITY, w = 0, mean = 0, mean2 = 0;
    enum { N_NODES = N_RATES + 1 };
    double logs[N_NODES], rates[N_NODES];

    for (size_t i = 0; i < N_NODES; i++) {
        double prior = i == 0 ? .35 : i == 1 ? .25 : .4 / (N_NODES - 2);
        rates[i] = i == 0 ? 0 : i == 1 ? 1 : (i - 1.5) / (N_NODES - 2);
        logs[i] = log(prior) + log_rate(rates[i], n, fails);
        high = fmax(high, logs[i]);
    }
    for (size_t i = 0; i < N_NODES; i++) {
        double p = exp(logs[i] - high);
        w += p;
        mean += p * rates[i];
        mean2 += p * rates[i] * rates[i];
    }
    mean /= w;
    *out = (struct fit_none){
        .log_none = high + log(w),
        .all = {mean, fmax(mean2 / w - mean * mean, 0)},
    };
}
