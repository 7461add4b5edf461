/* SPDX-License-Identifier: Apache-2.0 */
#include "base/numbers.h"
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void numbers_sort(double *values, size_t n)
{
    if (n > 1)
        qsort(values, n, sizeof(*values), by_value);
}

double numbers_median(const double *sorted, size_t n)
{
    /* Halves first: a sum may overflow. */
    return n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
}
