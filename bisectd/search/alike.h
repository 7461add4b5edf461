/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Revisions that build to the same thing measure alike: what lies between them cannot be the
 * culprit, and measuring one of them is enough.
 *
 * Three things say so. Commits that touch nothing the build reads, and equal trees, are known from
 * the range; equal artifacts once both revisions have been built. If a and b are alike, a commit
 * that is an ancestor of one of them only (or is that one) would have made them differ, so it is
 * excluded: its prior weight becomes zero. That holds for one step; a change and the commit that
 * undoes it, both between a and b, are excluded too, and rightly: bad does not have the change.
 *
 * Excluding is all it takes to pool: no hypothesis that is left sets a and b apart, so that their
 * runs count as runs of one revision. To build only one of them, the planner is offered one of each
 * set that no hypothesis sets apart: an end, else one that was measured, else one that was built.
 */
#ifndef SEARCH_ALIKE_H
#define SEARCH_ALIKE_H

#include "base/auto.h"
#include "model/revision.h"

/** Why a commit cannot be the culprit. */
enum exclusion {
    EXCLUDED_NOT,
    EXCLUDED_UNTOUCHED, /* its tree differs from a parent's in nothing the build reads */
    EXCLUDED_SAME_BYTES /* it lies between revisions that build to the same bytes */
};

struct alike;

/** Borrows the range, which must outlive it. Looks at its trees and paths unless `is_off`. If they
 *  exclude every candidate, they are not believed: there would be nothing to search. */
struct alike *alike_new(const struct range *range, bool is_off);
void alike_free(struct alike *a);
DEFINE_AUTO(struct alike, alike_free)

enum exclusion alike_exclusion(const struct alike *a, uint32_t v);
/** Whether u and v are known to build to the same thing. */
bool alike_is_same(const struct alike *a, uint32_t u, uint32_t v);
/** The oldest revision known to build to the same thing as v; v itself if none is. */
uint32_t alike_oldest(const struct alike *a, uint32_t v);
/** They build to the same bytes; returns how many commits that excludes for the first time. */
uint32_t alike_link(struct alike *a, uint32_t u, uint32_t v);

/** root[v] of revisions that no hypothesis left sets apart is the same; root[v] <= v. */
void alike_roots(const struct alike *a, uint32_t *root);

/**
 * The commit to be built before `v`, or UINT32_MAX. Given for commits that look like documentation:
 * the last one before them that does not, whose bytes they are likely to repeat.
 */
uint32_t alike_base(const struct alike *a, uint32_t v);

#endif
