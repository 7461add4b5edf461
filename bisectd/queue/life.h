/* SPDX-License-Identifier: Apache-2.0 */
/** The life of a task: its states, and what may happen to it in each. */
#ifndef QUEUE_LIFE_H
#define QUEUE_LIFE_H

#include "base/err.h"
#include "model/task.h"
#include <stdint.h>

enum task_state {
    TASK_QUEUED,
    TASK_LEASED,
    TASK_DONE,     /* its result is stored; a build that failed is a result */
    TASK_CANCELED, /* became useless */
    TASK_GIVEN_UP, /* the infrastructure failed it too often */
    TASK_STATE_COUNT
};
/** As stored and as the API spells it: "queued", "leased", "done", "canceled", "given_up". */
const char *task_state_name(enum task_state s);
MUST_CHECK enum err_code task_state_parse(const char *s, enum task_state *out, struct err *e);

/** Why a leased task comes back without a result. */
enum return_reason {
    RETURN_FAULT,   /* the worker says that the infrastructure failed */
    RETURN_EXPIRED, /* its worker was not heard of in time */
    RETURN_DIED,    /* its worker is known to be dead, or came back with no memory of it */
    RETURN_RESTART, /* we stopped, not the worker's doing: counts as nothing */
    RETURN_YIELDED, /* others wait for the worker, and nobody for this: counts as nothing */
    RETURN_REASON_COUNT
};
const char *return_reason_name(enum return_reason r);

/** How often a task may come back. Defaults: life_limits_default. */
struct life_limits {
    uint32_t max_tries;  /* faults and expiries */
    uint32_t max_deaths; /* of workers; more generous, for a worker is killed for many reasons */
};
extern const struct life_limits life_limits_default;

struct life {
    enum task_state state;
    uint32_t tries;  /* faults and expiries so far */
    uint32_t deaths; /* workers that died with it */
};

/* Each moves along one kind of edge of the diagram in life.c; ERR_CONFLICT if there is none from
 * here. */
MUST_CHECK enum err_code life_lease(struct life *l, struct err *e);
MUST_CHECK enum err_code life_finish(struct life *l, struct err *e);
/** To queued, or to given_up at the limit. */
MUST_CHECK enum err_code life_return(struct life *l, enum return_reason why,
                                     const struct life_limits *limits, struct err *e);
MUST_CHECK enum err_code life_cancel(struct life *l, struct err *e);

/** What the infrastructure did wrong in this result, or NULL if it stands. Borrowed from `r`.
 *  A build or run that failed by its own doing is a result. */
const char *result_fault(const struct task_result *r);

#endif
