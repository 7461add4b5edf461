/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pinpoint_bound.h"

#include "base/auto.h"
#include <math.h>
#include <stdlib.h>

static const uint32_t sizes[] = {10, 15, 20, 25, 30, 40, 45, 50, 60, 80, 85, 90, 100, 120, 160};

/* By 20,000 pairs of normal samples for each number; a row for each tenth of magnitude from .3. */
/* clang-format off */
static const double bounds[][LEN(sizes)] = {
    {1, 1, .9892, .9845, .9705, .9578, .9485, .9313, .9060, .8019, .7458, .7217, .6190, .4553, .2043},
    {1, 1, .9676, .9536, .9234, .8663, .7838, .7123, .6052, .3299, .2686, .2334, .1794, .0876},
    {1, .9669, .9246, .8766, .7845, .5867, .4243, .3259, .1939, .0676},
    {.9698, .9339, .7972, .6276, .4825, .2347, .1676, .1016},
    {.9698, .8035, .5792, .3417, .2226, .0807, .0528},
    {.9097, .5897, .3104, .1744, .0933},
    {.7337, .3837, .1719, .0743},
    {.5708, .2455, .0859},
    {.4274, .1354},
    {.2730, .0620},
    {.1859},
    {.1212},
    {.0640},
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
