/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Our bare view of a repository: where revisions are looked up and ranges are read.
 *
 * A local repository is borrowed: the mirror's objects/info/alternates names its objects and its
 * refs are copied at each opening, so a mirror costs a file. The user's repository, work tree and
 * index are only ever read. A URL is fetched (all heads and tags, deleted ones pruned).
 */
#ifndef COMMITS_MIRROR_H
#define COMMITS_MIRROR_H

#include "base/auto.h"
#include "base/err.h"
#include "model/revision.h"
#include "workers/source/fetch.h"

struct git_repository;
struct mirror;

struct mirror_place {
    const char *data_dir;   /* the mirror is data_dir/mirrors/<name>.git */
    const char *name;       /* [A-Za-z0-9._-]+; a second repository of one name gets a suffix */
    const char *repository; /* URL, or path of a repository, a work tree, or a folder inside one */
};

/**
 * Opens the mirror, making or refreshing it.
 *
 * `watch` may be NULL (no progress, default limits). Blocks while another process refreshes it.
 * Errors: ERR_INVALID with a hint (not a repository, a repository libgit2 cannot read, bad name),
 *         ERR_PEER or ERR_TIMEOUT (fetch), ERR_IO (our folder).
 */
MUST_CHECK enum err_code mirror_open(const struct mirror_place *place,
                                     const struct fetch_watch *watch, struct mirror **out,
                                     struct err *e);
void mirror_free(struct mirror *m);
DEFINE_AUTO(struct mirror, mirror_free)

/** Folder of the bare repository; anything that reads git repositories may open it. Borrowed. */
const char *mirror_path(const struct mirror *m);

/**
 * A commit by any name git takes (branch, tag, HEAD~3, v1^{}, :/text, main@{1}, describe output,
 * abbreviated hash). Annotated tags peel.
 *
 * Errors: ERR_NOT_FOUND, with the nearest branch or tag as hint, or how to unshallow;
 *         ERR_INVALID (ambiguous, malformed, not a commit).
 */
MUST_CHECK enum err_code mirror_resolve(const struct mirror *m, const char *name,
                                        struct revision *out, struct err *e);

/** Keeps both revisions, and all they reach, from being collected: refs/bisectd/<id>/{good,bad} of
 *  the mirror, never of the user's repository. Again with other revisions: moves the pins. */
MUST_CHECK enum err_code mirror_pin(struct mirror *m, const char *id, const struct revision *good,
                                    const struct revision *bad, struct err *e);
/** Nothing pinned under that id is fine. */
MUST_CHECK enum err_code mirror_unpin(struct mirror *m, const char *id, struct err *e);

/* For this folder. Borrowed. */
struct git_repository *mirror_git(const struct mirror *m);
/** The user's repository, to be read only; NULL for a URL. */
struct git_repository *mirror_origin(const struct mirror *m);
/** What messages call it: the path or URL as it was given. */
const char *mirror_name(const struct mirror *m);

#endif
