/* SPDX-License-Identifier: Apache-2.0 */
/** Where a local repository keeps its own things, worktrees of it included. */
#ifndef COMMITS_HOME_H
#define COMMITS_HOME_H

#include "base/err.h"
#include "model/revision.h"
#include <stdbool.h>

/** A path on this machine, not a URL. */
bool home_is_local(const char *repository);

/**
 * The common git directory of the repository that `path` lies in: absolute, without a slash at
 * its end. Caller frees with mem_free.
 *
 * Errors: ERR_INVALID (not a repository).
 */
MUST_CHECK enum err_code home_of(const char *path, char **out, struct err *e);

/** The commit that a name stands for in the repository, or worktree, that `path` lies in. Errors:
 *  those of home_of and mirror_resolve. */
MUST_CHECK enum err_code home_resolve(const char *path, const char *name, struct revision *out,
                                      struct err *e);

#endif
