/* SPDX-License-Identifier: Apache-2.0 */
#include "base/subprocess.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_STEP = 64 * KIB };

/* The child, between fork and exec. Only calls that are safe there: other threads may have held
 * locks. */

static int reset_signals(void)
{
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL); /* fails for a few, which have no handler to lose */
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int set_descriptors(const struct subprocess *s)
{
    const int wanted[3] = {s->in, s->out, s->err};
    int high[3];

    /* Above 2 first, because one of them may sit where another is to go. */
    for (int i = 0; i < 3; i++) {
        int from = wanted[i] < 0 ? open("/dev/null", O_RDWR) : wanted[i];
        high[i] = from < 0 ? -1 : fcntl(from, F_DUPFD, 3);
        if (high[i] < 0)
            return -1;
    }
    for (int i = 0; i < 3; i++)
        if (dup2(high[i], i) < 0)
            return -1;
    if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
        return -1;
    for (size_t i = 0; i < LEN(s->keep); i++)
        if (s->keep[i] > 2 && fcntl(s->keep[i], F_SETFD, 0) < 0)
            return -1;
    return 0;
}

static int become(const struct subprocess *s, pid_t parent)
{
    if (s->death_signal && prctl(PR_SET_PDEATHSIG, s->death_signal) < 0)
        return -1;
    if (s->death_signal && getppid() != parent)
        _exit(127); /* it died before we asked to be told */
    if (s->new_session && setsid() < 0)
        return -1;
    if (set_descriptors(s) < 0 || (s->cwd && chdir(s->cwd) < 0) || reset_signals() < 0)
        return -1;
    execvpe(s->argv[0], (char *const *)s->argv, s->envp ? (char *const *)s->envp : environ);
    return -1;
}

/* The parent */

/** Waits for exec: 0 once it has happened, else the errno of what failed in the child. */
static int exec_errno(int fd)
{
    int sys = 0;
    ssize_t n;

    do
        n = read(fd, &sys, sizeof(sys));
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(sys) ? sys : 0;
}

static void reap(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
}

enum err_code subprocess_start(const struct subprocess *s, pid_t *pid, struct err *e)
{
    int ends[2];
    sigset_t all, before;
    pid_t us = getpid();

    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(e, errno, "start %s", s->argv[0]);
    AUTO(fd_close) int said = ends[0];

    sigfillset(&all); /* no handler of ours may run in the child */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child == 0) {
        become(s, us);
        int sys = errno;
        if (write(ends[1], &sys, sizeof(sys)) < 0)
            _exit(126);
        _exit(127);
    }
    int sys = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    fd_close(ends[1]);
    if (child < 0)
        return err_sys(e, sys, "start %s", s->argv[0]);

    sys = exec_errno(said);
    if (sys) {
        reap(child, NULL);
        return err_sys(e, sys, "start %s", s->argv[0]);
    }
    *pid = child;
    return ERR_OK;
}

/** A program being run to its end: our ends of its pipes, -1 once closed. */
struct running {
    pid_t pid;
    int pidfd;
    int in, out, err;
    const struct buf *input;
    size_t n_fed;
    struct buf *sinks[2]; /* out, err; NULL: thrown away */
    size_t max_bytes;
};

static void running_fini(struct running *r)
{
    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        reap(r->pid, NULL);
    }
    fd_close(r->pidfd);
    fd_close(r->in);
    fd_close(r->out);
    fd_close(r->err);
}
DEFINE_AUTO_FINI(struct running, running_fini)

static void close_end(int *fd)
{
    fd_close(*fd);
    *fd = -1;
}

