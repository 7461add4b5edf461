/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How well "these runs are good, those are bad" explains the values, with nothing told about
 * levels or noise: both are integrated out. All logs are natural and share one constant, so that
 * differences between splits of the same runs are log Bayes factors.
 *
 * Numbers (fit_normal): y = mu(host) + delta * sigma * x + sigma * noise, mu flat, p(sigma) ~
 * 1/sigma, delta log-uniform on a grid from .45 to 20; the integral over sigma by Laplace's method
 * in log(1/sigma). The proper prior on delta is what keeps few runs from claiming much.
 *
 * Several steps (fit_steps): the same model where the values leave little doubt about the size of
 * each step: the integral over sizes in closed form around the best ones.
 *
 * Rates (fit_rate): pass or fail; the good rate is 0 or anything, the bad rate 1 or anything
 * larger; both on a grid.
 */
#ifndef SEARCH_FIT_H
#define SEARCH_FIT_H

#include "search/evidence.h"

enum { MAX_STEPS = 4 };

/** What must be at least this far apart to be called a change, and what values cannot resolve. */
struct scale {
    double min_effect; /* M, in the metric's unit; for rates a difference of rates */
    double floor;      /* standard deviations below this are not believed */
    double delta_low;  /* smallest step thought of, in standard deviations; 0: .45 */
};

struct side {
    double mean; /* expected value of a new run on this side */
    double var;  /* uncertainty of that mean */
};

struct fit {
    double log_effect;     /* evidence for a step of at least M (with the sign asked for) */
    double log_small;      /* ... of less than M: counts as no change */
    struct side good, bad; /* under a step of at least M */
    struct side step;      /* its size */
    double sigma;          /* of one run; 0 for rates */
};

/** Several steps at once: sums as in struct split, x_j is 1 on the bad side of step j. */
struct steps {
    uint32_t n;
    double s_xy[MAX_STEPS], s_xx[MAX_STEPS][MAX_STEPS];
    int sign[MAX_STEPS]; /* +1: up, -1: down, 0: either */
};
struct fit_steps {
    double log_effect;      /* evidence for all steps being at least M, in the directions asked */
    double size[MAX_STEPS]; /* expected */
    double cov[MAX_STEPS][MAX_STEPS];
    double sigma;
};

struct fit_none {
    double log_none; /* evidence for one level */
    struct side all;
    double sigma;
};

/** sign is +1 (bad is higher) or -1. */
void fit_normal(const struct split *s, int sign, struct scale scale, struct fit *out);
/** log_effect is -inf where the best sizes point elsewhere or there are too few runs. */
void fit_steps(const struct split *s, const struct steps *steps, struct scale scale,
               struct fit_steps *out);
void fit_normal_none(const struct split *s, struct scale scale, struct fit_none *out);
void fit_rate(const struct split *s, int sign, struct scale scale, struct fit *out);
void fit_rate_none(const struct split *s, struct fit_none *out);

/** log(exp(a) + exp(b)) without overflow; -inf is zero. */
double log_add(double a, double b);

#endif
