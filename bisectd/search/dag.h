/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The commit graph of a range, as numbers: commits are indices in topological order, so that
 * every parent is smaller than its child and one downward sweep visits all ancestors.
 */
#ifndef SEARCH_DAG_H
#define SEARCH_DAG_H

#include "base/auto.h"
#include "model/revision.h"
#include <stdbool.h>
#include <stdint.h>

struct dag {
    uint32_t n;
    uint32_t *first; /* parents of v are parents[first[v] .. first[v + 1] - 1] */
    uint32_t *parents;
    bool *is_mainline;
};

struct dag *dag_new(const struct range *range);
void dag_free(struct dag *d);
DEFINE_AUTO(struct dag, dag_free)

/** mark[i] = i is `v` or an ancestor of it, for all i < d->n. Linear in v. */
void dag_mark_ancestors(const struct dag *d, uint32_t v, uint8_t *mark);

/**
 * For commits that split the weight well: mass[v] = weight of v and its ancestors, nan where not
 * computed. The first-parent chain of the last commit is always computed, then side chains that
 * come in by a merge, heaviest first, as long as they hold `worth` of the total and at most
 * `max_chains`. The first chain costs one sweep, another what it does not share with the first.
 */
void dag_masses(const struct dag *d, const double *weight, double worth, uint32_t max_chains,
                double *mass);

#endif
