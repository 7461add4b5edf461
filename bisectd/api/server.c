/* SPDX-License-Identifier: Apache-2.0 */
#include "api/server.h"
#include "api/call.h"
#include "api/dispatch.h"
#include "api/route.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    MAX_LISTENERS = 4,
    CONNECTION_TIMEOUT_S = 60,    /* without a byte either way, unless it waits for us */
    CONNECTION_MEMORY = 64 * KIB, /* head of a request, and blocks of its body */
};

static void on_message(void *cls, const char *format, va_list args)
{
    char text[256];

    (void)cls;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)vsnprintf(text, sizeof(text), format, args);
#pragma GCC diagnostic pop
    text[strcspn(text, "\n")] = '\0';
    LOG(LOG_DEBUG, "http library", "text=\"%s\"", text);
}

enum err_code server_new(const struct service *service, struct server **out, struct err *e)
{
    AUTO(server_free) struct server *s = mem_alloc(sizeof(*s));

    s->service = service;
    uploads_clean(service);
    s->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->watch_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->poll_fd < 0 || s->watch_fd < 0)
        return err_sys(e, errno, "epoll");
    struct epoll_event ev = {.events = EPOLLIN};
    if (epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, s->watch_fd, &ev))
        return err_sys(e, errno, "epoll");
    *out = TAKE(s);
    return ERR_OK;
}

void server_free(struct server *s)
{
    if (!s)
        return;
    /* The library wants no suspended connection when it stops. */
    s->is_stopping = true;
    for (size_t i = 0; i < LEN(s->lists); i++)
        for (struct call *c = s->lists[i].first; c; c = c->next) {
            c->is_gone = true;
            call_resume(c);
        }
    for (size_t i = 0; i < s->n_listeners; i++) {
        (void)MHD_run(s->listeners[i]->daemon);
        MHD_stop_daemon(s->listeners[i]->daemon);
        mem_free(s->listeners[i]);
    }
    fd_close(s->watch_fd);
    fd_close(s->poll_fd);
    mem_free(s->listeners);
    mem_free(s);
}

enum err_code server_listen(struct server *s, int fd, enum listener_kind kind, struct err *e)
{
    AUTO(fd_close) int owned = fd;
    struct listener *l = mem_alloc(sizeof(*l));

    l->server = s;
    l->is_private = kind == LISTENER_PRIVATE;
    /* clang-format off */
    l->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        call_on_request, l,
        MHD_OPTION_EXTERNAL_LOGGER, on_message, NULL,
        MHD_OPTION_LISTEN_SOCKET, owned,
        MHD_OPTION_UNESCAPE_CALLBACK, call_on_escape, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, call_on_completed, l,
        MHD_OPTION_NOTIFY_CONNECTION, call_on_connection, l,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)s->service->max_connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CONNECTION_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_END);
    /* clang-format on */
    if (!l->daemon) {
        mem_free(l);
        return err_sys(e, errno, "start the HTTP server");
    }
    owned = -1;
    s->listeners = mem_resize(s->listeners, s->n_listeners + 1, sizeof(struct listener *));
    s->listeners[s->n_listeners++] = l;

    const union MHD_DaemonInfo *info = MHD_get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct epoll_event ev = {.events = EPOLLIN};
    if (!info || epoll_ctl(s->poll_fd, EPOLL_CTL_ADD, info->epoll_fd, &ev))
        return err_sys(e, errno, "epoll");
    return ERR_OK;
}

int server_fd(const struct server *s)
{
    return s->poll_fd;
}

static void earlier(struct mono *at, bool *is_set, int64_t ns)
{
    if (!*is_set || ns < at->ns)
        at->ns = ns;
    *is_set = true;
}

bool server_deadline(const struct server *s, struct mono now, struct mono *out)
{
    bool is_set = false;

    for (size_t i = 0; i < s->n_listeners; i++) {
        MHD_UNSIGNED_LONG_LONG ms;
        if (MHD_get_timeout(s->listeners[i]->daemon, &ms) == MHD_YES)
            earlier(out, &is_set, now.ns + (int64_t)ms * NS_PER_MS);
    }
    if (s->lists[CALLS_READY].first || s->lists[CALLS_HELD].first)
        earlier(out, &is_set, now.ns);
    for (const struct call *c = s->lists[CALLS_WAITING].first; c; c = c->next)
        earlier(out, &is_set, c->x->deadline.ns);
    for (const struct call *c = s->lists[CALLS_STREAMING].first; c; c = c->next)
        if (c->is_suspended)
            earlier(out, &is_set, call_stream_due(c));
    return is_set;
}

/* Clients that left while they had nothing to read: the library does not look at those. */
static void see_who_left(struct server *s)
{
    struct epoll_event events[64];
    int n = epoll_wait(s->watch_fd, events, LEN(events), 0);

    for (int i = 0; i < n; i++) {
        struct call *c = events[i].data.ptr;
        c->is_gone = true;
        call_resume(c);
    }
}

static void run_library(struct server *s)
{
    for (size_t i = 0; i < s->n_listeners; i++)
        (void)MHD_run(s->listeners[i]->daemon);
}

