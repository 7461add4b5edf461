/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The HTTP server: libmicrohttpd driven from our event loop. Never blocks.
 *
 * A turn of the loop:
 *
 *     server_receive()   reads what came in; whole requests wait, nothing is handled yet
 *     begin
 *     server_handle()    runs the handlers of all of them; answers are held back
 *     commit
 *     server_release()   sends the answers, or a 503 for each if the commit failed, and the
 *                        events of bisections that changed
 *
 * So one commit, with one sync of the disk, pays for all requests of a turn, and nobody is told of
 * what a crash may undo.
 */
#ifndef API_SERVER_H
#define API_SERVER_H

#include "api/service.h"
#include "base/clock.h"
#include "base/err.h"

struct server;

/** `service` is borrowed, for the server's life. Removes what uploads of an earlier life left. */
MUST_CHECK enum err_code server_new(const struct service *service, struct server **out,
                                    struct err *e);
/** Closes all connections and listening sockets. */
void server_free(struct server *s);
DEFINE_AUTO(struct server, server_free)

enum listener_kind { LISTENER_TCP /* callers need a token */, LISTENER_PRIVATE /* they do not */ };
/** Serves a listening socket; takes `fd` over. */
MUST_CHECK enum err_code server_listen(struct server *s, int fd, enum listener_kind kind,
                                       struct err *e);

/** Readable when server_receive() has something to do. */
int server_fd(const struct server *s);
/** When a turn is due even if nothing is readable; false: never. */
bool server_deadline(const struct server *s, struct mono now, struct mono *out);

void server_receive(struct server *s);
void server_handle(struct server *s, struct mono now);
void server_release(struct server *s, bool is_committed, struct mono now);
/** Instead of server_handle(), when the store cannot be had: what waits to be handled gets a 503.
 */
void server_refuse(struct server *s);

/** Is there anything for server_handle() to do? */
bool server_is_busy(const struct server *s, struct mono now);

/** Work may have turned up for waiting workers: they ask again in this turn. */
void server_wake_workers(struct server *s);
/** `x`'s work is done (service.h): its handler runs again in this turn. */
void server_wake(struct server *s, struct exchange *x);
/** A bisection changed: those who follow it are told after the commit. */
void server_publish(struct server *s, const char *bisection);

/** Open connections of others than workers. */
size_t server_n_clients(const struct server *s);
/** Has anyone but workers ever asked something? */
bool server_has_served(const struct server *s);
/** Requests since the start, for /metrics. */
uint64_t server_n_requests(const struct server *s);

/** Answers what waits, ends streams, and gives what is under way up to `grace_ns` to leave. */
void server_drain(struct server *s, int64_t grace_ns);

#endif
