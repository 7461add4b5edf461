/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pinpoint_bound.h"

#include "base/auto.h"
#include <math.h>
#include <stdlib.h>

static const uint32_t sizes[] = {10, 15, 20, 25, 30, 40, 45, 50, 60, 80, 85, 90, 100, 120, 160};

/* By 200,000 pairs of normal samples for each number; a row for each tenth of magnitude from .3. */
/* clang-format off */
static const double bounds[][LEN(sizes)] = {
    {1, 1, .9892, .9845, .9705, .9578, .9485, .9313, .9018, .7940, .7506, .7153, .6190, .4531, .2248},
    {1, 1, .9676, .9536, .9234, .8512, .7962, .7277, .5726, .3116, .2713, .2312, .1604, .0826},
    {1, .9669, .9246, .8614, .7618, .5412, .4290, .3397, .2068, .0671, .0518},
    {.9698, .9339, .7972, .6415, .4733, .2347, .1651, .1105, .0512},
    {.9698, .8035, .5792, .3618, .2282, .0807},
    {.9097, .5897, .3369, .1806, .0905},
    {.7337, .3837, .1719, .0775},
    {.5708, .2290, .0859},
    {.4274, .1354},
    {.2730, .0680},
    {.1859},
    {.1212},
    {.0757},
};
/* clang-format on */

double pinpoint_same_bound(double magnitude, uint32_t n)
{
    int row = (int)floor(magnitude * 10 + 1e-9) - 3;
    size_t column = 0;

    for (size_t i = 1; i < LEN(sizes); i++)
        if (labs((long)sizes[i] - (long)n) < labs((long)sizes[column] - (long)n))
            column = i;
    if (row < 0)
        row = 0;
    return row < (int)LEN(bounds) ? bounds[row][column] : 0;
}
