/* SPDX-License-Identifier: Apache-2.0 */
/** Tasks: what the search asked for, and what became of it. */
#ifndef STORE_TASKS_H
#define STORE_TASKS_H

#include "base/hash.h"
#include "model/task.h"
#include "queue/life.h"
#include "store/store.h"

struct task_row {
    struct id id;
    struct id bisection;
    uint32_t ordinal;
    int64_t after_seq; /* the event whose step issued it */
    struct life life;
    struct task_spec *spec;
    char *platform;
    struct strings tags;
    struct strings failed_by; /* workers */
    char *worker, *host;      /* of its newest lease; NULL: never leased */
    char *activity;           /* of its open lease; NULL: none */
    char *message;            /* why it came back or was given up; NULL: never did */
    bool has_log;
    struct utc created, ended; /* ended.ns 0: not yet */
};
void task_row_free(struct task_row *t);
DEFINE_AUTO(struct task_row, task_row_free)

struct task_list {
    size_t n;
    struct task_row **items;
    bool has_more;
};
void task_list_fini(struct task_list *l);
DEFINE_AUTO_FINI(struct task_list, task_list_fini)

struct task_new {
    const char *bisection;
    int64_t after_seq;
    const struct task_spec *spec;
    const struct strings *tags; /* a worker must have all; NULL: none */
};
/** Queued, for the bisection's platform. ERR_CONFLICT: the bisection has one of this ordinal. */
MUST_CHECK enum err_code store_task_insert(struct store *s, const struct task_new *t,
                                           struct utc now, struct id *out, struct err *e);
/** A task that is over already is left as it is, which is fine. Its open lease ends.
 *  ERR_NOT_FOUND: no such ordinal. */
MUST_CHECK enum err_code store_task_cancel(struct store *s, const char *bisection, uint32_t ordinal,
                                           struct utc now, struct err *e);
/** Every task of the bisection that is not over. */
MUST_CHECK enum err_code store_task_cancel_all(struct store *s, const char *bisection,
                                               struct utc now, struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_task_load(struct store *s, const char *id, struct task_row **out,
                                         struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_task_find(struct store *s, const char *bisection, uint32_t ordinal,
                                         struct task_row **out, struct err *e);
/** The first ordinal that no task of the bisection has, nor any after it. */
MUST_CHECK enum err_code store_task_next(struct store *s, const char *bisection, uint32_t *out,
                                         struct err *e);
/** By ordinal. `after`: the last ordinal seen, -1 for the start; limit 0: all. */
MUST_CHECK enum err_code store_task_list(struct store *s, const char *bisection, size_t limit,
                                         int64_t after, struct task_list *out, struct err *e);
/** Verifications that are done, of all bisections that have samples of this key and platform;
 *  oldest first. */
MUST_CHECK enum err_code store_task_verifications(struct store *s, const struct digest *measure_key,
                                                  const char *platform, struct task_list *out,
                                                  struct err *e);

#endif
