/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One unfinished bisection under way: the search as a value, kept in step with the store.
 *
 *     request --resolve--> range stored --> EVENT_STARTED --+
 *                                                           v
 *         task result, capacity, budget, cancel --> event stored --> stepped --> effects stored
 *                                                           ^                        |
 *                                                           +---- tasks, leases <----+
 *
 * An event is stored in the turn it happens in, and stepped in that turn or, for a large range,
 * by the pool some turns later. Events are stepped one by one, in order, each exactly once over
 * all lives: a row in `posteriors` marks one that was stepped. Should those rows be gone, all is
 * stepped again and finds its tasks issued already, since a step is pure.
 *
 * All functions run on the loop's thread, in an open transaction where they write. An error they
 * return means that the turn must be rolled back and the course loaded again.
 */
#ifndef APP_COURSE_H
#define APP_COURSE_H

#include "app/loop.h"
#include "app/pool.h"
#include "app/record.h"
#include "base/clock.h"
#include "model/bisection.h"
#include "store/bisections.h"
#include "store/leases.h"

struct course;

/** What courses stand on. */
struct ground {
    struct store *store;
    struct pool *pool;
    struct loop *loop;
    uint32_t n_local; /* workers of our own on `local_platform`, told of or not */
    const char *local_platform;
    uint32_t max_range; /* commits */
    void *self;
    void (*changed)(void *self, const char *bisection); /* followers want to know */
    void (*queued)(void *self);                         /* tasks wait for workers */
};

/** From its row: with its range and events if it was running, else to be resolved. */
MUST_CHECK enum err_code course_load(const struct ground *g, const struct bisection_row *row,
                                     struct course **out, struct err *e);
void course_free(struct course *c);
DEFINE_AUTO(struct course, course_free)

const char *course_id(const struct course *c);
const struct request *course_request(const struct course *c);
enum bisection_state course_state(const struct course *c);
bool course_is_over(const struct course *c);
/** Its tasks wait for workers with nothing else to do. */
bool course_is_when_idle(const struct course *c);
/** Somebody waits for it now. */
MUST_CHECK enum err_code course_want(struct course *c, struct err *e);
/** Its child process runs. */
bool course_is_resolving(const struct course *c);

/** Starts looking the range up, if that is what it waits for. */
MUST_CHECK enum err_code course_resolve(struct course *c, struct err *e);
/** What became due: range looked up, budget used, workers come and gone, time to be noted. */
MUST_CHECK enum err_code course_tick(struct course *c, struct mono now, struct err *e);
MUST_CHECK enum err_code course_result(struct course *c, uint32_t ordinal, const char *task,
                                       struct err *e);
MUST_CHECK enum err_code course_given_up(struct course *c, uint32_t ordinal, const char *reason,
                                         struct err *e);
MUST_CHECK enum err_code course_cancel(struct course *c, struct err *e);
/** What a worker says it does; hostile text. NULL: nothing any more. */
void course_activity(struct course *c, const char *text);
/** Adds the time since the last call to the store. */
MUST_CHECK enum err_code course_note_time(struct course *c, struct mono now, struct err *e);

/** The verdict document as it stands. Caller frees. */
json *course_document(struct course *c, struct mono now);

#endif
