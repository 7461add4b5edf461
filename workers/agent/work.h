/* SPDX-License-Identifier: Apache-2.0 */
/** Doing one task: its builds, then its runs. */
#ifndef AGENT_WORK_H
#define AGENT_WORK_H

#include "base/err.h"
#include "model/task.h"
#include "wire/http.h"
#include "workers/agent/heartbeat.h"
#include "workers/agent/workshop.h"
#include "workers/measure/quiet.h"
#include "workers/sandbox/clip.h"
#include <stdbool.h>

struct work {
    const struct workshop *shop;
    struct quiet *quiet; /* NULL: it is not looked at */
    const struct lease *lease;
    struct http *http; /* for artifacts */
    struct heartbeat *heartbeat;
    struct clip *log;
    bool (*must_stop)(void *context); /* the worker is to end */
    void *context;
};

/**
 * Does the task.
 *
 * Whatever is not the revision's own fault ends the task as `fault` in the result, without runs.
 * Outputs: *out, complete; caller frees with task_result_free. NULL when the task was stopped: the
 *          lease is lost, or the worker is to end; then there is nothing to report.
 */
void work_do(const struct work *w, struct task_result **out);

#endif
