/* SPDX-License-Identifier: Apache-2.0 */
/** A stay at a store's private daemon: one that lives, or a new one. */
#ifndef CLI_VISIT_H
#define CLI_VISIT_H

#include "cli/client.h"
#include "wire/http.h"
#include <sys/types.h>

struct visit {
    char *store; /* links and dots resolved; owned, as `platform` */
    enum client_need need;
    int64_t n_workers;     /* of a daemon to be started */
    int64_t asked_workers; /* the same if it was said; 0: any number will do */
    char *platform;        /* of its workers; NULL: this machine's */
    /* what came of it */
    bool has_started; /* the daemon is ours, and new */
    pid_t reader;     /* a daemon of ours that is of no use after us; 0: none */
};

/** Stops a daemon that was started to read. */
void visit_fini(struct visit *v);

/** A connection to a daemon on the store that is fit for the need. *out is written on success. */
MUST_CHECK enum err_code visit_open(struct visit *v, struct http **out, struct err *e);

/** A connection to any coordinator; its calls end when a signal comes. */
MUST_CHECK enum err_code visit_connect(const char *base, const char *token, int64_t retry_ns,
                                       struct http **out, struct err *e);

#endif
