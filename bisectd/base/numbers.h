/* SPDX-License-Identifier: Apache-2.0 */
/** Plain numbers in order. */
#ifndef BASE_NUMBERS_H
#define BASE_NUMBERS_H

#include <stddef.h>

/** Smallest first. */
void numbers_sort(double *values, size_t n);
/** The median of sorted values. Pre: n > 0. */
double numbers_median(const double *sorted, size_t n);

#endif
