/* SPDX-License-Identifier: Apache-2.0 */
/** Bringing a remote repository's heads and tags into a bare one of ours, within limits of time. */
#ifndef SOURCE_FETCH_H
#define SOURCE_FETCH_H

#include "base/auto.h"
#include "base/err.h"
#include "model/revision.h"
#include <stdint.h>

struct fetch_progress {
    uint32_t n_objects, n_received; /* n_objects is 0 until known */
    uint64_t n_bytes;
};

/** Who watches, and how long it may take. Zeros: nobody, and the defaults. */
struct fetch_watch {
    void (*report)(void *context, const struct fetch_progress *p); /* some times a second */
    void *context;
    int64_t timeout_ns; /* of the whole; default 1 h */
    int64_t stall_ns;   /* without a sign of life; default 2 min */
};

/**
 * Fetches into the bare repository at `path`: heads and tags under their own names, heads also as
 * refs/remotes/origin/<name>, deleted ones pruned, HEAD set to the remote's.
 *
 * Runs in a child process, since libgit2 cannot stop waiting for a silent peer; the child ends with
 * us. Objects become visible as whole packs and before the refs that need them, so any instruction
 * may be the last. `only` (may be NULL): fetch this one commit by its hash instead, where the
 * server allows it.
 * Errors: ERR_PEER (no such repository, denied, broken answer), ERR_TIMEOUT, ERR_IO, ERR_INVALID
 *         (a URL nobody can fetch).
 */
MUST_CHECK enum err_code fetch_into(const char *path, const char *url, const struct revision *only,
                                    const struct fetch_watch *watch, struct err *e);

#endif
