/* SPDX-License-Identifier: Apache-2.0 */
/** Whether two trees differ where it matters: on paths that the build reads, or beyond prose. */
#ifndef COMMITS_TOUCH_H
#define COMMITS_TOUCH_H

#include "base/err.h"
#include "model/project.h"
#include "workers/source/library.h"
#include <stdbool.h>

/**
 * Compares two trees on `paths`: text_glob, and a pattern that matches a folder takes in all below
 * it. NULL or empty: everything. Reads only what differs.
 * Errors: ERR_INVALID (a tree is missing), ERR_LIMIT (folders nested too deeply).
 */
MUST_CHECK enum err_code touch_differs(git_repository *repo, const struct strings *paths,
                                       const git_oid *a, const git_oid *b, bool *out,
                                       struct err *e);

/**
 * Whether two trees differ, and in nothing but what looks like documentation by its name.
 * Reads only what differs. Errors: as above.
 */
MUST_CHECK enum err_code touch_is_prose(git_repository *repo, const git_oid *a, const git_oid *b,
                                        bool *out, struct err *e);

#endif
