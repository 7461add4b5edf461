/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the posterior expects of runs yet to come, at a few revisions: those in flight, whose
 * outcome is still open, and those to choose from.
 *
 * Candidates of a class that the revisions in flight treat alike form a cell. A hypothesis together
 * with a cell for each of its steps is an atom: it says what any run in flight will find. Outcomes
 * of what is in flight are stood for by a few scenarios, drawn from the atoms in a fixed pattern.
 */
#ifndef SEARCH_OUTLOOK_H
#define SEARCH_OUTLOOK_H

#include "search/dag.h"
#include "search/mixture.h"
#include "search/posterior.h"

enum { OUTLOOK_MAX_CHOICES = 64, OUTLOOK_MAX_PENDING = 64 };

/** Runs under way or about to be. */
struct pending {
    uint32_t revision;
    uint32_t n_runs;
};

struct outlook {
    bool is_rate;
    double least_weight; /* of a hypothesis that guides */
    uint32_t n_pending, n_choices;
    struct pending pending[OUTLOOK_MAX_PENDING];
    uint32_t choices[OUTLOOK_MAX_CHOICES];
    uint32_t n_cells;
    struct cell *cells;
    double *shares; /* of all cells, for the first choice, then for the next: the part of the cell's
                       weight that would make the revision bad */
    uint32_t n_atoms, n_levels;
    struct atom *atoms;
    struct component *levels;
    double *scenarios; /* weight of all atoms in the first, then in the next */
};

/** Pre: pending and choices are there, the rest is zero. `is_blind`: the levels are not known at
 *  all yet, and a step is taken for one that a run or two would show. */
void outlook_fill(struct outlook *o, const struct dag *dag, const struct posterior *p,
                  bool is_blind);
void outlook_fini(struct outlook *o);
DEFINE_AUTO_FINI(struct outlook, outlook_fini)

/** What n runs of a choice could show, as things stand. */
void outlook_mixture(const struct outlook *o, uint32_t choice, struct mixture *out);
/** Expected information in the mean of n runs of a choice, beyond what is in flight. */
double outlook_bits(const struct outlook *o, uint32_t choice, uint32_t n_runs);
/** An upper bound of it. */
double outlook_bound_bits(const struct outlook *o, uint32_t choice, uint32_t n_runs);

#endif
