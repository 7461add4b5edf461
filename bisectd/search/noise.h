/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Synthetic measurements: the noise that a search must bear, one family a row.
 *
 * A change of `d` moves the level by d standard deviations of one run. Values of the good level
 * have mean 100 and standard deviation 2 (count: 20 and the root of 20).
 *
 *     gaussian   normal
 *     lognormal  log-sd 1, shifted and scaled to mean and sd
 *     bimodal    two equal modes 1.8 sd apart, sd 1 in all
 *     outliers   normal; each run with probability .05 has 10 to 20 sd added
 *     count      Poisson
 *     drift      normal, plus an Ornstein-Uhlenbeck level of 1 sd with a correlation time of 40
 *                runs, plus one jump of 3 sd, up or down, at a random time
 *     workers    normal; each worker's values are multiplied by its own 1 to 1.5
 */
#ifndef SEARCH_NOISE_H
#define SEARCH_NOISE_H

#include "base/auto.h"
#include <stdint.h>

enum noise_family {
    NOISE_GAUSSIAN,
    NOISE_LOGNORMAL,
    NOISE_BIMODAL,
    NOISE_OUTLIERS,
    NOISE_COUNT,
    NOISE_DRIFT,
    NOISE_WORKERS,
    N_NOISE_FAMILIES
};
extern const char *const noise_names[]; /* ends with NULL */

/** Mean of a run, outliers left out. */
double noise_level(enum noise_family f, double change);
/** Standard deviation of a run at the good level, outliers and drift left out. */
double noise_sd(enum noise_family f);
/**
 * Log of the density (count: of the probability) of one run with value `x`, -inf where there is
 * none. The worker's level is taken out of `x` before; drift is in it as so much more spread.
 */
double noise_log_density(enum noise_family f, double change, double x);

enum { NOISE_MAX_WORKERS = 64 };

/** One world's noise: its drift, its workers. */
struct noise {
    enum noise_family family;
    uint64_t key;
    double factor[NOISE_MAX_WORKERS]; /* of each worker */
    double jump_at, jump;             /* in run lengths; in sd */
    uint32_t n_drift;
    double *drift; /* level at whole run lengths, in sd; grown as time is asked for */
};

/** The jump comes within `horizon` run lengths after `start`. Free with noise_fini. */
void noise_init(struct noise *n, enum noise_family f, uint64_t key, double start, double horizon);
void noise_fini(struct noise *n);
DEFINE_AUTO_FINI(struct noise, noise_fini)

/** The run that `key` stands for, of a revision changed by `change`, at `time` run lengths. */
struct noise_run {
    double change, time;
    uint64_t key;
    uint32_t worker;
};
double noise_value(struct noise *n, const struct noise_run *run);

#endif
