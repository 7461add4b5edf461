/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of course.h: shared by course.c and course_load.c. */
#ifndef APP_COURSE_STATE_H
#define APP_COURSE_STATE_H

#include "app/course.h"
#include "app/reading.h"
#include "app/resolve.h"
#include "app/step.h"
#include "search/bisection.h"

struct course {
    const struct ground *g;
    struct id id;
    enum bisection_state phase;
    bool when_idle;
    struct request *request;
    struct range *range;

    struct resolver *resolver;
    struct reading *reading;

    struct bisection *state; /* NULL: not there yet, or away */
    struct step *away;       /* the pool has the state */
    bool has_returned;
    size_t n_pending;
    struct record **pending; /* stored, to be stepped in order */

    int64_t used_ns;  /* as in the store */
    struct mono mark; /* counted up to here */
    struct mono capacity_due;
    uint32_t n_workers; /* as last told to the search */
    bool has_no_worker;
    bool has_budget_ended, is_canceled;
    char *activity;
    json *document; /* as of the last step */

    bool is_explaining; /* the search has ended, its verdict stands: no more events */
    uint32_t explain_task;
    struct mono explain_until; /* unless a worker has taken it by then */
};

/** A stored event, to be stepped after those before it. Takes the record over. */
void course_push(struct course *c, struct record *r);
/** Steps what is pending, here or in the pool. */
MUST_CHECK enum err_code course_pump(struct course *c, struct err *e);

#endif
