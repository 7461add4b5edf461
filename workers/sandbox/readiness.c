/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/readiness.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROBE_SHARE  500              /* of the time gone by between two looks */
#define WATCHED_NS   (50 * NS_PER_MS) /* between two looks where inotify wakes us anyhow */
#define ANSWER_NS    (5 * NS_PER_S)   /* a connection that says nothing is tried again then */
#define LAST_LOOK_MS 20
#define DRAIN_MS     1000 /* for a worker that does not read */
enum { RELAY_BYTES = 64 * KIB, STATUS_BYTES = 64 };

/* ---- line: output on its way through ---- */

struct relay {
    int from, to; /* -1: at its end */
    size_t n, at; /* bytes there; those before `at` were passed on, and may begin a match */
    char bytes[RELAY_BYTES];
};

static struct relay *relay_new(int *fd)
{
    int pair[2];

    if (pipe2(pair, O_CLOEXEC) != 0)
        return NULL;
    struct relay *l = mem_alloc(sizeof(*l));
    l->from = pair[0];
    l->to = *fd;
    fcntl(l->from, F_SETFL, O_NONBLOCK);
    fcntl(l->to, F_SETFL, fcntl(l->to, F_GETFL) | O_NONBLOCK);
    *fd = pair[1];
    return l;
}

static void relay_close(struct relay *l)
{
    fd_close(l->from);
    fd_close(l->to);
    l->from = l->to = -1;
}

static bool relay_is_full(const struct relay *l)
{
    return l->at < l->n;
}

