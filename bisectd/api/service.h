/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What handlers may ask of the rest of the daemon. The app fills it in, so that handlers know
 * neither the driver nor the event loop; what is merely read they read from the store.
 *
 * All is called on the loop's thread, and all that writes within an open transaction.
 */
#ifndef API_SERVICE_H
#define API_SERVICE_H

#include "api/exchange.h"
#include "base/buf.h"
#include "base/json.h"
#include "model/task.h"
#include "store/store.h"

/**
 * Slow work for one exchange: run() in another thread, then the exchange's handler once more,
 * which finds `is_done` set. Whoever finds the other gone frees it.
 */
struct work {
    void (*run)(struct work *w);     /* fills answer or error; touches `w` alone */
    void (*release)(struct work *w); /* frees what run() needed, and `w` itself */
    struct exchange *waiter;         /* NULL: the caller has gone */
    bool is_under_way;               /* run() has not returned to the loop yet */
    bool is_done;
    json *answer; /* NULL: 204 */
    struct err error;
};
/** The exchange ends: frees `w` now, or leaves that to work_finish(). */
void work_abandon(struct work *w);
/** The common handler of work: waits for x->work, or answers what it brought. */
void exchange_await(struct exchange *x);
/** run() has returned. Gives the exchange to be woken, or NULL after freeing `w`. */
struct exchange *work_finish(struct work *w);

/** Who asks for a task. */
struct taker {
    char *worker, *host, *platform;
    struct strings tags;
};

/** How large a request's body may be. */
enum body_limit {
    LIMIT_NONE /* a kilobyte, not looked at */,
    LIMIT_BODY,
    LIMIT_LOG,
    LIMIT_RESULT,
    LIMIT_ARTIFACT,
    LIMIT_COUNT
};

/** How far a question's commands are trusted. */
enum sender {
    SENDER_OF_NAMES,    /* may name projects of the service */
    SENDER_OF_COMMANDS, /* may also bring commands of its own */
    SENDER_SELF         /* that, and it is the user whose daemon this is: the private socket */
};

struct service {
    void *self;
    struct store *store;
    int64_t max_bytes[LIMIT_COUNT];
    int64_t max_page;        /* items of a list */
    int64_t max_watchers;    /* streams of events open at once */
    int64_t max_connections; /* of one socket */
    int64_t max_wait_s;      /* of a worker for a task, in one request */

    enum err_code (*bisection_create)(void *self, const json *body, enum sender sender, char **id,
                                      bool *has_joined, struct err *e);
    /** The verdict document, running or not. Caller frees. */
    enum err_code (*bisection_show)(void *self, const char *id, json **out, struct err *e);
    enum err_code (*bisection_cancel)(void *self, const char *id, struct err *e);
    /** Work whose answer is the comparison of a replay with what is stored. */
    enum err_code (*bisection_replay)(void *self, const char *id, struct work **out, struct err *e);

    /** The report that GET /calibration answers. Caller frees. */
    enum err_code (*calibration_show)(void *self, json **out, struct err *e);
    /** Opens checks of up to `n` verdicts. */
    enum err_code (*calibration_ask)(void *self, size_t n, size_t *n_opened, struct err *e);

    /** A lease as lease_to_json() writes it; the caller frees. ERR_NOT_FOUND: nothing for it now.
     */
    enum err_code (*lease_take)(void *self, const struct taker *t, json **out, struct err *e);
    enum err_code (*lease_renew)(void *self, const char *id, int64_t fence, const char *activity,
                                 int64_t *expires_ns, struct err *e);
    enum err_code (*lease_result)(void *self, const char *id, const struct task_result *r,
                                  json **answer, struct err *e);

    /** A list of the configured projects. Caller frees. */
    json *(*project_list)(void *self);
    /** Lines of the app's own for /metrics. */
    void (*metrics)(void *self, struct buf *out);
    /** Starts `w`. */
    void (*work_start)(void *self, struct work *w);
};

#endif
