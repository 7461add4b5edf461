/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An exchange's tie to its connection; inside of server.h.
 *
 * A call is suspended whenever it waits for us, so that the library spends nothing on it. While
 * it may wait long, its socket is watched for the client's leaving.
 */
#ifndef API_CALL_H
#define API_CALL_H

#include "api/exchange.h"
#include "api/server.h"
#include <microhttpd.h>

struct call;

enum call_list { CALLS_OTHER, CALLS_READY, CALLS_WAITING, CALLS_HELD, CALLS_STREAMING, CALL_LISTS };

struct listener {
    struct server *server;
    struct MHD_Daemon *daemon;
    bool is_private;
};

struct server {
    const struct service *service;
    int poll_fd;  /* the library's own epoll descriptors, and watch_fd */
    int watch_fd; /* sockets of suspended calls */
    size_t n_listeners;
    struct listener **listeners;
    struct {
        struct call *first, *last;
    } lists[CALL_LISTS];
    size_t n_peers, n_workers; /* open connections; those that do a worker's work */
    uint64_t n_requests;
    bool has_served; /* someone who is no worker has asked something */
    bool is_stopping;
};

/** One open connection. */
struct peer {
    bool is_worker;
};

struct call {
    struct call *prev, *next;
    enum call_list list;
    struct server *server;
    struct MHD_Connection *connection;
    struct exchange *x;
    bool is_suspended, is_watched;
    bool is_gone;     /* the client has left */
    bool is_woken;    /* to be handled again */
    bool is_released; /* its answer may go */
    /* a stream of events */
    struct buf out;
    size_t n_sent;
    bool is_dirty;    /* has news to tell */
    bool is_last;     /* nothing after what is in `out` */
    struct mono told; /* when `out` was filled last */
};

void call_move(struct call *c, enum call_list to);
void call_resume(struct call *c);
/** Until it is resumed: the client's leaving makes watch_fd readable. */
void call_watch(struct call *c);

/** When a stream wants to be filled; INT64_MAX: it is at its end. */
int64_t call_stream_due(const struct call *c);
void call_stream_fill(struct call *c, struct mono now);

/* The library's callbacks. */
enum MHD_Result call_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_bytes, void **state);
/** Decodes %41 in place. %00 stays as it is: what follows it must not be cut off unseen. */
size_t call_on_escape(void *cls, struct MHD_Connection *connection, char *text);
void call_on_completed(void *cls, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode why);
void call_on_connection(void *cls, struct MHD_Connection *connection, void **state,
                        enum MHD_ConnectionNotificationCode what);

#endif
