/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One synthetic search from outside: a history in a line with its answer, workers that build and
 * measure, a clock, and the bill.
 *
 * Revision 0 is good, 1 to n are the candidates, n is bad. The ends are at hand when it begins:
 * their builds are neither counted nor take time. A build lasts `build_cost` run lengths, a run 1.
 */
#ifndef SEARCH_SCENE_H
#define SEARCH_SCENE_H

#include "base/buf.h"
#include "model/revision.h"
#include "search/noise.h"
#include <stdbool.h>

enum { SCENE_MAX_CULPRITS = 8 };

/** What is simulated: the same for all trials. */
struct setting {
    uint32_t n_commits;
    uint32_t n_culprits;                /* 0: no change at all */
    double effects[SCENE_MAX_CULPRITS]; /* in sd; their order is drawn */
    enum noise_family noise;
    double confidence, build_cost, p_broken; /* p_broken: part of the range that cannot be built */
    uint32_t n_workers;                      /* at work at once */
    uint32_t n_stored;                       /* free runs of each end from earlier */
    uint32_t n_repeats;                      /* runs a revision, for policies that fix it */
    int64_t budget_runs;
    bool has_verification;
    const struct revision *revisions; /* names of commits 0 to n; NULL: made-up ones */
    uint64_t seed;
};

struct scene {
    const struct setting *setting;
    uint64_t key;                          /* of this trial */
    uint32_t n;                            /* candidates */
    uint32_t culprits[SCENE_MAX_CULPRITS]; /* oldest first */
    double effects[SCENE_MAX_CULPRITS];    /* of each culprit */
    uint32_t broken_from, broken_to;       /* from <= v < to cannot be built */
    struct noise noise;
    uint32_t n_hosts;
    bool *is_built;
    double start;                      /* stored runs were taken before, from 0 on */
    double free_at[NOISE_MAX_WORKERS]; /* of each worker */
    uint64_t n_draws;
    struct buf *record; /* gets what happens, see recording.h; NULL: nobody wants to know */
    /* the bill */
    uint32_t n_runs, n_builds;
    uint32_t n_decisions; /* on what to do next; they take no time on this clock */
    double now;
};

void scene_init(struct scene *s, const struct setting *setting, uint32_t trial);
void scene_fini(struct scene *s);
DEFINE_AUTO_FINI(struct scene, scene_fini)

/** How far a revision's level is above good's, in sd. */
double scene_change(const struct scene *s, uint32_t revision);
bool scene_is_broken(const struct scene *s, uint32_t revision);
/** A worker for what begins now on slot `slot`: its own, unless there are more than are at work. */
uint32_t scene_host(struct scene *s, uint32_t slot);
/** A stored run of an end; `i` counts them. */
double scene_stored(struct scene *s, uint32_t revision, uint32_t i, uint32_t *host);

/** Runs of one revision. */
struct order {
    uint32_t revision, n_runs;
    double *values;  /* room for n_runs; in the order taken */
    uint32_t *hosts; /* the same; may be NULL */
    bool is_broken;  /* out: could not be built, no runs */
};
/** Builds what is not built, takes all runs, spread over the workers, and waits for the last. */
void scene_measure(struct scene *s, struct order *orders, uint32_t n);

/** What a search says in the end. */
enum answer_kind {
    ANSWER_UNDECIDED,
    ANSWER_NOT_REPRODUCED,
    ANSWER_CULPRITS,
    ANSWER_RANGE /* one of these, which cannot be told apart */
};
struct answer {
    enum answer_kind kind;
    uint32_t n;
    uint32_t *revisions; /* ascending */
    double *shares;      /* of each culprit in the total change; NULL if the policy knows none */
};
void answer_fini(struct answer *a);
DEFINE_AUTO_FINI(struct answer, answer_fini)
void answer_add(struct answer *a, uint32_t revision);

/**
 * Exact: the truth and nothing else. A change below the default minimum effect, half a standard
 * deviation, may be named or called none. With a culprit that cannot be told from a broken stretch,
 * the truth is the stretch and the first commit after it. Wrong: names a commit that is no culprit,
 * or a range without one. The rest is undecided.
 */
enum score { SCORE_EXACT, SCORE_WRONG, SCORE_UNDECIDED };
enum score scene_score(const struct scene *s, const struct answer *a);

/**
 * The commits next to a broken stretch that can be tested, the last before it (unless that is good)
 * and the first after it, are easily blamed for what the stretch hides. Is one of them a culprit,
 * is one of them named as a culprit, and is one of them named that is none? All false without a
 * stretch.
 */
struct beside {
    bool is_culprit, is_named, is_wrong;
};
struct beside scene_beside(const struct scene *s, const struct answer *a);

#endif
