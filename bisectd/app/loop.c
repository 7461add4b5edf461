/* SPDX-License-Identifier: Apache-2.0 */
#include "app/loop.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <unistd.h>

struct watch {
    struct watch *next;
    int fd;
    loop_ready *ready;
    void *ctx;
};

struct loop {
    int epoll_fd;
    struct watch *watches;
};

enum err_code loop_new(struct loop **out, struct err *e)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0)
        return err_sys(e, errno, "epoll");
    *out = mem_alloc(sizeof(**out));
    (*out)->epoll_fd = fd;
    return ERR_OK;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    while (l->watches)
        loop_remove(l, l->watches->fd);
    fd_close(l->epoll_fd);
    mem_free(l);
}

enum err_code loop_add(struct loop *l, int fd, loop_ready *ready, void *ctx, struct err *e)
{
    struct watch *w = mem_alloc(sizeof(*w));
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = w};

    *w = (struct watch){.next = l->watches, .fd = fd, .ready = ready, .ctx = ctx};
    if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev)) {
        mem_free(w);
        return err_sys(e, errno, "watch descriptor %d", fd);
    }
    l->watches = w;
    return ERR_OK;
}

void loop_remove(struct loop *l, int fd)
{
    for (struct watch **at = &l->watches; *at; at = &(*at)->next) {
        struct watch *w = *at;
        if (w->fd != fd)
            continue;
        (void)epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        *at = w->next;
        mem_free(w);
        return;
    }
}

/* Rounded up, so that what is due then is due when we wake. */
static int wait_ms(struct mono until)
{
    int64_t left_ns = until.ns - mono_now().ns;

    if (left_ns <= 0)
        return 0;
    int64_t ms = left_ns / NS_PER_MS + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

void loop_wait(struct loop *l, struct mono until)
{
    struct epoll_event events[64];
    int n = epoll_wait(l->epoll_fd, events, LEN(events), wait_ms(until));

    for (int i = 0; i < n; i++) {
        struct watch *w = events[i].data.ptr;
        w->ready(w->ctx);
    }
}
