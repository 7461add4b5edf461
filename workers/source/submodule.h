/* SPDX-License-Identifier: Apache-2.0 */
/** What .gitmodules of a commit says, and where a submodule's objects are to be had. */
#ifndef SOURCE_SUBMODULE_H
#define SOURCE_SUBMODULE_H

#include "base/auto.h"
#include "base/err.h"
#include "workers/source/checkout.h"
#include "workers/source/repository.h"

struct submodule {
    char *name, *path, *url;
    bool is_skipped; /* update = none */
};
struct submodules_file {
    struct submodule *items;
    size_t n;
};

void submodules_file_free(struct submodules_file *f);
DEFINE_AUTO(struct submodules_file, submodules_file_free)

/** Reads .gitmodules out of a tree; none gives an empty list. ERR_INVALID if it cannot be read. */
MUST_CHECK enum err_code submodules_file_load(git_repository *repo, const git_tree *tree,
                                              const char *scratch, struct submodules_file **out,
                                              struct err *e);
/** The submodule at a path, or NULL. */
const struct submodule *submodules_file_find(const struct submodules_file *f, const char *path);

struct submodule_query {
    const struct source *source;
    const struct repository *parent;
    const struct submodule *module; /* NULL: .gitmodules does not know it */
    const char *path;               /* from the top of all, for overrides and messages */
    git_oid commit;
};

/**
 * A repository that holds the commit: an override's; else what the parent's local clone already
 * has; else the URL that clone is configured with, or that of .gitmodules, relative ones resolved
 * as git does.
 * Errors: ERR_NOT_FOUND (nobody has the commit), ERR_INVALID (no URL, or a path on this machine in
 *         a repository that is not from here); ERR_IO, ERR_PEER, ERR_TIMEOUT otherwise.
 */
MUST_CHECK enum err_code submodule_locate(const struct submodule_query *q, struct repository **out,
                                          struct err *e);

#endif
