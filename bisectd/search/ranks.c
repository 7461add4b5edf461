/* SPDX-License-Identifier: Apache-2.0 */
#include "search/ranks.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ranked {
    double value;
    bool is_b;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

    return (x > y) - (x < y);
}

static struct ranked *merge(const struct two_samples *s)
{
    struct ranked *all = mem_array(s->n_a + s->n_b, sizeof(*all));

    assert(s->n_a > 0 && s->n_b > 0);
    for (uint32_t i = 0; i < s->n_a; i++)
        all[i] = (struct ranked){s->a[i], false};
    for (uint32_t i = 0; i < s->n_b; i++)
        all[s->n_a + i] = (struct ranked){s->b[i], true};
    qsort(all, s->n_a + s->n_b, sizeof(*all), by_value);
    return all;
}

/** One past the last of the values equal to that at `from`. */
static uint32_t tie_end(const struct ranked *all, uint32_t n, uint32_t from)
{
    uint32_t to = from + 1;

    while (to < n && all[to].value == all[from].value)
        to++;
    return to;
}

double mann_whitney_p(const struct two_samples *s)
{
    struct ranked *all = merge(s);
    uint32_t total = s->n_a + s->n_b;
    double n = total, ranks_of_a = 0, ties = 0;

    for (uint32_t i = 0, to; i < total; i = to) {
        to = tie_end(all, total, i);
        double size = to - i, rank = (i + 1 + to) / 2.;
        ties += size * size * size - size;
        for (uint32_t k = i; k < to; k++)
            ranks_of_a += all[k].is_b ? 0 : rank;
    }
    mem_free(all);
    double u = ranks_of_a - s->n_a * (s->n_a + 1.) / 2, mean = .5 * s->n_a * s->n_b;
    double correction = 1 - ties / (n * n * n - n);
    if (correction <= 0)
        return 1;
    double sd = sqrt(correction * s->n_a * s->n_b * (n + 1) / 12);
    return erfc(fmax(fabs(u - mean) - .5, 0) / sd / sqrt(2));
}

/** Kolmogorov's distribution: the chance of more than x. */
static double kolmogorov_tail(double x)
{
    double sum = 0, sign = 1;

    if (x < .2)
        return 1;
    for (int k = 1; k < 100; k++, sign = -sign) {
        double term = exp(-2. * k * k * x * x);
        sum += sign * term;
        if (term < 1e-17 * fabs(sum))
            break;
    }
    return fmin(2 * sum, 1);
}

double kolmogorov_smirnov_p(const struct two_samples *s)
{
    struct ranked *all = merge(s);
    uint32_t total = s->n_a + s->n_b;
    double below_a = 0, below_b = 0, d = 0;

    for (uint32_t i = 0, to; i < total; i = to) {
        to = tie_end(all, total, i);
        for (uint32_t k = i; k < to; k++) {
            below_a += !all[k].is_b;
            below_b += all[k].is_b;
        }
        d = fmax(d, fabs(below_a / s->n_a - below_b / s->n_b));
    }
    mem_free(all);
    double n = sqrt((double)s->n_a * s->n_b / total);
    return kolmogorov_tail((n + .12 + .11 / n) * d);
}
