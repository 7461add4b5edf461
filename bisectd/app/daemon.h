/* SPDX-License-Identifier: Apache-2.0 */
/** All parts put together, and the turns of the loop. */
#ifndef APP_DAEMON_H
#define APP_DAEMON_H

#include "base/err.h"
#include "config/config.h"
#include <stdbool.h>

struct daemon;

struct daemon_options {
    const struct config *config; /* borrowed for the daemon's life */
    const char *platform;        /* of workers on this machine; NULL: their own default; borrowed */
    bool is_private;             /* end when nobody is connected */
    int ready_fd;                /* -1: none; closed once written to */
};

/** Opens the store and the sockets, and starts the workers. Blocks the signals it waits for. */
MUST_CHECK enum err_code daemon_new(const struct daemon_options *o, struct daemon **out,
                                    struct err *e);
/** Stops gracefully. */
void daemon_free(struct daemon *d);
DEFINE_AUTO(struct daemon, daemon_free)

/** Until SIGTERM, SIGINT or, if private, until nobody is connected. */
void daemon_run(struct daemon *d);

#endif
