/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The worker's life: take a lease, do its task, report, again.
 *
 *     asking --200--> working --done--> reporting --200, 409--> asking
 *        ^  \-204, no answer-> pause -\     \--lease lost: nothing to report--> asking
 *        \----------------------------/
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/err.h"
#include "model/project.h"
#include "wire/http.h"
#include "workers/agent/workshop.h"
#include "workers/measure/quiet.h"
#include <stdbool.h>

struct agent {
    struct http_options http; /* without tick */
    const struct workshop *shop;
    struct quiet *quiet; /* how long to wait for this machine to be quiet */
    const struct strings *tags;
    bool is_once; /* one task, or none where there is none within 30 s */
    bool (*must_stop)(void *context);
    void *context;
};

/**
 * Runs until told to stop, or once.
 * Errors: what waiting cannot mend: ERR_DENIED (the token), ERR_INVALID (not a coordinator's
 *         address, or it refuses this worker).
 */
MUST_CHECK enum err_code agent_run(const struct agent *a, struct err *e);

#endif
