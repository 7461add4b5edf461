/* SPDX-License-Identifier: Apache-2.0 */
/** One request and where its answer goes: the part of the client that knows curl. Of this folder
 * only. */
#ifndef WIRE_EXCHANGE_H
#define WIRE_EXCHANGE_H

#include "wire/http.h"
#include "wire/sse.h"
#include <curl/curl.h>
#include <stdbool.h>

struct http {
    char *base;   /* as given */
    char *url;    /* what paths are put behind */
    char *socket; /* of unix:; else NULL */
    char *token;
    char *ca_file;
    struct http_options options; /* without the strings */
    CURLM *multi;
    CURL *easy;
};

struct exchange {
    struct http *http;
    const struct http_request *request;
    const char *accept;
    /* body */
    struct buf json;
    const char *body;
    size_t n_body, n_sent;
    int from_fd; /* -1: body in memory */
    /* answer */
    struct buf *to_buf;
    int to_fd; /* -1: none */
    const struct http_listener *listener;
    struct sse sse;
    size_t n_received;
    size_t max_bytes;
    long status;
    struct buf error_document;
    /* how it ended, where curl does not know */
    bool is_stopped;  /* tick said so */
    bool is_heard;    /* the listener has heard enough */
    struct err fault; /* of a callback */
    struct mono last_byte;
};

/** With the request's body in place, and nowhere for the answer to go: set that, then perform. The
 *  request must outlive it. */
struct exchange exchange_of(struct http *h, const struct http_request *r);
void exchange_fini(struct exchange *x);
DEFINE_AUTO_FINI(struct exchange, exchange_fini)

/** Tries until there is an answer, an error that stays, or no time left to try again. */
MUST_CHECK enum err_code exchange_perform(struct exchange *x, struct err *e);

#endif
