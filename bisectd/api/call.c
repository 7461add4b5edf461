/* SPDX-License-Identifier: Apache-2.0 */
#include "api/call.h"
#include "api/dispatch.h"
#include "api/route.h"
#include "base/log.h"
#include "base/mem.h"
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* News about one bisection reach a follower this often at most, and a comment this often at
 * least, so that both ends notice a dead line. */
#define STREAM_PAUSE_NS (100 * NS_PER_MS)
#define STREAM_ALIVE_NS (15 * NS_PER_S)
enum { STREAM_BLOCK = 16 * KIB };

/* -- lists and suspension -- */

static void unlink_call(struct call *c)
{
    struct server *s = c->server;

    if (c->prev)
        c->prev->next = c->next;
    else
        s->lists[c->list].first = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        s->lists[c->list].last = c->prev;
}

static void link_call(struct call *c, enum call_list to)
{
    struct server *s = c->server;

    c->list = to;
    c->next = NULL;
    c->prev = s->lists[to].last;
    if (c->prev)
        c->prev->next = c;
    else
        s->lists[to].first = c;
    s->lists[to].last = c;
}

void call_move(struct call *c, enum call_list to)
{
    if (c->list == to)
        return;
    unlink_call(c);
    link_call(c, to);
}

static int socket_of(const struct call *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

void call_watch(struct call *c)
{
    struct epoll_event ev = {.events = EPOLLRDHUP, .data.ptr = c};

    if (!c->is_watched)
        c->is_watched = epoll_ctl(c->server->watch_fd, EPOLL_CTL_ADD, socket_of(c), &ev) == 0;
}

static void unwatch(struct call *c)
{
    if (c->is_watched)
        (void)epoll_ctl(c->server->watch_fd, EPOLL_CTL_DEL, socket_of(c), NULL);
    c->is_watched = false;
}

static void suspend(struct call *c)
{
    MHD_suspend_connection(c->connection);
    c->is_suspended = true;
}

void call_resume(struct call *c)
{
    unwatch(c);
    if (!c->is_suspended)
        return;
    c->is_suspended = false;
    MHD_resume_connection(c->connection);
}

/* -- streams -- */

int64_t call_stream_due(const struct call *c)
{
    if (c->is_last || c->n_sent < c->out.len)
        return INT64_MAX;
    return c->told.ns + (c->is_dirty ? STREAM_PAUSE_NS : STREAM_ALIVE_NS);
}

static void add_event(struct buf *out, const char *name, const json *data)
{
    buf_printf(out, "event: %s\ndata: ", name);
    json_dump(data, JSON_COMPACT, out);
    buf_adds(out, "\n\n");
}

static bool is_over(const json *document)
{
    const char *state = json_str(json_at(document, "state"), "");

    return strcmp(state, "done") == 0 || strcmp(state, "canceled") == 0;
}

void call_stream_fill(struct call *c, struct mono now)
{
    const struct service *service = c->server->service;
    AUTO(json_free) json *document = NULL;
    struct err e = {0};

    buf_clear(&c->out);
    c->n_sent = 0;
    c->told = now;
    if (!c->is_dirty) {
        buf_adds(&c->out, ":\n\n");
    } else if (service->bisection_show(service->self, c->x->topic, &document, &e)) {
        LOG(LOG_WARN, "stream ended", "bisection=%s code=%s", c->x->topic, err_name(e.code));
        c->is_last = true;
    } else {
        add_event(&c->out, "progress", document);
        c->is_last = is_over(document);
        if (c->is_last)
            add_event(&c->out, "done", document);
    }
    c->is_dirty = false;
    call_resume(c);
}

static ssize_t on_stream(void *cls, uint64_t at, char *into, size_t max)
{
    struct call *c = cls;
    size_t left = c->out.len - c->n_sent;

    (void)at;
    if (c->is_gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (left) {
        size_t n = left < max ? left : max;
        memcpy(into, c->out.data + c->n_sent, n);
        c->n_sent += n;
        return (ssize_t)n;
    }
    if (c->is_last || c->server->is_stopping)
        return MHD_CONTENT_READER_END_OF_STREAM;
    suspend(c);
    call_watch(c);
    return 0;
}

/* -- answers -- */

static struct MHD_Response *response_of(struct call *c)
{
    struct exchange *x = c->x;

    if (x->topic)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, on_stream, c,
                                                 NULL);
    if (x->download.fd >= 0) {
        struct MHD_Response *r =
            MHD_create_response_from_fd64((uint64_t)x->download.bytes, x->download.fd);
        if (r)
            x->download.fd = -1;
        return r;
    }
    return MHD_create_response_from_buffer(x->answer.len, (void *)(uintptr_t)buf_str(&x->answer),
                                           MHD_RESPMEM_MUST_COPY);
}

static void add_headers(const struct exchange *x, struct MHD_Response *r)
{
    if (x->content_type)
        (void)MHD_add_response_header(r, "Content-Type", x->content_type);
    if (x->allow)
        (void)MHD_add_response_header(r, "Allow", x->allow);
    if (x->status == 401)
        (void)MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
    (void)MHD_add_response_header(r, "Cache-Control", "no-store");
    (void)MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
}

static enum MHD_Result send_answer(struct call *c)
{
    struct exchange *x = c->x;
    struct MHD_Response *r = response_of(c);

    if (!r)
        return MHD_NO;
    add_headers(x, r);
    x->stage = EXCHANGE_SENDING;
    if (x->topic) {
        c->is_dirty = true;
        c->told.ns = 0;
    }
    call_move(c, x->topic ? CALLS_STREAMING : CALLS_OTHER);
    enum MHD_Result rc = MHD_queue_response(c->connection, (unsigned int)x->status, r);
    MHD_destroy_response(r);
    return rc;
}

/* -- the library's callbacks -- */

static struct peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static enum MHD_Result add_parameter(void *cls, enum MHD_ValueKind kind, const char *key,
                                     const char *value)
{
    (void)kind;
    pairs_add(cls, key, value ? value : "");
    return MHD_YES;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct call *call_begin(struct listener *l, struct MHD_Connection *connection,
                               const char *url, const char *method)
{
    struct call *c = mem_alloc(sizeof(*c));
    struct peer *peer = peer_of(connection);
    const char *length = header(connection, "Content-Length");
    struct head head = {
        .is_private = l->is_private,
        .authorization = header(connection, "Authorization"),
        .idempotency_key = header(connection, "Idempotency-Key"),
        .content_bytes = length ? strtoll(length, NULL, 10) : -1,
    };

    c->server = l->server;
    c->connection = connection;
    c->x = exchange_new(method, url);
    link_call(c, CALLS_OTHER);
    l->server->n_requests++;
    (void)MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_parameter, &c->x->query);
    exchange_admit(c->x, &head, l->server->service);
    bool is_worker = c->x->route && c->x->route->role == ROLE_WORKER;
    l->server->has_served |= !is_worker;
    if (peer && !peer->is_worker && is_worker) {
        peer->is_worker = true;
        l->server->n_workers++;
    }
    return c;
}

/* The whole request is there, or the call was resumed. */
static enum MHD_Result proceed(struct call *c)
{
    struct exchange *x = c->x;

    if (c->is_gone)
        return MHD_NO;
    if (x->stage == EXCHANGE_READING && x->status)
        return send_answer(c); /* refused by its head or size: touches no store */
    if (c->is_released)
        return send_answer(c);
    if (x->stage == EXCHANGE_READING) {
        x->stage = EXCHANGE_READY;
        call_move(c, CALLS_READY);
    }
    suspend(c);
    return MHD_YES;
}

enum MHD_Result call_on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                const char *method, const char *version, const char *upload,
                                size_t *upload_bytes, void **state)
{
    struct call *c = *state;

    (void)version;
    if (!c) {
        *state = c = call_begin(cls, connection, url, method);
        /* Who asks first need not send a body that would be refused. */
        return c->x->status && header(connection, "Expect") ? send_answer(c) : MHD_YES;
    }
    if (!*upload_bytes)
        return proceed(c);
    size_t n = *upload_bytes;
    *upload_bytes = 0;
    return exchange_body(c->x, upload, n) ? MHD_YES : MHD_NO;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL;

    return found ? (int)(found - digits) : -1;
}

