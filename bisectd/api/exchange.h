/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One request and its answer, as handlers see it. The HTTP library stays behind server.h.
 *
 *             body complete            answered            turn committed
 *     reading -------------> ready ---------------> held ----------------> sending
 *        |                     |  ^                  ^
 *        | bad head            |  | woken, deadline, |
 *        |                     v  | work done        |
 *        |                   waiting                 |
 *        +-------------------------------------------+
 *
 * reading, held -> sending: server.c; ready, waiting: exchange_run().
 */
#ifndef API_EXCHANGE_H
#define API_EXCHANGE_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "model/project.h"
#include <stdbool.h>
#include <stdint.h>

struct route;
struct service;
struct work;

/** What a caller may do: see role_may() in dispatch.c. */
enum role { ROLE_NONE, ROLE_READER, ROLE_CI, ROLE_DEVELOPER, ROLE_WORKER, ROLE_ADMIN };

enum { EXCHANGE_MAX_ARGS = 2, PAGE_DEFAULT = 100 };

enum exchange_stage {
    EXCHANGE_READING,
    EXCHANGE_READY,
    EXCHANGE_WAITING,
    EXCHANGE_HELD,
    EXCHANGE_SENDING
};

/** A large body on its way to or from the disk. */
struct spool {
    int fd;     /* -1: none */
    char *path; /* of an upload, removed with the exchange unless taken */
    int64_t bytes;
};

struct exchange {
    enum exchange_stage stage;

    /* asked */
    const struct route *route; /* NULL: no such path or method */
    char *method;
    char *path;
    char *args[EXCHANGE_MAX_ARGS]; /* the :parts of the route's path, in order */
    struct pairs query;
    enum role role;
    bool is_private;       /* came over the private socket */
    char *idempotency_key; /* NULL: none */
    struct buf body;
    json *json;          /* the body of a BODY_JSON route; NULL if empty */
    struct spool upload; /* the body of a BODY_FILE route */
    int64_t max_body;    /* bytes */
    bool is_over_limit;

    /* while waiting */
    bool waits_for_task;  /* run again when one may be there */
    struct mono deadline; /* run again at the latest */
    bool is_last_try;     /* the deadline has passed: the handler must answer */
    struct work *work;    /* what it waits for; NULL: none */

    /* answered */
    int status; /* 0: not yet */
    const char *content_type;
    const char *allow; /* for 405; points into `allow_text` */
    char allow_text[64];
    struct buf answer;
    struct spool download;
    char *topic; /* a stream of events about this bisection; NULL: none */
};

struct exchange *exchange_new(const char *method, const char *path);
void exchange_free(struct exchange *x);
DEFINE_AUTO(struct exchange, exchange_free)

/** A query parameter, or NULL. */
const char *exchange_query(const struct exchange *x, const char *name);
/** An integer parameter; `otherwise` when absent, ERR_INVALID naming it when out of bounds. */
MUST_CHECK enum err_code exchange_query_int(const struct exchange *x, const char *name, int64_t low,
                                            int64_t high, int64_t otherwise, int64_t *out,
                                            struct err *e);

/** No answer yet: the handler runs again on a wake and at `deadline`. */
void exchange_wait(struct exchange *x, struct mono deadline);

/* Answers. The last one given counts. */
void answer_json(struct exchange *x, int status, json *v); /* takes `v` over */
void answer_empty(struct exchange *x, int status);
/** Takes the contents of `text` over. `type` is not copied. */
void answer_text(struct exchange *x, int status, const char *type, struct buf *text);
/** {"error":{"code","message","hint"}} with the status that belongs to e->code. */
void answer_error(struct exchange *x, const struct err *e);
/** The same with a status of its own. */
void answer_refusal(struct exchange *x, int status, const struct err *e);
/** `bytes` of an open file; takes `fd` over. */
void answer_file(struct exchange *x, int fd, int64_t bytes, const char *type);
/** Server-sent events about a bisection until it is done. */
void answer_stream(struct exchange *x, const char *bisection);
/** {"items":[…],"next":…}; takes both over, `next` may be NULL. */
void answer_page(struct exchange *x, json *items, json *next);

int status_of(enum err_code code);

#endif
