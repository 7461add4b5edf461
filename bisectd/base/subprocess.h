/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Starting a program of ours or of the system (tar, git, ourselves). Jobs of a project do not
 * start here: they go through workers/sandbox.
 */
#ifndef BASE_SUBPROCESS_H
#define BASE_SUBPROCESS_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include <stdbool.h>
#include <sys/types.h>

struct subprocess {
    const char *const *argv; /* argv[0] is looked up in PATH; NULL ends */
    const char *const *envp; /* NULL: ours */
    const char *cwd;         /* NULL: ours */
    int in, out, err;        /* descriptors for the child; -1: /dev/null */
    int keep[2];             /* further descriptors it inherits under the same number; 0: none */
    int death_signal;        /* sent to the child when we die; 0: none */
    bool new_session;        /* setsid: no Ctrl-C of our terminal */
};

/** A failing exec is an error here, not an exit status. Descriptors other than those named are closed. */
MUST_CHECK enum err_code subprocess_start(const struct subprocess *s, pid_t *pid, struct err *e);

/** Runs to its end, feeding `in` (may be NULL) and collecting stdout and stderr (may be NULL) up
 *  to `max_bytes` each. *status is as of waitpid. ERR_TIMEOUT kills it at `timeout_ns` (0: never). */
MUST_CHECK enum err_code subprocess_run(const char *const *argv, const struct buf *in, struct buf *out,
                                        struct buf *err, size_t max_bytes, int64_t timeout_ns,
                                        int *status, struct err *e);

#endif
