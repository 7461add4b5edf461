/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A noisy metric whose noise is known: one normal number a run, drawn from $BISECTD_SEED alone.
 *
 *     noise LEVEL SD [N OWN_SD]
 *
 * Prints LEVEL + SD * z, z standard normal. With N, prints N numbers that share that z and add
 * noise of their own: the many values of one run that have one run's luck.
 */
#include "base/hash.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Uniform over (0, 1), by SplitMix64: the `i`-th draw of a seed. */
static double uniform(uint64_t seed, uint64_t i)
{
    uint64_t bits = mix64(mix64(seed) + i) >> 11;
    return ((double)bits + 0.5) / 9007199254740992.0;
}

/* Box and Muller. */
static double normal(uint64_t seed, uint64_t i)
{
    double radius = sqrt(-2 * log(uniform(seed, 2 * i)));
    return radius * cos(2 * M_PI * uniform(seed, 2 * i + 1));
}

int main(int argc, char **argv)
{
    const char *seed_text = getenv("BISECTD_SEED");
    if ((argc != 3 && argc != 5) || !seed_text) {
        fprintf(stderr, "usage: BISECTD_SEED=S noise LEVEL SD [N OWN_SD]\n");
        return 2;
    }
    uint64_t seed = strtoull(seed_text, NULL, 10);
    double level = strtod(argv[1], NULL);
    double sd = strtod(argv[2], NULL);
    uint64_t n = argc == 5 ? strtoull(argv[3], NULL, 10) : 1;
    double own_sd = argc == 5 ? strtod(argv[4], NULL) : 0;
    double run = level + sd * normal(seed, 0);
    for (uint64_t i = 1; i <= n; i++)
        printf("%.9g\n", run + (n > 1 ? own_sd * normal(seed, i) : 0));
    return 0;
}
