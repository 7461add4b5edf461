/* SPDX-License-Identifier: Apache-2.0 */
/** What workers bring back: taken in once, whole, or not at all. */
#ifndef STORE_RESULTS_H
#define STORE_RESULTS_H

#include "model/task.h"
#include "queue/life.h"
#include "store/store.h"

struct accepted {
    struct id task, bisection;
    uint32_t ordinal;
    uint32_t n_samples;    /* stored for it: the same on every repeat */
    bool is_repeat;        /* nothing was changed by this call */
    enum task_state state; /* done; queued (a fault: to be tried again) or given_up */
    char *reason;          /* of the fault; NULL if done */
};
void accepted_fini(struct accepted *a);
DEFINE_AUTO_FINI(struct accepted, accepted_fini)

/**
 * Takes a result in: builds, samples, artifacts and the end of the lease in one go.
 *
 * A result with a fault (queue/life.h) stores no builds and samples and returns the task.
 * A repeat of an accepted result has the first one's answer, whatever its body.
 *
 * Errors: ERR_NOT_FOUND: no such lease. ERR_CONFLICT: fenced off, expired or canceled.
 *         ERR_INVALID: does not fit the task (task_result_check; or a build asked for is missing).
 */
MUST_CHECK enum err_code store_result_accept(struct store *s, const char *lease,
                                             const struct task_result *r, struct utc now,
                                             struct accepted *out, struct err *e);
/** The accepted result of a done task, equal in every field. ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_result_load(struct store *s, const char *task,
                                           struct task_result **out, struct err *e);

#endif
