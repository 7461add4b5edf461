/* SPDX-License-Identifier: Apache-2.0 */
#include "search/fit.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { N_DELTAS = 24, N_RATES = 33 };
static const double delta_low = .45, delta_high = 20;
static const double several_from = 4; /* smaller changes than this are rather one step */

double log_add(double a, double b)
{
    double high = fmax(a, b);

    if (isinf(high))
        return high;
    return high + log1p(exp(fmin(a, b) - high));
}

/** The part of a standard normal below x. */
static double phi(double x)
{
    return x > 8 ? 1 : x < -8 ? 0 : .5 * erfc(-x * M_SQRT1_2);
}

/** One value of delta: the mode of L = 1/sigma, the log integral, the chance that delta/L >= M. */
struct laplace {
    double precision, log_mass, p_effect;
};

static struct laplace laplace_at(double power, double s_yy, double xy, double half_xx)
{
    struct laplace out;
    double root = sqrt(xy * xy + 4 * s_yy * power);
    /* Either form avoids cancellation. */
    double l = xy >= 0 ? (xy + root) / (2 * s_yy) : 2 * power / (root - xy);
    double curvature = power + s_yy * l * l;

    out.precision = l;
    out.log_mass = power * log(l) - s_yy * l * l / 2 + xy * l - half_xx - .5 * log(curvature);
    out.p_effect = curvature; /* until the step's size is looked at */
    return out;
}

static double power_of(const struct split *s)
{
    return fmax(s->n - s->n_hosts, .5);
}

static double noise_of(const struct split *s, struct scale scale)
{
    return s->s_yy + scale.floor * scale.floor;
}

void fit_normal(const struct split *s, int sign, struct scale scale, struct fit *out)
{
    double power = power_of(s), s_yy = noise_of(s, scale);
    double low = scale.delta_low > 0 ? scale.delta_low : delta_low;
    double ratio = pow(delta_high / low, 1. / (N_DELTAS - 1)), delta = low, high = -INFINITY;
    double w = 0, step = 0, step2 = 0, sigma = 0, small = 0;
    struct laplace at[N_DELTAS];

    for (size_t j = 0; j < N_DELTAS; j++, delta *= ratio) {
        at[j] = laplace_at(power, s_yy, sign * delta * s->s_xy, delta * delta * s->s_xx / 2);
        double z = log(delta / (scale.min_effect * at[j].precision)) * sqrt(at[j].p_effect);
        at[j].p_effect = phi(z);
        high = fmax(high, at[j].log_mass);
    }
    delta = low;
    for (size_t j = 0; j < N_DELTAS; j++, delta *= ratio) {
        double mass = exp(at[j].log_mass - high), p = mass * at[j].p_effect;
        double size = sign * fmax(delta / at[j].precision, scale.min_effect);
        small += mass * (1 - at[j].p_effect);
        w += p;
        step += p * size;
        step2 += p * size * size;
        sigma += p / at[j].precision;
    }
    *out = (struct fit){
        .log_effect = high + log(w / N_DELTAS),
        .log_small = high + log(small / N_DELTAS),
    };
    if (w == 0)
        return;
    step /= w;
    step2 = fmax(step2 / w - step * step, 0);
    sigma /= w;
    double bad_part = s->bad_ones / s->ones, good_part = 1 - bad_part;
    double var = sigma * sigma / s->ones;
    out->sigma = sigma;
    out->step = (struct side){step, step2};
    out->good = (struct side){s->mean - step * bad_part, var + step2 * bad_part * bad_part};
    out->bad = (struct side){s->mean + step * good_part, var + step2 * good_part * good_part};
}

void fit_normal_none(const struct split *s, struct scale scale, struct fit_none *out)
{
    struct laplace at = laplace_at(power_of(s), noise_of(s, scale), 0, 0);

    out->log_none = at.log_mass;
    out->sigma = 1 / at.precision;
    out->all.mean = s->mean;
    out->all.var = out->sigma * out->sigma / s->ones;
}

/** Inverse of a small symmetric positive matrix by Cholesky's method, and the log of its
 *  determinant; false if it is singular. */
