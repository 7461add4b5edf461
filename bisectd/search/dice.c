/* SPDX-License-Identifier: Apache-2.0 */
#include "search/dice.h"

#include "base/hash.h"
#include <math.h>

uint64_t dice_key(uint64_t key, uint64_t i)
{
    return mix64(mix64(key) + i);
}

double dice_uniform(uint64_t key, uint64_t i)
{
    return ((double)(dice_key(key, i) >> 11) + .5) / 9007199254740992.0;
}

double dice_normal(uint64_t key, uint64_t i)
{
    uint64_t own = dice_key(key, i); /* Box and Muller, 1958 */

    return sqrt(-2 * log(dice_uniform(own, 0))) * cos(2 * M_PI * dice_uniform(own, 1));
}

uint32_t dice_below(uint64_t key, uint64_t i, uint32_t n)
{
    return (uint32_t)(dice_uniform(key, i) * n);
}
