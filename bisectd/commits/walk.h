/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The part of history around two commits, each commit read once.
 *
 * Commits are painted by which end reaches them, youngest first, until nothing is left that only
 * bad reaches and every commit still waiting is older than all that matter by a day: committer
 * dates lie, and a wrong one costs time, not truth, unless it is wrong in just the part not read.
 */
#ifndef COMMITS_WALK_H
#define COMMITS_WALK_H

#include "base/auto.h"
#include "base/err.h"
#include "workers/source/library.h"
#include <stdbool.h>
#include <stdint.h>

enum { FROM_BAD = 1, FROM_GOOD = 2, FROM_BOTH = 3, BELOW_BASE = 4 /* reached from a common one */ };

struct walk_commit {
    git_oid id;
    git_oid tree;
    uint32_t n_parents;
    uint32_t *parents; /* indices into the walk */
    int64_t time_s;
    uint8_t paint;
    bool is_read; /* else only its id is known */
    bool is_waiting;
    bool is_cut;            /* on the boundary of a shallow clone: its parents are hidden */
    bool is_forged;         /* a graft or a replace ref gives it other parents or another content */
    char *subject, *author; /* of those read */
};

struct walk {
    struct walk_commit *commits;
    uint32_t n, cap;
    uint32_t good, bad;
    /* how it is done */
    uint32_t *slots; /* hash table of ids: index + 1; 0 is free */
    uint32_t n_slots;
    uint32_t *heap;
    uint32_t n_heap, cap_heap;
    uint32_t n_open; /* waiting, and reached from bad alone */
    int64_t floor_s; /* oldest commit that may matter */
};

void walk_free(struct walk *w);
DEFINE_AUTO(struct walk, walk_free)

/**
 * Walks in `repo`. `origin` (may be NULL) is the local repository it borrows from, which may be
 * shallow or hold grafts and replace refs.
 *
 * Errors: ERR_INVALID with a hint: a commit is missing, hidden by the shallow boundary, or forged;
 *         ERR_LIMIT past `max_commits`.
 */
MUST_CHECK enum err_code walk_range(git_repository *repo, git_repository *origin,
                                    const git_oid *good, const git_oid *bad, uint32_t max_commits,
                                    struct walk **out, struct err *e);

/** Reads these two commits alone, whatever lies between. Errors: missing, forged. */
MUST_CHECK enum err_code walk_pair(git_repository *repo, git_repository *origin,
                                   const git_oid *good, const git_oid *bad, struct walk **out,
                                   struct err *e);

/** Index of a commit, or UINT32_MAX. */
uint32_t walk_find(const struct walk *w, const git_oid *id);

static inline bool walk_is_candidate(const struct walk_commit *c)
{
    return (c->paint & FROM_BOTH) == FROM_BAD;
}

#endif