void server_receive(struct server *s)
{
    see_who_left(s);
    run_library(s);
}

bool server_is_busy(const struct server *s, struct mono now)
{
    if (s->lists[CALLS_READY].first)
        return true;
    for (const struct call *c = s->lists[CALLS_WAITING].first; c; c = c->next)
        if (c->is_woken || c->x->deadline.ns <= now.ns)
            return true;
    return false;
}

static void limit_streams(struct call *c)
{
    struct err e = {0};
    int64_t n = 0;

    for (const struct call *o = c->server->lists[CALLS_STREAMING].first; o; o = o->next)
        n++;
    for (const struct call *o = c->server->lists[CALLS_HELD].first; o; o = o->next)
        n += o->x->topic != NULL; /* granted in this turn */
    if (n < c->server->service->max_watchers)
        return;
    err_set(&e, ERR_LIMIT, "%lld streams of events are open, which is the limit", (long long)n);
    err_hint(&e, "ask for the bisection itself now and then, or raise limits.watchers");
    answer_error(c->x, &e);
}

static void handle(struct call *c)
{
    c->is_woken = false;
    exchange_run(c->x, c->server->service);
    if (c->x->topic)
        limit_streams(c);
    if (c->x->stage == EXCHANGE_WAITING) {
        call_move(c, CALLS_WAITING);
        call_watch(c);
    } else {
        call_move(c, CALLS_HELD);
    }
}

void server_handle(struct server *s, struct mono now)
{
    struct call *next;

    for (struct call *c = s->lists[CALLS_WAITING].first; c; c = next) {
        next = c->next;
        if (c->is_gone || (!c->is_woken && c->x->deadline.ns > now.ns))
            continue;
        c->x->is_last_try = c->x->deadline.ns <= now.ns;
        handle(c);
    }
    for (struct call *c = s->lists[CALLS_READY].first; c; c = next) {
        next = c->next;
        handle(c);
    }
}

static void refuse_uncommitted(struct exchange *x)
{
    struct err e = {0};

    err_set(&e, ERR_IO, "the store could not write, so nothing was changed");
    err_hint(&e, "look at the daemon's log and at the disk's free space, then try again");
    answer_error(x, &e);
}

void server_refuse(struct server *s)
{
    while (s->lists[CALLS_READY].first) {
        refuse_uncommitted(s->lists[CALLS_READY].first->x);
        call_move(s->lists[CALLS_READY].first, CALLS_HELD);
    }
}

void server_release(struct server *s, bool is_committed, struct mono now)
{
    struct call *next;

    for (struct call *c = s->lists[CALLS_HELD].first; c; c = next) {
        next = c->next;
        if (c->is_released)
            continue;
        if (!is_committed)
            refuse_uncommitted(c->x);
        c->is_released = true;
        call_resume(c);
    }
    for (struct call *c = s->lists[CALLS_STREAMING].first; c; c = next) {
        next = c->next;
        if (c->is_suspended && !c->is_gone && call_stream_due(c) <= now.ns)
            call_stream_fill(c, now);
    }
    run_library(s);
}

void server_wake_workers(struct server *s)
{
    for (struct call *c = s->lists[CALLS_WAITING].first; c; c = c->next)
        c->is_woken |= c->x->waits_for_task;
}

void server_wake(struct server *s, struct exchange *x)
{
    for (struct call *c = s->lists[CALLS_WAITING].first; c; c = c->next)
        c->is_woken |= c->x == x;
}

void server_publish(struct server *s, const char *bisection)
{
    for (struct call *c = s->lists[CALLS_STREAMING].first; c; c = c->next)
        c->is_dirty |= strcmp(c->x->topic, bisection) == 0;
}

size_t server_n_clients(const struct server *s)
{
    return s->n_peers - s->n_workers;
}

bool server_has_served(const struct server *s)
{
    return s->has_served;
}

uint64_t server_n_requests(const struct server *s)
{
    return s->n_requests;
}

static void refuse_stopping(struct call *c)
{
    struct err e = {0};

    err_set(&e, ERR_TIMEOUT, "the coordinator is stopping");
    err_hint(&e, "try again when it is back");
    answer_error(c->x, &e);
    call_move(c, CALLS_HELD);
    c->is_released = true;
    call_resume(c);
}

static bool is_quiet(const struct server *s)
{
    for (size_t i = 0; i < LEN(s->lists); i++)
        if (s->lists[i].first)
            return false;
    return true;
}

void server_drain(struct server *s, int64_t grace_ns)
{
    int64_t end_ns = mono_now().ns + grace_ns;

    s->is_stopping = true;
    while (s->lists[CALLS_WAITING].first)
        refuse_stopping(s->lists[CALLS_WAITING].first);
    for (struct call *c = s->lists[CALLS_STREAMING].first; c; c = c->next)
        call_resume(c);
    run_library(s);
    while (!is_quiet(s) && mono_now().ns < end_ns) {
        struct pollfd p = {.fd = s->poll_fd, .events = POLLIN};
        (void)poll(&p, 1, 10);
        server_receive(s);
        while (s->lists[CALLS_READY].first)
            refuse_stopping(s->lists[CALLS_READY].first);
    }
}
