/* SPDX-License-Identifier: Apache-2.0 */
/** Which entries of a build's folder make up its artifact. */
#ifndef BUILD_LISTING_H
#define BUILD_LISTING_H

#include "base/err.h"
#include "model/project.h"
#include "workers/sandbox/clip.h"
#include <stdint.h>

struct listing_sum {
    uint64_t n_entries;
    int64_t bytes; /* of the files */
};

/**
 * Writes the chosen names, sorted, each "./name" with a NUL behind it, to the file `list`.
 *
 * Files, links and folders count; sockets, pipes and devices do not; nothing called .git does.
 * Errors: ERR_NOT_FOUND (nothing chosen), ERR_DENIED (the build made it unreadable), ERR_IO.
 */
MUST_CHECK enum err_code listing_write(const char *tree, const struct strings *globs,
                                       const char *list, struct listing_sum *sum, struct clip *log,
                                       struct err *e);

#endif