size_t call_on_escape(void *cls, struct MHD_Connection *connection, char *text)
{
    char *to = text;

    (void)cls;
    (void)connection;
    for (const char *at = text; *at; at++) {
        int high = *at == '%' ? hex_digit(at[1]) : -1;
        int low = high >= 0 ? hex_digit(at[2]) : -1;
        bool is_escape = low >= 0 && (high || low);
        *to++ = is_escape ? (char)(high << 4 | low) : *at;
        at += is_escape ? 2 : 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}

void call_on_completed(void *cls, struct MHD_Connection *connection, void **state,
                       enum MHD_RequestTerminationCode why)
{
    struct call *c = *state;

    (void)cls;
    (void)connection;
    (void)why;
    if (!c)
        return;
    unwatch(c);
    unlink_call(c);
    exchange_free(c->x);
    buf_fini(&c->out);
    mem_free(c);
    *state = NULL;
}

void call_on_connection(void *cls, struct MHD_Connection *connection, void **state,
                        enum MHD_ConnectionNotificationCode what)
{
    struct listener *l = cls;
    struct peer *peer = *state;

    (void)connection;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *state = mem_alloc(sizeof(*peer));
        l->server->n_peers++;
        return;
    }
    if (!peer)
        return;
    l->server->n_peers--;
    l->server->n_workers -= peer->is_worker;
    mem_free(peer);
    *state = NULL;
}
