/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reading server-sent events out of a stream of bytes that comes in any pieces.
 *
 * Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, but that an event with a
 * name and no data is an event, too. Fields other than event and data are ignored.
 */
#ifndef WIRE_SSE_H
#define WIRE_SSE_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>

struct sse {
    struct buf line;
    struct buf name;
    struct buf data;
    bool has_field; /* of the event being read */
    bool is_after_cr;
    bool is_begun;    /* the first line, which may start with a byte order mark, is behind us */
    size_t max_bytes; /* of one line, and of one event's data */
};

void sse_init(struct sse *s, size_t max_bytes);
void sse_fini(struct sse *s);
DEFINE_AUTO_FINI(struct sse, sse_fini)

/** False ends the feeding. `name` is "message" if none was sent; data[n] is NUL. */
typedef bool sse_event_fn(void *context, const char *name, const char *data, size_t n);

/**
 * Takes in the next bytes, calling `event` for each event that they complete.
 *
 * Returns ERR_OK also when `event` said stop; *stopped tells. ERR_LIMIT past the limit.
 */
MUST_CHECK enum err_code sse_feed(struct sse *s, const char *bytes, size_t n, sse_event_fn *event,
                                  void *context, bool *stopped, struct err *e);

#endif
