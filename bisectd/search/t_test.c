/* SPDX-License-Identifier: Apache-2.0 */
#include "search/t_test.h"

#include <math.h>

enum { MOST_TERMS = 300 };

/** Continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;

    for (int m = 1; m < MOST_TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int i = 0; i < 2; i++) {
            double term = i == 0 ? even : odd;
            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            c = fabs(c) < tiny ? tiny : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return f;
}

/** The regularised incomplete beta function. `x` and `y` = 1 - x are both given, exactly. */
static double beta_below(double a, double b, double x, double y)
{
    int sign;

    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    double log_front =
        lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) + a * log(x) + b * log(y);
    if (x < (a + 1) / (a + b + 2))
        return exp(log_front) * beta_fraction(a, b, x) / a;
    return 1 - exp(log_front) * beta_fraction(b, a, y) / b;
}

static double two_sided_p(double t, double df)
{
    double all = df + t * t;

    return isinf(t) ? 0 : beta_below(df / 2, .5, df / all, t * t / all);
}

static struct t_test test_of(double step, double variance, double df)
{
    if (variance <= 0)
        return (struct t_test){step == 0 ? 0 : copysign(INFINITY, step), df, step == 0 ? 1 : 0};
    double t = step / sqrt(variance);
    return (struct t_test){t, df, two_sided_p(t, df)};
}

struct t_test t_test_student(const struct moments *a, const struct moments *b)
{
    double df = a->n + b->n - 2;

    if (a->n < 1 || b->n < 1 || df <= 0)
        return (struct t_test){0, fmax(df, 0), 1};
    return test_of(b->mean - a->mean, (a->ss + b->ss) / df * (1 / a->n + 1 / b->n), df);
}

struct t_test t_test_welch(const struct moments *a, const struct moments *b)
{
    if (a->n < 2 || b->n < 2)
        return (struct t_test){0, 0, 1};
    double var_a = a->ss / (a->n - 1) / a->n, var_b = b->ss / (b->n - 1) / b->n;
    double sum = var_a + var_b;
    double df = sum > 0 ? sum * sum / (var_a * var_a / (a->n - 1) + var_b * var_b / (b->n - 1))
                        : a->n + b->n - 2;
    return test_of(b->mean - a->mean, sum, df);
}
