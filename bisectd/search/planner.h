/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What to measure next: the revision and number of runs with the most expected information about
 * the answer for their price. The ends are choices like any other.
 */
#ifndef SEARCH_PLANNER_H
#define SEARCH_PLANNER_H

#include "search/outlook.h"

enum testable {
    TESTABLE_UNKNOWN, /* not built yet */
    TESTABLE_YES,     /* built, or an artifact is at hand */
    TESTABLE_NO       /* does not build, or cannot be measured */
};

struct planner {
    const struct dag *dag;
    const struct posterior *posterior;
    const struct evidence *evidence;
    const uint8_t *testable;  /* enum testable of each commit */
    const double *p_builds;   /* of each commit, from planner_p_builds() */
    const uint8_t *is_barred; /* commits not to be chosen now: being built, or off the main line */
    uint32_t n_pending;       /* work in flight; at most OUTLOOK_MAX_PENDING */
    const struct pending *pending;
    bool is_blind;       /* the ends were not measured yet: there is a step or there is not */
    uint32_t good, bad;  /* the ends */
    uint32_t last_built; /* what a checkout and a build start from */
    double build_price;  /* of building one revision, in runs */
    double task_price;   /* of a task beside its builds and runs, in runs */
};

struct probe {
    uint32_t revision; /* UINT32_MAX: nothing can be learned any more */
    uint32_t n_runs;
    double info_bits; /* expected, the chance that it does not build included */
    double price_runs;
};

/** The choice with the most expected information for its price. */
struct probe planner_choose(const struct planner *p);

/** The most that can be learned at each of the revisions in flight for its price, as if nothing
 *  were in flight: bits for the length of a run. */
void planner_rates(const struct planner *p, double *rates);

/**
 * Probability that each commit can be built and measured, learned from its neighbours in
 * topological order: broken commits come in stretches, whose length is log-uniform; between two
 * broken ones nothing is expected to work once several probes there have failed.
 */
void planner_p_builds(const uint8_t *testable, uint32_t n, double *p_builds);

/** Below this chance a commit counts as part of the broken stretch around it. */
extern const double planner_presumed_broken;

#endif
