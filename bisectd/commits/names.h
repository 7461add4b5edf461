/* SPDX-License-Identifier: Apache-2.0 */
/** Names of revisions: what they stand for, and what was meant when they stand for nothing. */
#ifndef COMMITS_NAMES_H
#define COMMITS_NAMES_H

#include "base/err.h"
#include "workers/source/library.h"

/** The commit a name stands for. ERR_NOT_FOUND, or ERR_INVALID (malformed, ambiguous, no commit).
 */
MUST_CHECK enum err_code names_lookup(git_repository *repo, const char *name, git_oid *out,
                                      struct err *e);

/** Fills `e` with why `name` is not in `repo`, called `shown`, and with what to do. Returns
 *  ERR_NOT_FOUND. */
enum err_code names_explain(git_repository *repo, const char *shown, const char *name,
                            struct err *e);

#endif
