/* SPDX-License-Identifier: Apache-2.0 */
/** The log of what happened to a bisection: what replay folds. Append only. */
#ifndef STORE_EVENTS_H
#define STORE_EVENTS_H

#include "base/json.h"
#include "store/store.h"

struct event_row {
    int64_t seq; /* counted within the bisection, from 1, no gaps */
    struct utc at;
    char *kind;
    json *payload; /* NULL if none */
};
struct event_list {
    size_t n;
    struct event_row *items;
};
void event_list_fini(struct event_list *l);
DEFINE_AUTO_FINI(struct event_list, event_list_fini)

/** `payload` is borrowed, may be NULL. */
MUST_CHECK enum err_code store_event_append(struct store *s, const char *bisection,
                                            const char *kind, const json *payload, struct utc now,
                                            int64_t *seq, struct err *e);
/** All with seq > after, in order. */
MUST_CHECK enum err_code store_event_list(struct store *s, const char *bisection, int64_t after,
                                          struct event_list *out, struct err *e);

#endif
