/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Belief over which commits carry the change.
 *
 * Hypotheses: no change; one step at candidate c with the sign that is worse (or either); the same
 * with the other sign ("reversed"); several steps, each of at least M, in the same direction (a
 * staircase) or not (a hump); and, where good is no ancestor of bad, "the merge base is bad
 * already". Each under every weather (whitened.h) that the runs do not speak against. Commits that
 * the sampled revisions cannot tell apart share one likelihood; they form a class. A step smaller
 * than the minimum effect counts as no change. Up to six classes are weighed in full; with more,
 * weathers and steps that explain far less than others are left out.
 *
 * Pure; the same calls give the same answer. The probabilities of all hypotheses sum to one.
 */
#ifndef SEARCH_POSTERIOR_H
#define SEARCH_POSTERIOR_H

#include "model/metric.h"
#include "search/dag.h"
#include "search/evidence.h"
#include "search/fit.h"

/** Candidates that all samples so far treat alike. */
struct hypothesis {
    uint32_t first; /* its oldest candidate */
    uint32_t n;     /* candidates in it */
    double weight;  /* prior weight of its candidates together */
    double p[2];    /* posterior of a step here, of at least M: bad lower (0), bad higher (1) */
    struct fit fit[2];
    double p_any; /* that a step of either sign is here, alone or with others */
};

/** Several steps at once. */
struct reading {
    uint32_t n, classes[MAX_STEPS];
    double size[MAX_STEPS], cov[MAX_STEPS][MAX_STEPS];
    struct side now; /* what a run next finds where each step counts as much as is hidden in it */
    double hidden[MAX_STEPS];
    double sigma, p;
    bool is_hump; /* they come to less than M together: worse in between alone */
};
/** What a run finds where the steps in the set (bit j: step j) have come in. */
struct side reading_level(const struct reading *r, uint32_t set);

struct posterior {
    bool is_rate;
    enum worse worse;
    double *weight;     /* prior weight of each commit of the range; 0: cannot be it. Sums to 1 less
                           what was excluded since */
    uint32_t *class_of; /* class of each commit; UINT32_MAX for those with weight 0 */
    uint32_t n_classes;
    struct hypothesis *classes;
    uint32_t n_readings; /* those that matter, likeliest first */
    struct reading *readings;
    double *inclusion; /* of each class: that a step of an allowed direction is in it */
    bool has_merge_base;
    uint8_t *is_above_base; /* of each commit: bad under "the merge base is bad" */
    struct scale scale;
    double p_none;     /* no change, steps smaller than M included */
    double p_reversed; /* sum over the wrong sign; 0 for worse either */
    double p_merge_base;
    double p_hump;     /* sum over the readings that are humps */
    double p_unsteady; /* that hosts differ or levels drift: runs need references beside them */
    struct fit_none none;
    double entropy_bits; /* of the answer */
};

/** `weight` is copied and scaled to sum to one. merge_base_side may be NULL: commits that are bad
 *  if the merge base is. Pre: at least one positive weight. */
struct posterior *posterior_new(uint32_t n_commits, const double *weight, bool is_rate,
                                enum worse worse, const uint8_t *is_above_base);
void posterior_free(struct posterior *p);
DEFINE_AUTO(struct posterior, posterior_free)

/** A revision was sampled for the first time: classes are cut where it tells their members apart.
 */
void posterior_refine(struct posterior *p, const struct evidence *e, uint32_t slot);
/**
 * Commits that cannot be it for another reason than their samples: their prior weight becomes 0.
 * What is left is not scaled up: that nothing changed has become likelier with it. No class may be
 * left. posterior_update() is to follow.
 */
void posterior_exclude(struct posterior *p, uint32_t n_commits, const uint8_t *is_excluded);
/** Brings all probabilities up to date with the evidence. Pre: refined for every slot; n_runs > 0.
 */
void posterior_update(struct posterior *p, const struct evidence *e, struct scale scale);

/** Probability that commit c is a culprit. */
double posterior_of(const struct posterior *p, uint32_t c);
/** Probability that a culprit is in class k. */
double posterior_class(const struct posterior *p, uint32_t k);
/** The likeliest class; UINT32_MAX before the first update. */
uint32_t posterior_best_class(const struct posterior *p);
/** Steps that are plain to see: of at least so many standard deviations of a run, and so large a
 *  part of the largest. */
struct plain {
    double sds, part;
};
/** Of a step, and a plain one, that is in none of the n classes given. */
double posterior_beside(const struct posterior *p, const uint32_t *classes, uint32_t n,
                        struct plain plain);
/** Whether a run says little without one of a known revision beside it. */
bool posterior_wants_reference(const struct posterior *p);

#endif
