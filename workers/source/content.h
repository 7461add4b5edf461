/* SPDX-License-Identifier: Apache-2.0 */
/** The bytes a file has in the work tree: its blob, with line ends and $Id$ as attributes say. */
#ifndef SOURCE_CONTENT_H
#define SOURCE_CONTENT_H

#include "base/auto.h"
#include "base/err.h"
#include "workers/source/listing.h"

struct content {
    const char *data;
    size_t n;
    git_blob *blob;   /* owns the data unless it was changed */
    git_buf filtered; /* then this does */
};

void content_fini(struct content *c);
DEFINE_AUTO_FINI(struct content, content_fini)

/** `out` is fresh ({0}). ERR_IO (the blob is missing), ERR_INVALID (attributes beyond libgit2). */
MUST_CHECK enum err_code content_load(const struct listing *l, const struct entry *entry,
                                      struct content *out, struct err *e);

#endif
