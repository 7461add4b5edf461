/* SPDX-License-Identifier: Apache-2.0 */
/** Commits of ours: a revision with a commit reverted on top, others picked, patches applied. */
#ifndef SOURCE_ALTER_H
#define SOURCE_ALTER_H

#include "workers/source/checkout.h"
#include "workers/source/repository.h"

/** ERR_INVALID: what no patch is made of. Pre: the fixup has content. */
MUST_CHECK enum err_code alter_check_patch(const struct fixup *f, struct err *e);

/**
 * Makes a commit in our bare repository that is `commit` with the alteration; the same one for the
 * same input. Patches go through the git program. Commits that it reverts or picks are to be there
 * already.
 *
 * Errors: the revision's: ERR_INVALID: "old-gcc.patch does not apply: src/a.c:12",
 *         "reverting 1a2b3c4d5e conflicts in src/a.c"; infrastructure's: ERR_IO.
 */
MUST_CHECK enum err_code alter_commit(struct repository *r, const git_oid *commit,
                                      const struct alteration *a, git_oid *out, struct err *e);

#endif