/** The pipe's reader may be gone; that is its business, and must not end us. */
static ssize_t write_quietly(int fd, const char *bytes, size_t n)
{
    const struct timespec now = {0};
    sigset_t pipe_signal, before, pending;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t done = write(fd, bytes, n);
    int keep = errno;
    if (done < 0 && keep == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = keep;
    return done;
}

static void feed(struct running *r)
{
    size_t left = r->input->len - r->n_fed;
    ssize_t n = left ? write_quietly(r->in, r->input->data + r->n_fed, left) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    r->n_fed += n > 0 ? (size_t)n : 0;
    if (n < 0 || r->n_fed == r->input->len)
        close_end(&r->in);
}

/** Reads what is there. Closes *fd at its end. */
static enum err_code collect(struct running *r, int *fd, struct buf *sink, struct err *e)
{
    char bytes[READ_STEP];

    while (*fd >= 0) {
        ssize_t n = read(*fd, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return ERR_OK;
        if (n <= 0) {
            close_end(fd);
            return ERR_OK;
        }
        if (sink->len + (size_t)n > r->max_bytes)
            return err_set(e, ERR_LIMIT, "more than %zu bytes of output", r->max_bytes);
        buf_add(sink, bytes, (size_t)n);
    }
    return ERR_OK;
}

static enum err_code collect_both(struct running *r, struct err *e)
{
    enum err_code rc = collect(r, &r->out, r->sinks[0], e);

    return rc ? rc : collect(r, &r->err, r->sinks[1], e);
}

static int ms_until(struct mono deadline)
{
    int64_t ms = (deadline.ns - mono_now().ns + NS_PER_MS - 1) / NS_PER_MS;

    return ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms;
}

/** Until the program itself has ended. What it left running may keep the pipes open for ever. */
static enum err_code converse(struct running *r, int64_t timeout_ns, struct err *e)
{
    const struct mono deadline = {mono_now().ns + timeout_ns};

    for (;;) {
        struct pollfd fds[] = {
            {.fd = r->pidfd, .events = POLLIN},
            {.fd = r->in, .events = POLLOUT},
            {.fd = r->out, .events = POLLIN},
            {.fd = r->err, .events = POLLIN},
        };
        if (poll(fds, LEN(fds), timeout_ns ? ms_until(deadline) : -1) < 0 && errno != EINTR)
            return err_sys(e, errno, "poll");
        if (r->in >= 0 && fds[1].revents)
            feed(r);
        enum err_code rc = collect_both(r, e);
        if (rc)
            return rc;
        if (fds[0].revents)
            return collect_both(r, e);
        if (timeout_ns && mono_now().ns >= deadline.ns)
            return err_set(e, ERR_TIMEOUT, "still running after its time limit");
    }
}

/** A pipe with our end non-blocking; `theirs` is 0 (they read) or 1 (they write). */
static int open_pipe(int theirs, int *our_end, int *their_end)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *their_end = ends[theirs];
    *our_end = ends[!theirs];
    return fcntl(*our_end, F_SETFL, O_NONBLOCK);
}

static enum err_code start_running(struct running *r, const char *const *argv, struct err *e)
{
    AUTO(fd_close) int in = -1;
    AUTO(fd_close) int out = -1;
    AUTO(fd_close) int err = -1;

    if ((r->input && open_pipe(0, &r->in, &in) < 0) ||
        (r->sinks[0] && open_pipe(1, &r->out, &out) < 0) ||
        (r->sinks[1] && open_pipe(1, &r->err, &err) < 0))
        return err_sys(e, errno, "pipe");
    struct subprocess s = {.argv = argv, .in = in, .out = out, .err = err};
    enum err_code rc = subprocess_start(&s, &r->pid, e);
    if (rc)
        return rc;
    r->pidfd = pidfd_open(r->pid, 0);
    return r->pidfd < 0 ? err_sys(e, errno, "pidfd_open") : ERR_OK;
}

enum err_code subprocess_run(const char *const *argv, const struct buf *in, struct buf *out,
                             struct buf *err, size_t max_bytes, int64_t timeout_ns, int *status,
                             struct err *e)
{
    AUTO(running_fini)
    struct running r = {.pidfd = -1,
                        .in = -1,
                        .out = -1,
                        .err = -1,
                        .input = in,
                        .sinks = {out, err},
                        .max_bytes = max_bytes};

    enum err_code rc = start_running(&r, argv, e);
    if (rc)
        return rc;
    rc = converse(&r, timeout_ns, e);
    if (rc) {
        err_wrap(e, "%s", argv[0]);
        return rc;
    }
    reap(r.pid, status);
    r.pid = 0;
    return ERR_OK;
}
