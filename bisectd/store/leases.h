/* SPDX-License-Identifier: Apache-2.0 */
/** Leases: who holds which task until when. Rules: queue/. */
#ifndef STORE_LEASES_H
#define STORE_LEASES_H

#include "queue/life.h"
#include "queue/tenure.h"
#include "store/store.h"

struct lease_wish {
    const char *worker, *host, *platform;
    const struct strings *tags; /* NULL: none */
    const char *engine;         /* "local" or "pool" */
};

struct lease_row {
    struct id id;
    struct id task;
    struct id bisection;
    uint32_t ordinal;
    struct tenure tenure;
    char *worker, *host, *engine;
    char *activity;          /* NULL: none told */
    struct utc taken, ended; /* ended.ns 0: open */
};
void lease_row_fini(struct lease_row *l);
DEFINE_AUTO_FINI(struct lease_row, lease_row_fini)

/**
 * Gives the worker a task (queue/pick.h) and notes the worker as seen. Tasks of bisections that
 * wait for idle workers are given only if there is no other for it, and nobody else is at other
 * work on its host.
 *
 * Errors: ERR_NOT_FOUND: nothing for this worker now. ERR_CONFLICT: it is draining.
 */
MUST_CHECK enum err_code store_lease_take(struct store *s, const struct lease_wish *w,
                                          struct utc at, struct mono now,
                                          const struct tenure_rule *rule, struct lease_row *out,
                                          struct err *e);
/** `activity` NULL leaves the one there. ERR_NOT_FOUND; ERR_CONFLICT: over or fenced off, stop that
 * task. */
MUST_CHECK enum err_code store_lease_renew(struct store *s, const char *lease, int64_t fence,
                                           const char *activity, struct utc at, struct mono now,
                                           const struct tenure_rule *rule, struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_lease_load(struct store *s, const char *lease, struct lease_row *out,
                                          struct err *e);

/** A task that came back. */
struct returned {
    struct id task, bisection;
    uint32_t ordinal;
    enum task_state state; /* queued, or given_up: tell the bisection */
    char *worker;
    char *reason; /* for people */
};
struct returned_list {
    size_t n;
    struct returned *items;
};
void returned_list_fini(struct returned_list *l);
DEFINE_AUTO_FINI(struct returned_list, returned_list_fini)

/** Ends the overdue ones. */
MUST_CHECK enum err_code store_leases_expire(struct store *s, struct utc at, struct mono now,
                                             struct returned_list *out, struct err *e);
/** Takes tasks that only idle workers are to do away from workers that have had them since before
 *  `held_since` while somebody waits for other work: on that platform, or on that host. */
MUST_CHECK enum err_code store_leases_yield(struct store *s, struct utc held_since, struct utc at,
                                            struct returned_list *out, struct err *e);
/** Ends all of one worker: it died (RETURN_DIED), or it asks for work while we think it has some.
 */
MUST_CHECK enum err_code store_leases_end_worker(struct store *s, const char *worker,
                                                 enum return_reason why, struct utc at,
                                                 struct returned_list *out, struct err *e);
/** Ends all of an engine's workers, and forgets these workers: at start, "local" with
 *  RETURN_RESTART. */
MUST_CHECK enum err_code store_leases_end_engine(struct store *s, const char *engine,
                                                 enum return_reason why, struct utc at,
                                                 struct returned_list *out, struct err *e);
/** Must be called once after store_open: open leases of an earlier life get a full term from now.
 */
MUST_CHECK enum err_code store_leases_adopt(struct store *s, struct mono now,
                                            const struct tenure_rule *rule, struct err *e);
/** When store_leases_expire has something to do next; ERR_NOT_FOUND if no lease is open. */
MUST_CHECK enum err_code store_leases_next(struct store *s, struct mono *out, struct err *e);

#endif
