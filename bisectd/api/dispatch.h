/* SPDX-License-Identifier: Apache-2.0 */
/** From a request's head to its handler: who may, how much, once only. */
#ifndef API_DISPATCH_H
#define API_DISPATCH_H

#include "api/exchange.h"
#include "api/service.h"

/** What the head says besides method, path and query, which are in the exchange already. */
struct head {
    bool is_private;           /* came over the private socket: may do everything */
    const char *authorization; /* NULL: none, as the next */
    const char *idempotency_key;
    int64_t content_bytes; /* -1: not told */
};

/** Finds the route and checks caller, query and announced size; a refusal becomes the answer. */
void exchange_admit(struct exchange *x, const struct head *h, const struct service *s);

/** Removes uploads that an earlier life did not finish. */
void uploads_clean(const struct service *s);

/** A piece of the body. False: so far over its limit that the connection had better be closed. */
bool exchange_body(struct exchange *x, const void *bytes, size_t n);

/** In a turn, with the whole body there, or again while waiting: leaves it held or waiting. */
void exchange_run(struct exchange *x, const struct service *s);

#endif
