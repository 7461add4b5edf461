/* SPDX-License-Identifier: Apache-2.0 */
/** A private daemon on a store: where its socket is, and starting one. */
#ifndef CLI_DAEMON_H
#define CLI_DAEMON_H

#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** "unix:PATH" of the socket that a daemon on this data folder listens on. Caller frees. */
char *daemon_base(const char *data_dir);

struct daemon_plan {
    const char *data_dir;
    int64_t n_workers;
    const char *platform; /* what the workers call theirs; NULL: this machine's */
};

/**
 * Starts a private daemon and waits until it listens. It lives on after us, in a session of its
 * own, and writes its log to data_dir/bisectd.log.
 *
 * Errors: ERR_NOT_FOUND (no bisectd program), ERR_IO; ERR_CONFLICT when it said no (another one
 *         has the folder, a newer or damaged database), with its own words; ERR_TIMEOUT.
 */
MUST_CHECK enum err_code daemon_start(const struct daemon_plan *p, pid_t *pid, struct err *e);

/** Asks a daemon that daemon_start() started here to stop, and waits a little for it. */
void daemon_stop(pid_t pid);

/** Asks the daemon that holds this folder to stop, and does not wait for it. */
void daemon_end(const char *data_dir);

/** Waits, without disturbing it, until the daemon on this folder is gone; false: it still lives
 *  after `limit_ns`, or a signal came. */
bool daemon_wait_gone(const char *data_dir, int64_t limit_ns);

#endif
