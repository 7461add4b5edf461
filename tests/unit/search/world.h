/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A synthetic history and worker: plays tasks of a struct bisection in memory, so that whole
 * searches run in milliseconds. Values are drawn from each run's seed, as a measuring command
 * would with $BISECTD_SEED.
 */
#ifndef TESTS_SEARCH_WORLD_H
#define TESTS_SEARCH_WORLD_H

#include "model/bisection.h"
#include "search/bisection.h"

struct world {
    uint32_t n;                      /* commits of the range, in a line unless parents are set */
    uint32_t culprit;                /* index among candidates, 0 first; UINT32_MAX: no change */
    double level, effect, sd;        /* value = level (+ effect) + sd * noise */
    bool is_rate;                    /* level and level + effect are failure rates */
    double slope;                    /* the value rises by this with each commit */
    double min_effect_percent;       /* 0: automatic */
    double flicker;                  /* chance that a run is one higher */
    uint32_t broken_from, broken_to; /* candidates that do not build: from <= i < to */
    double confidence;
    uint64_t seed;
    enum worse worse;
    double p_merge;      /* > 0: a random DAG with so many merges */
    bool has_artifacts;  /* of every commit, from an earlier bisection */
    bool is_comparison;  /* the last commit against the first, to be used with n = 1 */
    uint32_t docs_every; /* > 0: every so many candidates changes documentation alone */
    enum { DOCS_UNKNOWN, DOCS_PROSE, DOCS_UNTOUCHED } docs; /* what the range says of them */
    bool is_worker_old;                                     /* takes runs of known bytes too */
    bool is_forgetful;     /* rebuilds the search from its events after each */
    double host_factor;    /* > 0: two hosts take turns; the second measures this much higher */
    double series_factor;  /* > 0: a time series was stored, one value of each commit; 1: of the
                              host that measures now, else of one that measures this much higher */
    bool is_confirming;    /* culprits are reverted on top of the last commit */
    double revert_share;   /* of the effect, that a revert takes away */
    bool is_revert_broken; /* it conflicts */
    int64_t budget_runs;   /* 0: 2000 */
    bool is_asked_again; /* afterwards, with all samples stored; the clock runs: a task begins up to
                            100 s after the last has ended, a run takes 1 s */
    enum event_kind interruption; /* unless 0: comes in place of a confirmation's first result */
};

struct outcome {
    struct verdict verdict; /* caller frees with outcome_fini */
    uint32_t named;         /* candidate named, UINT32_MAX */
    uint32_t n_builds, n_runs, n_tasks;
    uint32_t n_search_builds;            /* without the ends and verification */
    uint32_t max_runs;                   /* of one revision, without verification */
    uint32_t n_again;                    /* tasks that the second time takes at once */
    double again_p_none;                 /* what it thinks of no change */
    uint32_t n_docs_runs, n_docs_builds; /* of candidates that change documentation alone */
};

/** Whether candidate `c` (0 first) changes documentation alone. */
bool world_is_docs(const struct world *w, uint32_t c);
void world_search(const struct world *w, struct outcome *out);
void outcome_fini(struct outcome *o);

/** A standard normal number, a function of x alone. */
double normal_of(uint64_t x);
double uniform_of(uint64_t x);
struct range *world_range(const struct world *w);
struct request *world_request(const struct world *w);

/** Sanitizers look at the code, not at the odds: at most `few` seeds of n do there. */
uint32_t seeds_of(uint32_t n, uint32_t few);

#endif
