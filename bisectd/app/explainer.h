/* SPDX-License-Identifier: Apache-2.0 */
/**
 * After a culprit: one more task, in which a worker runs the culprit and its parent in turn and
 * traces them, and what follows from that. It is no part of the search: it gives no samples, no
 * event tells of it, and whatever comes of it the verdict stands.
 *
 *     verdict culprit --begin--> task --result--> settle --> explanation
 *                                  \--given up, budget, nobody comes--> fail
 */
#ifndef APP_EXPLAINER_H
#define APP_EXPLAINER_H

#include "base/clock.h"
#include "base/json.h"
#include "model/bisection.h"
#include "model/revision.h"
#include "store/store.h"

/** How long the task may wait for a worker before the verdict is given without it. */
#define EXPLAINER_WAIT_NS (10 * 60 * NS_PER_S)

/** A bisection whose search has ended. All borrowed. */
struct explained {
    struct store *store;
    const char *bisection;
    const struct request *request;
    const struct range *range;
    const json *document; /* its verdict */
};

/** Queues the task, if there is something to explain: a culprit with a parent, of a metric that is
 *  an amount. *task is its ordinal. */
MUST_CHECK enum err_code explainer_begin(const struct explained *x, bool *has_begun, uint32_t *task,
                                         struct err *e);
/** Takes what the task saw, and stores what follows. */
MUST_CHECK enum err_code explainer_settle(const struct explained *x, struct err *e);
/** Stores why there is no explanation. */
MUST_CHECK enum err_code explainer_fail(const struct explained *x, const char *why, struct err *e);

#endif