/** Passes on what it can; without a reader it goes nowhere. */
static void relay_write(struct relay *l)
{
    while (relay_is_full(l)) {
        ssize_t n = write(l->to, l->bytes + l->at, l->n - l->at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        l->at = n < 0 ? l->n : l->at + (size_t)n;
    }
}

/** Reads once and looks for the text; false when there was nothing. */
static bool relay_read(struct relay *l, struct readiness *r)
{
    const size_t n_text = strlen(r->text);

    if (l->n > n_text - 1) { /* keep what a match could begin with */
        memmove(l->bytes, l->bytes + l->n - (n_text - 1), n_text - 1);
        l->n = l->at = n_text - 1;
    }
    ssize_t n = read(l->from, l->bytes + l->n, sizeof(l->bytes) - l->n);
    if (n < 0)
        return false;
    if (n == 0) {
        relay_close(l);
        return false;
    }
    l->n += (size_t)n;
    if (!r->at_ns && memmem(l->bytes, l->n, r->text, n_text))
        r->at_ns = mono_now().ns;
    return true;
}

static void relay_turn(struct relay *l, struct readiness *r)
{
    for (int i = 0; l->from >= 0 && i < 16; i++) {
        relay_write(l);
        if (relay_is_full(l) || !relay_read(l, r))
            return;
    }
}

/** Everything that is left, as fast as the worker takes it. */
static void relay_drain(struct relay *l, struct readiness *r)
{
    while (l->from >= 0) {
        struct pollfd room = {.fd = l->to, .events = POLLOUT};
        relay_write(l);
        if (relay_is_full(l) && poll(&room, 1, DRAIN_MS) <= 0)
            return;
        if (!relay_is_full(l) && !relay_read(l, r))
            return;
    }
}

/* ---- port, http: asking ---- */

/** An address of this machine. */
union loopback {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static socklen_t loopback_at(uint16_t port, int family, union loopback *out)
{
    memset(out, 0, sizeof(*out));
    if (family == AF_INET) {
        out->v4 = (struct sockaddr_in){.sin_family = AF_INET,
                                       .sin_port = htons(port),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        return sizeof(out->v4);
    }
    out->v6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return sizeof(out->v6);
}

/** Gives fd a port of its own that is not `port`: a connection from a port to itself succeeds where
 *  nobody listens, and of thousands of looks at one that the system hands out, too, some would be.
 */
static bool leave(int fd, uint16_t port, int family)
{
    union loopback own;
    socklen_t n = loopback_at(0, family, &own);

    return bind(fd, &own.any, n) == 0 && getsockname(fd, &own.any, &n) == 0 &&
           ntohs(family == AF_INET ? own.v4.sin_port : own.v6.sin6_port) != port;
}

static int connect_to(uint16_t port, int family)
{
    union loopback to;
    const socklen_t n = loopback_at(port, family, &to);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* Not in the way of a job that has not yet opened it: a closed port refuses at once, and a full
     * queue of connections is as open as it gets, hence a limit. */
    struct timeval limit = {.tv_usec = 100000};

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (leave(fd, port, family) && connect(fd, &to.any, n) == 0)
        return fd;
    fd_close(fd);
    return -1;
}

/** A connection to the port of this machine; -1: nobody there. */
static int reach(uint16_t port)
{
    int fd = connect_to(port, AF_INET);

    return fd >= 0 ? fd : connect_to(port, AF_INET6);
}

/** Whether the first bytes of an answer are "HTTP/1.x 2…" or 3…; needs 10 of them. */
static bool is_welcome(const char *status, size_t n)
{
    return n >= 10 && memcmp(status, "HTTP/1.", 7) == 0 && status[8] == ' ' &&
           (status[9] == '2' || status[9] == '3');
}

static bool answers(const struct readiness *r)
{
    AUTO(fd_close) int fd = reach(r->port);
    const int64_t until = mono_now().ns + ANSWER_NS;
    char status[STATUS_BYTES];
    size_t n = 0;

    if (fd < 0 || send(fd, r->text, strlen(r->text), MSG_NOSIGNAL) != (ssize_t)strlen(r->text))
        return false;
    while (n < 10) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        const int64_t left_ms = (until - mono_now().ns) / NS_PER_MS;
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0)
            return false;
        ssize_t got = recv(fd, status + n, sizeof(status) - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return is_welcome(status, n);
}

static bool is_there(const struct readiness *r)
{
    struct stat s;

    switch (r->kind) {
    case READY_PORT: {
        AUTO(fd_close) int fd = reach(r->port);
        return fd >= 0;
    }
    case READY_HTTP:
        return answers(r);
    case READY_FILE:
        return stat(r->text, &s) == 0;
    default:
        return false;
    }
}

/* ---- the child that looks ---- */

static void nap(int inotify, int64_t ns)
{
    struct pollfd wait = {.fd = inotify, .events = POLLIN};
    struct timespec t = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
    char events[4096];

    ppoll(&wait, 1, &t, NULL);
    if (inotify >= 0)
        while (read(inotify, events, sizeof(events)) > 0)
            continue;
}

/** Watches the file's folder; false while it cannot be, for there is none. */
static bool watch_folder(int inotify, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO(mem_free) char *folder = mem_dup_n(path, slash > path ? (size_t)(slash - path) : 1);

    return inotify >= 0 &&
           inotify_add_watch(inotify, folder, IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF) >= 0;
}

static int64_t pause_after(int64_t gone_ns)
{
    const int64_t share = gone_ns / PROBE_SHARE;

    return share < PROBE_LEAST_NS ? PROBE_LEAST_NS : share > PROBE_MOST_NS ? PROBE_MOST_NS : share;
}

/** The child's whole life. It ends with the supervisor, or when the job does. */
_Noreturn static void look(const struct readiness *r, int to)
{
    const int64_t begin_ns = mono_now().ns;
    bool is_watched = false;
    int64_t answer = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "bisect-ready");
    int inotify = r->kind == READY_FILE ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
    while (!answer) {
        if (!is_watched && r->kind == READY_FILE)
            is_watched = watch_folder(inotify, r->text);
        if (is_there(r))
            answer = mono_now().ns;
        if (!answer)
            nap(is_watched ? inotify : -1,
                is_watched ? WATCHED_NS : pause_after(mono_now().ns - begin_ns));
    }
    _exit(write(to, &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1);
}

static void hear(struct readiness *r)
{
    int64_t answer = 0;
    ssize_t n = read(r->from_probe, &answer, sizeof(answer));

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n == sizeof(answer) && answer > 0)
        r->at_ns = answer;
    else
        r->sys = n == sizeof(answer) ? (int)-answer : ECHILD;
    fd_close(r->from_probe);
    r->from_probe = -1;
}

/* ---- what the supervisor calls ---- */

bool readiness_begin(struct readiness *r, const struct order *o, const char *text,
                     int fds[ORDER_DESCRIPTORS])
{
    *r = (struct readiness){.kind = o->ready, .port = o->ready_port, .from_probe = -1};
    r->text = mem_dup(text);
    if (r->kind == READY_LINE) {
        r->relays[0] = relay_new(&fds[ORDER_STDOUT]);
        r->relays[1] = relay_new(&fds[ORDER_STDERR]);
        r->sys = r->relays[0] && r->relays[1] ? 0 : errno;
        return false;
    }
    return is_there(r);
}

void readiness_watch(struct readiness *r)
{
    int pair[2];

    if (r->kind == READY_EXIT || r->kind == READY_LINE)
        return;
    pid_t pid = -1;
    if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0) {
        pid = fork();
        if (pid == 0)
            look(r, pair[1]);
        fd_close(pair[1]);
        r->from_probe = pair[0];
    }
    if (pid < 0)
        r->sys = errno;
}

size_t readiness_poll(const struct readiness *r, struct pollfd fds[READINESS_FDS])
{
    size_t n = 0;

    if (r->from_probe >= 0)
        fds[n++] = (struct pollfd){.fd = r->from_probe, .events = POLLIN};
    for (size_t i = 0; i < LEN(r->relays); i++) {
        const struct relay *l = r->relays[i];
        if (!l || l->from < 0)
            continue;
        fds[n++] = relay_is_full(l) ? (struct pollfd){.fd = l->to, .events = POLLOUT}
                                    : (struct pollfd){.fd = l->from, .events = POLLIN};
    }
    return n;
}

void readiness_turn(struct readiness *r)
{
    if (r->from_probe >= 0)
        hear(r);
    for (size_t i = 0; i < LEN(r->relays); i++)
        if (r->relays[i])
            relay_turn(r->relays[i], r);
}

void readiness_last_look(struct readiness *r)
{
    struct pollfd wait = {.fd = r->from_probe, .events = POLLIN};

    if (r->from_probe >= 0)
        poll(&wait, 1, LAST_LOOK_MS);
    readiness_turn(r);
}

void readiness_end(struct readiness *r)
{
    fd_close(r->from_probe);
    for (size_t i = 0; i < LEN(r->relays); i++) {
        if (!r->relays[i])
            continue;
        relay_drain(r->relays[i], r);
        relay_close(r->relays[i]);
        mem_free(r->relays[i]);
    }
    mem_free(r->text);
    *r = (struct readiness){.from_probe = -1};
}
