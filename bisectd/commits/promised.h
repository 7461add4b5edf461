/* SPDX-License-Identifier: Apache-2.0 */
/** Partial clones: files that a remote promised and that are not here. */
#ifndef COMMITS_PROMISED_H
#define COMMITS_PROMISED_H

#include "base/err.h"
#include "model/revision.h"
#include "workers/source/library.h"

/**
 * Whether everything that checking out any commit of the range needs is at hand. Costs nothing
 * unless `origin` (may be NULL) is a partial clone.
 * Errors: ERR_INVALID with a hint, naming the first file that is missing.
 */
MUST_CHECK enum err_code promised_check(git_repository *repo, git_repository *origin,
                                        const struct range *range, struct err *e);

#endif
