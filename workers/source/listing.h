/* SPDX-License-Identifier: Apache-2.0 */
/** Every file a revision has, submodules included, and which repository holds its bytes. */
#ifndef SOURCE_LISTING_H
#define SOURCE_LISTING_H

#include "base/auto.h"
#include "base/err.h"
#include "base/hash.h"
#include "workers/source/checkout.h"
#include "workers/source/repository.h"
#include <stddef.h>

enum entry_kind {
    ENTRY_FILE,
    ENTRY_PROGRAM, /* executable */
    ENTRY_LINK,
    ENTRY_FOLDER /* an empty one: where a submodule would be */
};

struct entry {
    char *path; /* from the top, without a leading '/' */
    git_oid id;
    enum entry_kind kind;
    uint32_t part;
};

/** One repository: the top, or a submodule. */
struct part {
    struct repository *repository;
    git_oid commit;
    char *prefix;             /* "" or "path/of/submodule/" */
    struct digest attributes; /* of all its .gitattributes; empty without any */
};

struct listing {
    struct entry *entries; /* in path_order; no path twice, none below a file */
    size_t n, cap;
    struct part *parts;
    uint32_t n_parts;
};

void listing_free(struct listing *l);
DEFINE_AUTO(struct listing, listing_free)

/**
 * Lists a revision; fetches what is not at hand. `state_dir` is for scratch files.
 * Errors: as source_checkout.
 */
MUST_CHECK enum err_code listing_load(const struct source *s, const char *state_dir,
                                      const git_oid *commit, struct listing **out, struct err *e);

/** The repository of the source, with the commit in it; fetches it if it is not at hand. */
MUST_CHECK enum err_code listing_open_top(const struct source *s, const git_oid *commit,
                                          struct repository **out, struct err *e);

/** Order in which a folder's contents follow each other: part by part, as strcmp. */
int path_order(const char *a, const char *b);

#endif
