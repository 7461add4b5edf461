/* SPDX-License-Identifier: Apache-2.0 */
/** Many revisions of one local repository, by name. */
#ifndef COMMITS_LOOKUP_H
#define COMMITS_LOOKUP_H

#include "base/clock.h"
#include "base/err.h"
#include "model/revision.h"

struct lookup;

/** The repository, or worktree, that `path` lies in. ERR_INVALID: there is none. */
MUST_CHECK enum err_code lookup_open(const char *path, struct lookup **out, struct err *e);
void lookup_free(struct lookup *l);
DEFINE_AUTO(struct lookup, lookup_free)

/** The commit that a name stands for and, unless NULL, when it was committed. ERR_NOT_FOUND, or
 *  ERR_INVALID (ambiguous, no commit). */
MUST_CHECK enum err_code lookup_commit(struct lookup *l, const char *name, struct revision *out,
                                       struct utc *at, struct err *e);

#endif