static bool invert(uint32_t n, const double a[MAX_STEPS][MAX_STEPS],
                   double inverse[MAX_STEPS][MAX_STEPS], double *log_det)
{
    double l[MAX_STEPS][MAX_STEPS] = {{0}}, m[MAX_STEPS][MAX_STEPS] = {{0}};

    memset(inverse, 0, MAX_STEPS * sizeof(*inverse));
    *log_det = 0;
    for (uint32_t j = 0; j < n; j++) {
        for (uint32_t i = j; i < n; i++) {
            double sum = a[i][j];
            for (uint32_t k = 0; k < j; k++)
                sum -= l[i][k] * l[j][k];
            if (i == j && sum <= 1e-9 * a[j][j])
                return false;
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
        *log_det += 2 * log(l[j][j]);
    }
    for (uint32_t j = 0; j < n; j++) /* m = inverse of l */
        for (uint32_t i = j; i < n; i++) {
            double sum = i == j;
            for (uint32_t k = j; k < i; k++)
                sum -= l[i][k] * m[k][j];
            m[i][j] = sum / l[i][i];
        }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            inverse[i][j] = 0;
            for (uint32_t k = i > j ? i : j; k < n; k++)
                inverse[i][j] += m[k][i] * m[k][j];
        }
    return true;
}

static bool is_against(const struct steps *steps, uint32_t i, double size)
{
    return steps->sign[i] != 0 && (size > 0) != (steps->sign[i] > 0);
}

/** Takes steps that seem smaller for ones of M, the least likely first, and the others for what
 *  they are then expected to be. */
static void enlarge(struct fit_steps *f, const struct steps *steps, double min_effect)
{
    for (uint32_t round = 0; round < steps->n; round++) {
        uint32_t least = UINT32_MAX;
        double lack = 1e-9, by = 0;
        for (uint32_t i = 0; i < steps->n; i++) {
            int sign = steps->sign[i] ? steps->sign[i] : f->size[i] > 0 ? 1 : -1;
            double missing = sign * min_effect - f->size[i];
            if (sign * missing / sqrt(f->cov[i][i]) <= lack)
                continue;
            lack = sign * missing / sqrt(f->cov[i][i]);
            least = i;
            by = missing;
        }
        for (uint32_t i = 0; i < steps->n && least != UINT32_MAX; i++)
            f->size[i] += by * f->cov[i][least] / f->cov[least][least];
    }
}

void fit_steps(const struct split *s, const struct steps *steps, struct scale scale,
               struct fit_steps *out)
{
    double power = s->n - s->n_hosts - steps->n, rest = noise_of(s, scale), log_det, total = 0;
    double inverse[MAX_STEPS][MAX_STEPS] = {{0}};

    *out = (struct fit_steps){.log_effect = -INFINITY};
    if (power < 1 || !invert(steps->n, steps->s_xx, inverse, &log_det))
        return;
    for (uint32_t i = 0; i < steps->n; i++) {
        for (uint32_t j = 0; j < steps->n; j++)
            out->size[i] += inverse[i][j] * steps->s_xy[j];
        rest -= out->size[i] * steps->s_xy[i];
    }
    rest = fmax(rest, scale.floor * scale.floor);
    out->sigma = sqrt(rest / power);
    double log_p = power * .5 * log(power / rest) - power / 2 - .5 * log(2 * power) - .5 * log_det +
                   .5 * steps->n * log(2 * M_PI);
    for (uint32_t i = 0; i < MAX_STEPS; i++)
        for (uint32_t j = 0; j < MAX_STEPS; j++)
            out->cov[i][j] = out->sigma * out->sigma * inverse[i][j];
    for (uint32_t i = 0; i < steps->n; i++) {
        double size = fabs(out->size[i]) * (is_against(steps, i, out->size[i]) ? -1 : 1);
        log_p += log(phi((size - scale.min_effect) / sqrt(out->cov[i][i])));
        total += fmax(size, scale.min_effect);
    }
    enlarge(out, steps, scale.min_effect);
    /* Density of the sizes: their sum log-uniform, their shares in it uniform. */
    log_p -= steps->n * log(total) + log(log(delta_high / delta_low));
    for (uint32_t i = 2; i < steps->n; i++)
        log_p += log(i);
    double deltas = total / out->sigma;
    log_p -= log1p(several_from * several_from / (deltas * deltas));
    out->log_effect = log_p;
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
