/* SPDX-License-Identifier: Apache-2.0 */
/** Workers that have been seen. */
#ifndef STORE_WORKERS_H
#define STORE_WORKERS_H

#include "model/project.h"
#include "store/leases.h"
#include "store/store.h"

/** One heard of within this time counts as live. */
#define WORKER_LIVE_NS (120 * NS_PER_S)

struct worker_row {
    char *name, *host, *platform, *engine;
    struct strings tags;
    struct utc seen;
    bool is_draining;
    bool is_live;   /* at the time asked for */
    char *task;     /* it holds one; NULL: none */
    char *activity; /* NULL: none told */
};
struct worker_list {
    size_t n;
    struct worker_row *items;
};
void worker_list_fini(struct worker_list *l);
DEFINE_AUTO_FINI(struct worker_list, worker_list_fini)

/** Adds or refreshes; store_lease_take does it by itself. Writes at most every few seconds. */
MUST_CHECK enum err_code store_worker_seen(struct store *s, const struct lease_wish *w,
                                           struct utc at, struct err *e);
/** By name. */
MUST_CHECK enum err_code store_worker_list(struct store *s, struct utc at, struct worker_list *out,
                                           struct err *e);
/** Live, not draining workers of a platform. */
MUST_CHECK enum err_code store_worker_count(struct store *s, const char *platform, struct utc at,
                                            uint32_t *out, struct err *e);
/** No more tasks for it, or again some. ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_worker_drain(struct store *s, const char *name, bool is_draining,
                                            struct err *e);
/** Forgets it (a local worker that was stopped). Not there is fine. */
MUST_CHECK enum err_code store_worker_remove(struct store *s, const char *name, struct err *e);

#endif
