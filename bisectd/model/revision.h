/* SPDX-License-Identifier: Apache-2.0 */
/** A git commit by its name, and the range between two of them. */
#ifndef MODEL_REVISION_H
#define MODEL_REVISION_H

#include "base/err.h"
#include "base/json.h"
#include <stdbool.h>
#include <stdint.h>

struct revision {
    char hex[41]; /* 40 lower-case hex digits; empty: none */
};

bool revision_is_set(const struct revision *r);
bool revision_equal(const struct revision *a, const struct revision *b);
/** Exactly 40 hex digits; anything else is ERR_INVALID. */
MUST_CHECK enum err_code revision_parse(const char *hex, struct revision *out, struct err *e);

/** One commit of a range. */
struct commit {
    struct revision id;
    struct revision tree;
    uint32_t n_parents;
    uint32_t *parents; /* indices into range.commits, all smaller than this one's own; parents that
                          are not in the range are left out */
    char *subject;     /* first line of the message, raw bytes repaired to UTF-8, at most 200 */
    char *author;      /* "Name <mail>" */
    int64_t time_s;    /* committer time */
    bool is_candidate; /* in good..bad; the others are measured as good: good itself, merge bases,
                          and the parents of candidates that lie outside (all reached from good) */
    bool is_mainline;  /* on the first-parent chain of bad */
    bool is_prose;     /* all it changes looks like documentation, by its name: a guess, which may
                          decide what to build first but never what is to blame */
    uint64_t fixups;   /* of the project (model/fixup.h) it is built with: bit i is the i-th */
    bool matters;      /* its tree differs from its first parent's on the project's paths; a merge
                          matters if it differs from every parent */
};

/**
 * good..bad as git means it: what bad reaches and good does not, in topological order, oldest
 * first, with the boundary commits the candidates hang on. The last commit is bad.
 */
struct range {
    struct commit *commits;
    uint32_t n;
    uint32_t n_candidates;
    uint32_t good; /* index */
    uint32_t bad;  /* index */
    bool good_is_ancestor;
    uint32_t
        n_merge_bases; /* only when good is not an ancestor of bad; to be measured as git does */
    uint32_t *merge_bases; /* indices */
};

void range_free(struct range *r);
DEFINE_AUTO(struct range, range_free)
struct range *range_copy(const struct range *from);
/** Index of a revision, or UINT32_MAX. Linear; see model/range_index.h. */
uint32_t range_find(const struct range *r, const struct revision *id);
json *range_to_json(const struct range *r);
/** Appends what range_to_json gives as compact text, without a tree of a kilobyte a commit. */
void range_write(const struct range *r, struct buf *out);
MUST_CHECK enum err_code range_from_json(const json *v, struct range **out, struct err *e);

#endif
