/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Many synthetic searches by one policy: how often it is right, and what that costs.
 *
 * Trials are functions of the setting and their number alone, so that they may run in any order
 * and on any thread.
 */
#ifndef SEARCH_SIMULATE_H
#define SEARCH_SIMULATE_H

#include "search/policy.h"

struct simulation;

struct simulation *simulation_new(const struct policy *policy, const struct setting *setting);
void simulation_free(struct simulation *s);
DEFINE_AUTO(struct simulation, simulation_free)

struct trial {
    enum score score;
    uint32_t n_runs, n_builds, n_decisions;
    double rounds;      /* run lengths from begin to end */
    double share_error; /* mean of several culprits' shares; nan unless exact with shares known */
    struct beside beside;
};
/** Safe on several threads at once. */
void simulation_trial(const struct simulation *s, uint32_t number, struct trial *out);
/** The same, and appends the search to `record` (recording.h). Of the policy bisectd alone: others
 *  append nothing. */
void simulation_record(const struct simulation *s, uint32_t number, struct trial *out,
                       struct buf *record);

struct tally {
    uint32_t n_trials;
    double exact, wrong, undecided;               /* fractions */
    double runs, builds, cost, rounds, decisions; /* means */
    double runs_error;                            /* standard error of the mean of runs */
    double share_error; /* mean over the trials that have one; nan if none has */
    double beside_culprit, beside_named, beside_wrong; /* fractions; see scene_beside() */
    double floor_runs;                                 /* bound L1; nan without a change */
};
/** Pre: n > 0. */
void simulation_tally(const struct simulation *s, const struct trial *trials, uint32_t n,
                      struct tally *out);

#endif
