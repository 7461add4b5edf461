/* SPDX-License-Identifier: Apache-2.0 */
/** Which commits of a range lie in the stretches of history that the project has fixups for. */
#ifndef COMMITS_STRETCH_H
#define COMMITS_STRETCH_H

#include "commits/mirror.h"
#include "model/fixup.h"
#include "model/revision.h"

/**
 * Sets commits[].fixups: bit i for those that `git rev-list` lists for the range of fixups[i]. A
 * commit to be picked must be there too.
 *
 * Errors: begin with "fixups[i].range: " or "fixups[i].commit: " and are those of mirror_resolve;
 *         ERR_INVALID with a hint: a stretch without commits, a patch that cannot be read.
 */
MUST_CHECK enum err_code stretch_mark(const struct mirror *m, struct fixup *const *fixups, size_t n,
                                      struct range *range, struct err *e);

/** Replaces the names of its range by full hashes, so that it stays what it is when they move. */
MUST_CHECK enum err_code stretch_fix(const struct mirror *m, struct fixup *f, struct err *e);

#endif
