/* SPDX-License-Identifier: Apache-2.0 */
/** libgit2 as we use it: started once, its errors turned into ours. Only for those who include
 * git2.h. */
#ifndef SOURCE_LIBRARY_H
#define SOURCE_LIBRARY_H

#include "base/auto.h"
#include "base/err.h"
#include "model/revision.h"
#include <git2.h>

/** Starts libgit2 with our options. Cheap to call again; every entry of this layer does. */
void library_start(void);

/**
 * Fills `e` from libgit2's last error.
 *
 * Unknown and ambiguous objects give ERR_NOT_FOUND and ERR_INVALID, network and TLS ERR_PEER, the
 * rest ERR_IO.
 */
enum err_code err_git(struct err *e, int rc, const char *format, ...) PRINTF(3, 4);

void revision_from_oid(const git_oid *oid, struct revision *out);
/** Pre: the revision is set. */
void revision_to_oid(const struct revision *r, git_oid *out);

/** Opens a repository read-only at a path in it, going up as git does. ERR_INVALID with a hint. */
MUST_CHECK enum err_code library_open(const char *path, git_repository **out, struct err *e);

/* clang-format off */
DEFINE_AUTO(git_repository, git_repository_free)
DEFINE_AUTO(git_odb, git_odb_free)
DEFINE_AUTO(git_odb_object, git_odb_object_free)
DEFINE_AUTO(git_object, git_object_free)
DEFINE_AUTO(git_commit, git_commit_free)
DEFINE_AUTO(git_tree, git_tree_free)
DEFINE_AUTO(git_blob, git_blob_free)
DEFINE_AUTO(git_reference, git_reference_free)
DEFINE_AUTO(git_reference_iterator, git_reference_iterator_free)
DEFINE_AUTO(git_config, git_config_free)
DEFINE_AUTO(git_config_iterator, git_config_iterator_free)
DEFINE_AUTO(git_remote, git_remote_free)
DEFINE_AUTO(git_reflog, git_reflog_free)
DEFINE_AUTO(git_filter_list, git_filter_list_free)
DEFINE_AUTO_FINI(git_buf, git_buf_dispose)
DEFINE_AUTO_FINI(git_oidarray, git_oidarray_dispose)
/* clang-format on */

#endif
