/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A blocking HTTP client for talking to a coordinator, over TCP, TLS or a unix socket.
 *
 * One client belongs to one thread at a time; it keeps its connection between calls. Every call has
 * a time limit and a limit on the size of the answer. While a call waits, the client's `tick` is
 * called about every 100 ms, so that a caller can redraw, look at a signal, or stop.
 *
 * Answers of 400 and above are errors, with message and hint of the error document:
 *     400 422 ERR_INVALID, 401 403 ERR_DENIED, 404 410 ERR_NOT_FOUND, 408 ERR_TIMEOUT,
 *     409 412 ERR_CONFLICT, 413 429 ERR_LIMIT, the rest ERR_PEER; err.sys is the HTTP status.
 * No answer at all is ERR_PEER (or ERR_TIMEOUT) with err.sys < 100. A tick that says HTTP_STOP ends
 * the call with ERR_TIMEOUT and the text "stopped".
 */
#ifndef WIRE_HTTP_H
#define WIRE_HTTP_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"

struct http;

enum http_go { HTTP_GO_ON, HTTP_STOP };

struct http_options {
    const char *base;           /* "http://host:port", "https://…" or "unix:/path/to/socket" */
    const char *token;          /* sent as a bearer token; NULL: none */
    const char *ca_file;        /* certificates trusted for https; NULL: the system's */
    int64_t connect_timeout_ns; /* 0: 10 s */
    int64_t timeout_ns;         /* of one try of one call; 0: 60 s */
    int64_t retry_ns;           /* keep trying idempotent calls for that long, with growing pauses,
                                   while there is no answer or it is 429, 502, 503, 504; 0: never */
    enum http_go (*tick)(void *context); /* NULL: none */
    void *context;
};

/** Whether it is an address that http_new takes. A socket's path may hold any byte but an end of
 *  line. ERR_INVALID with a hint. */
MUST_CHECK enum err_code http_base_check(const char *base, struct err *e);
/** Copies the options. ERR_INVALID for a base that is none of the three forms. */
MUST_CHECK enum err_code http_new(const struct http_options *o, struct http **out, struct err *e);
void http_free(struct http *h);
DEFINE_AUTO(struct http, http_free)
/** The base as given, for messages. Borrowed. */
const char *http_base(const struct http *h);

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT, HTTP_DELETE };
enum http_repeat {
    HTTP_REPEAT_BY_METHOD, /* all but POST may be repeated */
    HTTP_REPEAT_SAFE,      /* this POST is idempotent */
    HTTP_REPEAT_NEVER
};

struct http_request {
    enum http_method method;
    const char *path;  /* "/api/v1/leases?wait=30"; parts escaped by the caller, http_escape */
    const json *json;  /* the body; NULL: none, or `bytes` */
    const void *bytes; /* a body that is not JSON; borrowed */
    size_t n_bytes;
    const char *type; /* of `bytes`; NULL: application/octet-stream */
    enum http_repeat repeat;
    int64_t timeout_ns; /* 0: the client's */
    size_t max_bytes;   /* of the answer; 0: 64 MiB; more is ERR_LIMIT */
};

/**
 * One call with a JSON answer.
 *
 * Outputs: *status (may be NULL) and *out (may be NULL; NULL for an empty answer such as 204).
 * Owns:    caller frees *out with json_free.
 * Errors:  as above; an answer that is not JSON is ERR_PEER.
 */
MUST_CHECK enum err_code http_call(struct http *h, const struct http_request *r, int *status,
                                   json **out, struct err *e);
/** One call with any answer, appended to `out`. On an error `out` is as it was. */
MUST_CHECK enum err_code http_call_raw(struct http *h, const struct http_request *r, int *status,
                                       struct buf *out, struct err *e);

/* The common cases. */
MUST_CHECK enum err_code http_get(struct http *h, const char *path, json **out, struct err *e);
MUST_CHECK enum err_code http_post(struct http *h, const char *path, const json *body, json **out,
                                   struct err *e);

/** PUTs a whole regular file, read from its start. The limit in time is 10 minutes. */
MUST_CHECK enum err_code http_upload_fd(struct http *h, const char *path, int fd, struct err *e);
/** GETs into a descriptor in constant memory. A failed call may have written a part. */
MUST_CHECK enum err_code http_download_fd(struct http *h, const char *path, int fd,
                                          size_t max_bytes, struct err *e);

/** Server-sent events. `event` gets name ("message" if none was sent) and NUL-terminated data. */
struct http_listener {
    enum http_go (*event)(void *context, const char *name, const char *data, size_t n);
    enum http_go (*tick)(void *context); /* about every 100 ms, events or not; NULL: none */
    void *context;
};
/**
 * Follows a stream until the listener says HTTP_STOP, which is ERR_OK.
 *
 * Errors: ERR_PEER when the stream ends or breaks before that; ERR_TIMEOUT after 60 s without a
 *         byte (a server sends comments to prevent it); ERR_LIMIT for an event over 16 MiB; and
 *         those of a call. Never repeats by itself: the caller knows what it has seen.
 */
MUST_CHECK enum err_code http_events(struct http *h, const char *path,
                                     const struct http_listener *l, struct err *e);

/** Appends `s` percent-escaped, as one part of a path or query. */
void http_escape(struct buf *out, const char *s);

#endif
