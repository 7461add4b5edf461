/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/supervisor.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/launch.h"
#include "workers/sandbox/order.h"
#include "workers/sandbox/readiness.h"
#include "workers/sandbox/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUCK_NS       (20 * NS_PER_S)
#define INSIDE_LATE_NS (2 * STUCK_NS) /* the one inside has its own patience first */
struct supervisor {
    enum supervisor_side side;
    int ctl;
    int signals;
    struct launch *launch; /* shared memory */
};

struct job {
    pid_t pid;
    bool is_reaped;
    int status;
    struct rusage used;
    int64_t end_ns;
    struct readiness ready;
    bool is_killed; /* once ready, it did not end in time */
};

static void job_reaped(void *context, pid_t pid, int status, const struct rusage *used)
{
    struct job *j = context;

    if (pid != j->pid || j->is_reaped)
        return;
    j->is_reaped = true;
    j->status = status;
    j->used = *used;
    j->end_ns = mono_now().ns;
}

/** With process 1 the kernel ends all others inside. */
_Noreturn static void leave(const struct supervisor *s)
{
    struct job nobody = {.pid = -1};

    if (s->side == SUPERVISOR_OUTSIDE)
        tree_kill_own(STUCK_NS, job_reaped, &nobody);
    _exit(0);
}

/** Whether this job is started by another one of us, inside walls. */
static bool is_walled(const struct supervisor *s, const struct order *o)
{
    return o->n_wall > 0 && s->side == SUPERVISOR_OUTSIDE;
}

/** Forks the job. 0: not started, since it would be ready without; -1 with errno. */
static pid_t start(struct supervisor *s, const struct order *o, int fds[ORDER_DESCRIPTORS],
                   struct readiness *ready)
{
    AUTO(launch_plan_fini) struct launch_plan p = {0};
    int64_t n_threads = 0;

    memset(s->launch, 0, sizeof(*s->launch));
    if (!launch_plan_read(o, fds[ORDER_TEXT], &p))
        return -1;
    if (readiness_begin(ready, o, p.wanted[0], fds))
        return 0;
    if (o->n_processes > 0 && geteuid() != 0)
        n_threads = tree_user_threads(getuid()) + 4 * o->n_processes + LAUNCH_SPARE_THREADS;
    pid_t pid = fork();
    if (pid == 0)
        launch_job(o, &p, fds, n_threads, s->launch);
    return pid;
}

/** Forks what puts up the walls; `inside` is the socket and the stderr of that. */
static pid_t start_walls(struct supervisor *s, const struct order *o,
                         const int fds[ORDER_DESCRIPTORS], const int inside[2])
{
    AUTO(launch_plan_fini) struct launch_plan p = {0};

    memset(s->launch, 0, sizeof(*s->launch));
    if (!launch_plan_read(o, fds[ORDER_TEXT], &p))
        return -1;
    pid_t pid = fork();
    if (pid == 0)
        launch_walls(&p, fds, inside, s->launch);
    return pid;
}

