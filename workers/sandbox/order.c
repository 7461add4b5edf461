/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/order.h"
#include "base/file.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union extra {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * ORDER_DESCRIPTORS)];
};

bool order_send(int ctl, const struct order *o, const int fds[ORDER_DESCRIPTORS])
{
    struct order sent = *o;
    union extra extra = {0};
    struct iovec io = {.iov_base = &sent, .iov_len = sizeof(sent)};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = &extra};
    struct cmsghdr *c = &extra.align;
    int present[ORDER_DESCRIPTORS];
    size_t n = 0;

    sent.has = 0;
    for (int i = 0; i < ORDER_DESCRIPTORS; i++) {
        if (fds[i] < 0)
            continue;
        sent.has |= 1U << i;
        present[n++] = fds[i];
    }
    m.msg_controllen = CMSG_SPACE(sizeof(int) * n);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * n);
    memcpy(CMSG_DATA(c), present, sizeof(int) * n);
    return sendmsg(ctl, &m, MSG_NOSIGNAL) == sizeof(sent);
}

/** Gives each descriptor its place; false if not as many came as were announced. */
static bool sort_out(const struct order *o, struct msghdr *m, int fds[ORDER_DESCRIPTORS])
{
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    int came[ORDER_DESCRIPTORS];
    size_t n = 0, next = 0;

    if (c && c->cmsg_type == SCM_RIGHTS) {
        n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(came, CMSG_DATA(c), n * sizeof(int));
    }
    for (int i = 0; i < ORDER_DESCRIPTORS; i++)
        if (o->has >> i & 1 && next < n)
            fds[i] = came[next++];
        else if (o->has >> i & 1)
            next = n + 1;
    return next == n && !(m->msg_flags & MSG_CTRUNC);
}

enum order_got order_receive(int ctl, struct order *o, int fds[ORDER_DESCRIPTORS])
{
    union extra extra;
    struct iovec io = {.iov_base = o, .iov_len = sizeof(*o)};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof(extra)};

    for (int i = 0; i < ORDER_DESCRIPTORS; i++)
        fds[i] = -1;
    ssize_t n = recvmsg(ctl, &m, MSG_CMSG_CLOEXEC);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        return ORDER_END;
    if (n != sizeof(*o) || o->kind != ORDER_RUN)
        return ORDER_NONE;
    if (sort_out(o, &m, fds))
        return ORDER_GOT;
    for (int i = 0; i < ORDER_DESCRIPTORS; i++) {
        fd_close(fds[i]);
        fds[i] = -1;
    }
    return ORDER_NONE;
}
