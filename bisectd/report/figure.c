/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figure.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of one quantity, the largest first: the first one that the value reaches is used. */
struct step {
    const char *from; /* unit of the metric */
    double least;     /* in that unit */
    double factor;
    const char *to;
    const char *of_change; /* unit of a difference; NULL: the same */
};

/* clang-format off */
static const struct step steps[] = {
    {"B",     1073741824.0, 1.0 / 1073741824.0, "GiB", NULL},
    {"B",     1048576.0,    1.0 / 1048576.0,    "MiB", NULL},
    {"B",     10240.0,      1.0 / 1024.0,       "KiB", NULL},
    {"bytes", 1073741824.0, 1.0 / 1073741824.0, "GiB", NULL},
    {"bytes", 1048576.0,    1.0 / 1048576.0,    "MiB", NULL},
    {"bytes", 10240.0,      1.0 / 1024.0,       "KiB", NULL},
    {"KiB",   1048576.0,    1.0 / 1048576.0,    "GiB", NULL},
    {"KiB",   10240.0,      1.0 / 1024.0,       "MiB", NULL},
    {"ms",    10000.0,      1e-3,               "s", NULL},
    {"ms",    0.1,          1.0,                "ms", NULL},
    {"ms",    0.0,          1e3,                "us", NULL},
    {"s",     1.0,          1.0,                "s", NULL},
    {"s",     1e-4,         1e3,                "ms", NULL},
    {"s",     0.0,          1e6,                "us", NULL},
    {"failures", 0.0,       100.0,              "% failing", "points"},
};
/* clang-format on */

struct figure_scale figure_scale_of(const char *unit, double largest)
{
    struct figure_scale same = {1.0, unit ? unit : "", NULL};

    if (!unit || !isfinite(largest) || largest == 0)
        largest = 1;
    for (size_t i = 0; i < LEN(steps); i++)
        if (unit && strcmp(unit, steps[i].from) == 0 && fabs(largest) >= steps[i].least)
            return (struct figure_scale){steps[i].factor, steps[i].to, steps[i].of_change};
    return same;
}

/* Four significant digits, and whole numbers whole. */
static void figure_number(struct buf *out, double x)
{
    double size = fabs(x);

    if (size >= 1e15 || (size > 0 && size < 1e-4)) {
        buf_printf(out, "%.4g", x);
        return;
    }
    if (x == rint(x) || size >= 1000) {
        buf_printf(out, "%.0f", x == 0 ? 0.0 : x);
        return;
    }
    int digits = size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
    buf_printf(out, "%.*f", digits, x);
}

static void figure_unit(struct buf *out, const char *unit)
{
    if (unit[0])
        buf_printf(out, " %s", unit);
}

void figure_value(struct buf *out, double value, struct figure_scale scale)
{
    if (!isfinite(value)) {
        buf_adds(out, "unknown");
        return;
    }
    figure_number(out, value * scale.factor);
    figure_unit(out, scale.unit);
}

void figure_change(struct buf *out, double delta, struct figure_scale scale)
{
    if (isfinite(delta) && delta > 0)
        buf_addc(out, '+');
    if (scale.of_change)
        scale.unit = scale.of_change;
    figure_value(out, delta, scale);
}

void figure_ratio(struct buf *out, double ratio)
{
    if (!isfinite(ratio))
        return;
    if (ratio >= 10) {
        figure_number(out, ratio);
        buf_adds(out, " times as much");
        return;
    }
    double percent = (ratio - 1) * 100;
    int digits = fabs(percent) >= 100 ? 0 : fabs(percent) >= 1 ? 1 : 2;
    buf_printf(out, "%+.*f %%", digits, percent);
}

void figure_effect(struct buf *out, double percent, const char *unit)
{
    double times = percent / 100;

    if (unit || !(times >= 2))
        buf_printf(out, "%.3g %s", percent, unit ? unit : "%");
    else if (times < 9.95)
        buf_printf(out, "%.2g times the good level", times);
    else
        buf_printf(out, "%.0f times the good level", times);
}

void figure_probability(struct buf *out, double p)
{
    double percent = p * 100;

    if (!(p >= 0 && p <= 1))
        buf_adds(out, "unknown");
    else if (percent > 99.95)
        buf_adds(out, "over 99.9 %");
    else if (percent < 0.05)
        buf_adds(out, "under 0.1 %");
    else
        buf_printf(out, "%.1f %%", percent);
}

void figure_grouped(struct buf *out, int64_t n)
{
    char digits[32];
    int len = snprintf(digits, sizeof(digits), "%" PRId64, n);
    int first = n < 0 ? 1 : 0;

    for (int i = 0; i < len; i++) {
        if (i > first && (len - i) % 3 == 0)
            buf_addc(out, ',');
        buf_addc(out, digits[i]);
    }
}

void figure_count(struct buf *out, uint64_t n, const char *one, const char *many)
{
    buf_printf(out, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}
