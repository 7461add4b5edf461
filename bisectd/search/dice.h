/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers that look random and are a function of a key and a counter alone. */
#ifndef SEARCH_DICE_H
#define SEARCH_DICE_H

#include <stdint.h>

/** A key for another purpose, or for the i-th of many. */
uint64_t dice_key(uint64_t key, uint64_t i);
/** Uniform over (0, 1); the ends are never taken. */
double dice_uniform(uint64_t key, uint64_t i);
/** Standard normal. */
double dice_normal(uint64_t key, uint64_t i);
/** Uniform over 0 to n - 1. Pre: n > 0. */
uint32_t dice_below(uint64_t key, uint64_t i, uint32_t n);

#endif