/** True when the worker says stop to job `number`. Does not return when the worker is gone. */
static bool is_told_to_stop(struct supervisor *s, uint32_t number)
{
    struct order o;
    ssize_t n = recv(s->ctl, &o, sizeof(o), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        leave(s);
    return n == sizeof(o) && o.kind == ORDER_STOP && o.number == number;
}

/** True when asked by a signal to end. */
static bool is_told_to_leave(struct supervisor *s)
{
    struct signalfd_siginfo info;
    bool leaving = false;

    while (read(s->signals, &info, sizeof(info)) == sizeof(info))
        leaving |= info.ssi_signo != SIGCHLD;
    return leaving;
}

/** Asks every process of the job to end: its process group, and who has left that. */
static void ask_to_end(pid_t job)
{
    static pid_t pids[TREE_MAX];
    const size_t n = tree_list(getpid(), pids, TREE_MAX);

    kill(-job, SIGTERM);
    for (size_t i = 0; i < n; i++)
        if (getpgid(pids[i]) != job)
            kill(pids[i], SIGTERM);
}

/** Reaps; true when the supervisor has no children left. */
static bool reap(struct job *j)
{
    struct rusage used;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
        job_reaped(j, pid, status, &used);
    return pid < 0 && errno == ECHILD;
}

/** Waits for something to happen, at most until `until`. */
static void doze(const struct supervisor *s, const struct readiness *r, int64_t until,
                 struct pollfd fds[2 + READINESS_FDS])
{
    int64_t left = until - mono_now().ns;
    left = left > 0 ? left : 0;
    struct timespec wait = {.tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S};

    fds[0] = (struct pollfd){.fd = s->ctl, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = s->signals, .events = POLLIN};
    nfds_t n = 2 + (nfds_t)readiness_poll(r, fds + 2);
    ppoll(fds, n, until == INT64_MAX ? NULL : &wait, NULL);
}

/**
 * Waits for the command's end, its deadline or a stop, whichever is first. Or for it to be ready,
 * which is told to it, and then for the end of all its processes, or that of the grace.
 */
static enum report_end watch(struct supervisor *s, const struct order *o, struct job *j)
{
    int64_t until = o->timeout_ns > 0 ? mono_now().ns + o->timeout_ns : INT64_MAX;
    bool is_asked = false;

    for (;;) {
        struct pollfd fds[2 + READINESS_FDS];
        if (until <= mono_now().ns) {
            j->is_killed = is_asked;
            return is_asked ? REPORT_READY : REPORT_TIMED_OUT;
        }
        doze(s, &j->ready, until, fds);

        bool is_empty = reap(j);
        if (j->is_reaped && !j->ready.at_ns)
            readiness_last_look(&j->ready);
        else
            readiness_turn(&j->ready);
        if (j->ready.sys)
            return REPORT_NOT_STARTED;
        if (j->ready.at_ns && is_empty)
            return REPORT_READY;
        if (j->is_reaped && !j->ready.at_ns)
            return WIFSIGNALED(j->status) ? REPORT_SIGNALED : REPORT_EXITED;
        if (fds[1].revents && is_told_to_leave(s))
            leave(s);
        if (fds[0].revents && is_told_to_stop(s, o->number))
            return REPORT_STOPPED;
        if (j->ready.at_ns && !is_asked) {
            is_asked = true;
            ask_to_end(j->pid);
            until = mono_now().ns + o->grace_ns;
        }
    }
}

static int64_t timeval_ns(struct timeval t)
{
    return t.tv_sec * NS_PER_S + t.tv_usec * 1000;
}

static struct usage usage_of(const struct rusage *u)
{
    return (struct usage){.user_s = (double)timeval_ns(u->ru_utime) / 1e9,
                          .system_s = (double)timeval_ns(u->ru_stime) / 1e9,
                          .minor_faults = u->ru_minflt,
                          .major_faults = u->ru_majflt,
                          .waits = u->ru_nvcsw,
                          .preemptions = u->ru_nivcsw,
                          .read_bytes = u->ru_inblock * INT64_C(512),
                          .written_bytes = u->ru_oublock * INT64_C(512)};
}

static void close_all(int fds[ORDER_DESCRIPTORS])
{
    for (int i = 0; i < ORDER_DESCRIPTORS; i++) {
        fd_close(fds[i]);
        fds[i] = -1;
    }
}

static void fill_not_started(struct report *r, int sys, const char *step)
{
    r->end = REPORT_NOT_STARTED;
    r->sys = sys;
    snprintf(r->step, sizeof(r->step), "%s", step);
}

/** What the report says of a job that was started and is over. */
static void tell(const struct supervisor *s, const struct job *j, struct report *r)
{
    if (s->launch->sys) {
        fill_not_started(r, s->launch->sys, s->launch->step);
        return;
    }
    if (r->end == REPORT_NOT_STARTED) {
        fill_not_started(r, j->ready.sys, "look whether it's ready");
        return;
    }
    r->code = WIFSIGNALED(j->status) ? WTERMSIG(j->status) : WEXITSTATUS(j->status);
    r->wall_ns = j->end_ns - s->launch->exec_ns;
    r->cpu_ns = timeval_ns(j->used.ru_utime) + timeval_ns(j->used.ru_stime);
    r->rss_bytes = (int64_t)j->used.ru_maxrss * KIB;
    r->usage = usage_of(&j->used);
    r->ready_ns = r->end == REPORT_READY ? j->ready.at_ns - s->launch->exec_ns : 0;
    r->is_killed = j->is_killed;
}

/** The job itself, without walls or inside of them. */
static void carry_out(struct supervisor *s, const struct order *o, int fds[ORDER_DESCRIPTORS],
                      struct report *r)
{
    struct job j = {.ready.from_probe = -1};

    j.pid = start(s, o, fds, &j.ready);
    if (j.pid <= 0) {
        fill_not_started(r, errno, "fork");
        r->end = j.pid == 0 ? REPORT_WAS_READY : REPORT_NOT_STARTED;
        readiness_end(&j.ready);
        return;
    }
    close_all(fds); /* so that the readers see the end */
    readiness_watch(&j.ready);
    r->end = watch(s, o, &j);
    if (r->end == REPORT_EXITED || r->end == REPORT_SIGNALED)
        r->n_left = (uint32_t)tree_count(getpid()) - (j.ready.from_probe >= 0);
    if (tree_kill_own(STUCK_NS, job_reaped, &j) > 0)
        r->end = REPORT_STUCK;
    else
        tell(s, &j, r);
    readiness_end(&j.ready);
}

/* ---- seen from outside the walls ---- */

/** Waits for the report from inside; a stop is passed on. False if the walls fell first, or if
 *  nobody inside keeps to the time. */
static bool await_inside(struct supervisor *s, const struct order *o, int inside, struct job *j,
                         struct report *r)
{
    int64_t until = o->timeout_ns > 0 ? mono_now().ns + o->timeout_ns + INSIDE_LATE_NS : INT64_MAX;

    while (mono_now().ns < until) {
        struct pollfd fds[] = {{.fd = s->ctl, .events = POLLIN},
                               {.fd = s->signals, .events = POLLIN},
                               {.fd = inside, .events = POLLIN}};

        poll(fds, LEN(fds), (int)(NS_PER_S / NS_PER_MS));
        if (fds[2].revents)
            return recv(inside, r, sizeof(*r), MSG_DONTWAIT) == sizeof(*r) &&
                   r->number == o->number;
        (void)reap(j);
        if (fds[1].revents && is_told_to_leave(s))
            leave(s);
        if (fds[0].revents && is_told_to_stop(s, o->number)) {
            struct order stop = {.kind = ORDER_STOP, .number = o->number};
            until = mono_now().ns + INSIDE_LATE_NS;
            if (send(inside, &stop, sizeof(stop), MSG_NOSIGNAL) != sizeof(stop))
                return false;
        }
    }
    return false;
}

/** The beginning of what was written, on one line. */
static void read_words(int fd, char *out, size_t size)
{
    ssize_t n = pread(fd, out, size - 1, 0);

    out[n > 0 ? n : 0] = '\0';
    for (char *at = out; *at; at++)
        if (*at == '\n')
            *at = at[1] ? ' ' : '\0';
}

static void fill_no_walls(struct supervisor *s, const struct job *j, int words, struct report *r)
{
    if (s->launch->sys) {
        fill_not_started(r, s->launch->sys, s->launch->step);
        return;
    }
    r->end = REPORT_NO_WALLS;
    r->code = WIFSIGNALED(j->status) ? 128 + WTERMSIG(j->status) : WEXITSTATUS(j->status);
    read_words(words, r->words, sizeof(r->words));
}

static void carry_out_walled(struct supervisor *s, const struct order *o,
                             int fds[ORDER_DESCRIPTORS], struct report *r)
{
    AUTO(fd_close) int words = memfd_create("words", MFD_CLOEXEC);
    int pair[2];

    if (words < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        fill_not_started(r, errno, "make a socket");
        return;
    }
    AUTO(fd_close) int inside = pair[0];
    int theirs[2] = {pair[1], words};
    struct job j = {.pid = start_walls(s, o, fds, theirs), .ready.from_probe = -1};
    int sys = errno;
    fd_close(pair[1]);
    if (j.pid < 0) {
        fill_not_started(r, sys, "fork");
        return;
    }
    for (int i = ORDER_INSIDE; i < ORDER_DESCRIPTORS; i++) {
        fd_close(fds[i]);
        fds[i] = -1;
    }
    struct report got = {0};
    bool is_sent = order_send(inside, o, fds);
    close_all(fds);
    bool has_report = is_sent && await_inside(s, o, inside, &j, &got);
    if (tree_kill_own(STUCK_NS, job_reaped, &j) > 0)
        r->end = REPORT_STUCK;
    else if (has_report)
        *r = got;
    else
        fill_no_walls(s, &j, words, r);
}

/* ---- a life ---- */

static void choose_signals(enum supervisor_side side, sigset_t *out)
{
    static const int outside[] = {SIGTERM, SIGINT, SIGHUP};

    sigemptyset(out);
    sigaddset(out, SIGCHLD);
    /* Inside, nothing that the job may send ends us: process 1 gets only what it has asked for. */
    for (size_t i = 0; side == SUPERVISOR_OUTSIDE && i < LEN(outside); i++)
        sigaddset(out, outside[i]);
}

static void settle(struct supervisor *s)
{
    sigset_t all;

    setsid(); /* no Ctrl-C of the worker's terminal */
    prctl(PR_SET_NAME, "bisect-job");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (s->side == SUPERVISOR_OUTSIDE)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    else
        prctl(PR_SET_DUMPABLE, 0); /* the job, of the same user, is not to look into us */
    choose_signals(s->side, &all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);

    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1); /* stderr stays, for an assertion's last words */
    if (s->ctl != INSIDE_CTL)
        dup3(s->ctl, INSIDE_CTL, O_CLOEXEC);
    s->ctl = INSIDE_CTL;
    close_range(INSIDE_CTL + 1, ~0U, 0);
    fcntl(s->ctl, F_SETFD, FD_CLOEXEC);
    s->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    s->launch =
        mmap(NULL, sizeof(*s->launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (null < 0 || s->signals < 0 || s->launch == MAP_FAILED)
        _exit(1);
}

/** One order from its receipt to its report. */
static void serve(struct supervisor *s)
{
    int fds[ORDER_DESCRIPTORS];
    struct order o;

    enum order_got got = order_receive(s->ctl, &o, fds);
    if (got == ORDER_END)
        leave(s);
    if (got == ORDER_NONE)
        return;
    struct report r = {.number = o.number};
    if (is_walled(s, &o))
        carry_out_walled(s, &o, fds, &r);
    else
        carry_out(s, &o, fds, &r);
    close_all(fds);
    if (send(s->ctl, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
        leave(s);
}

void supervisor_live(int ctl, enum supervisor_side side)
{
    struct supervisor s = {.ctl = ctl, .side = side};

    settle(&s);
    for (;;) {
        struct pollfd wait[] = {{.fd = s.ctl, .events = POLLIN},
                                {.fd = s.signals, .events = POLLIN}};
        if (poll(wait, LEN(wait), -1) < 0)
            continue;
        if (wait[1].revents && is_told_to_leave(&s))
            leave(&s);
        if (wait[0].revents)
            serve(&s);
    }
}
