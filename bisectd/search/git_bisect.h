/* SPDX-License-Identifier: Apache-2.0 */
/**
 * git bisect as git does it: every answer is believed, the commit that splits best is next.
 *
 * Source: bisect.c of git: find_bisection() and skip_away().
 */
#ifndef SEARCH_GIT_BISECT_H
#define SEARCH_GIT_BISECT_H

#include "search/dag.h"

struct git_bisect;

enum git_answer { GIT_GOOD, GIT_BAD, GIT_SKIP };

/** `is_candidate` of each commit, bad included; copied. `key` seeds where skipping leads. */
struct git_bisect *git_bisect_new(const struct dag *dag, const uint8_t *is_candidate, uint32_t bad,
                                  uint64_t key);
void git_bisect_free(struct git_bisect *g);
DEFINE_AUTO(struct git_bisect, git_bisect_free)

/** UINT32_MAX when no commit is left to test. */
uint32_t git_bisect_next(struct git_bisect *g);
void git_bisect_mark(struct git_bisect *g, uint32_t commit, enum git_answer answer);

/** The first bad commit, or all that it could be: of each commit. */
const uint8_t *git_bisect_candidates(const struct git_bisect *g);

#endif
