/* SPDX-License-Identifier: Apache-2.0 */
/** What a daemon says of itself and its own workers in /metrics. */
#ifndef CLI_CREW_H
#define CLI_CREW_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

struct crew {
    int64_t n_local;      /* workers it starts itself */
    char *platform;       /* what those call theirs; owned; NULL: not told */
    bool is_private;      /* it ends by itself when nobody is connected */
    int64_t n_clients;    /* connections of others than workers, ours among them */
    int64_t n_unfinished; /* bisections */
};

void crew_fini(struct crew *c);
DEFINE_AUTO_FINI(struct crew, crew_fini)

/** Reads the text of /metrics; what it does not say stays 0. */
void crew_read(const char *metrics, struct crew *out);

/** Can it do what is wanted as it is? `n_workers` 0, `platform` NULL: any will do. */
bool crew_fits(const struct crew *c, int64_t n_workers, const char *platform);

/** Nobody else would miss it: it is private, and nothing is unfinished or nobody waits for that. */
bool crew_may_go(const struct crew *c);

#endif
