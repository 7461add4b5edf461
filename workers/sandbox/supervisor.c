/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/supervisor.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
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
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STUCK_NS (20 * NS_PER_S)
/* RLIMIT_NPROC counts threads, and those of everything the user runs. It is the wall behind the
 * limit that the worker watches, against a program that forks faster than that one looks. */
enum { SPARE_THREADS = 256 };

/** Written by the command's process between fork and exec, read by the supervisor. */
struct launch {
    int64_t exec_ns;
    int sys;
    char step[24];
};

struct supervisor {
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

_Noreturn static void leave(void)
{
    struct job nobody = {.pid = -1};

    tree_kill_own(STUCK_NS, job_reaped, &nobody);
    _exit(0);
}

_Noreturn static void launch_failed(struct launch *l, const char *step)
{
    l->sys = errno;
    snprintf(l->step, sizeof(l->step), "%s", step);
    _exit(127);
}

static void limit(int what, int64_t value, struct launch *l)
{
    struct rlimit r = {.rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value};
    struct rlimit now;

    if (getrlimit(what, &now) == 0 && now.rlim_max < r.rlim_max)
        r.rlim_cur = r.rlim_max = now.rlim_max;
    if (setrlimit(what, &r) != 0)
        launch_failed(l, "set a limit");
}

/** When memory runs out, the job goes before anything else does. */
static void be_first_to_go(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "500", 3) != 3)
        errno = 0; /* the kernel's own choice is as good */
    fd_close(fd);
}

/** In the forked child: becomes the command. */
_Noreturn static void become(const struct order *o, char **argv, char **envp, const char *cwd,
                             const int fds[ORDER_DESCRIPTORS], int64_t n_processes,
                             struct launch *l)
{
    sigset_t none;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    umask(022);
    if (dup2(fds[ORDER_STDOUT], 1) < 0 || dup2(fds[ORDER_STDERR], 2) < 0)
        launch_failed(l, "redirect output");
    if (close_range(3, ~0U, 0) != 0)
        launch_failed(l, "close descriptors");
    if (chdir(cwd) != 0)
        launch_failed(l, "enter the folder");
    be_first_to_go();
    limit(RLIMIT_CORE, 0, l);
    if (o->file_bytes > 0)
        limit(RLIMIT_FSIZE, o->file_bytes, l);
    if (n_processes > 0)
        limit(RLIMIT_NPROC, n_processes, l);

    l->exec_ns = mono_now().ns;
    execve(argv[0], argv, envp);
    launch_failed(l, argv[0]);
}

/** Splits the next `n` strings of the text into a NULL-terminated list; NULL if it has fewer. */
static char **take_strings(char **text, const char *end, size_t n)
{
    char **list = mem_array(n + 1, sizeof(*list));

    for (size_t i = 0; i < n; i++) {
        char *stop = *text < end ? memchr(*text, '\0', (size_t)(end - *text)) : NULL;
        if (!stop) {
            mem_free(list);
            return NULL;
        }
        list[i] = *text;
        *text = stop + 1;
    }
    return list;
}

/** 0: not started, since it would be ready without. */
static pid_t start(struct supervisor *s, const struct order *o, int fds[ORDER_DESCRIPTORS],
                   struct readiness *ready)
{
    char *text = mmap(NULL, o->text_bytes, PROT_READ, MAP_PRIVATE, fds[ORDER_TEXT], 0);
    if (text == MAP_FAILED)
        return -1;

    char *at = text;
    const char *end = text + o->text_bytes;
    char **argv = take_strings(&at, end, o->n_argv);
    char **cwd = take_strings(&at, end, 1);
    char **wanted = take_strings(&at, end, 1);
    char **envp = take_strings(&at, end, o->n_environment);
    pid_t pid = -1;

    memset(s->launch, 0, sizeof(*s->launch));
    errno = EINVAL;
    bool is_whole = argv && argv[0] && cwd && wanted && envp;
    if (is_whole && readiness_begin(ready, o, wanted[0], fds))
        pid = 0;
    if (is_whole && pid < 0) {
        int64_t n_processes = 0;
        if (o->n_processes > 0 && geteuid() != 0)
            n_processes = tree_user_threads(getuid()) + 4 * o->n_processes + SPARE_THREADS;
        pid = fork();
        if (pid == 0)
            become(o, argv, envp, cwd[0], fds, n_processes, s->launch);
    }
    int sys = errno;
    mem_free(argv);
    mem_free(cwd);
    mem_free(wanted);
    mem_free(envp);
    munmap(text, o->text_bytes);
    errno = sys;
    return pid;
}

/** True when the worker says stop to job `number`. Does not return when the worker is gone. */
static bool is_told_to_stop(struct supervisor *s, uint32_t number)
{
    struct order o;
    ssize_t n = recv(s->ctl, &o, sizeof(o), MSG_DONTWAIT);

    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        leave();
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
static void ask_to_end(const struct order *o, pid_t job)
{
    static pid_t pids[TREE_MAX];
    const size_t n = tree_list(getpid(), pids, TREE_MAX);

    if (o->n_outer == 0)
        kill(-job, SIGTERM);
    for (size_t i = o->n_outer; i < n; i++)
        if (o->n_outer > 0 || getpgid(pids[i]) != job)
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
            leave();
        if (fds[0].revents && is_told_to_stop(s, o->number))
            return REPORT_STOPPED;
        if (j->ready.at_ns && !is_asked) {
            is_asked = true;
            ask_to_end(o, j->pid);
            until = mono_now().ns + o->grace_ns;
        }
    }
}

static int64_t timeval_ns(struct timeval t)
{
    return t.tv_sec * NS_PER_S + t.tv_usec * 1000;
}

/** What the report says of a job that was started and is over. */
static void tell(const struct supervisor *s, const struct job *j, struct report *r)
{
    if (s->launch->sys) {
        r->end = REPORT_NOT_STARTED;
        r->sys = s->launch->sys;
        memcpy(r->step, s->launch->step, sizeof(r->step));
        return;
    }
    if (r->end == REPORT_NOT_STARTED) {
        r->sys = j->ready.sys;
        snprintf(r->step, sizeof(r->step), "look whether it's ready");
        return;
    }
    r->code = WIFSIGNALED(j->status) ? WTERMSIG(j->status) : WEXITSTATUS(j->status);
    r->wall_ns = j->end_ns - s->launch->exec_ns;
    r->cpu_ns = timeval_ns(j->used.ru_utime) + timeval_ns(j->used.ru_stime);
    r->rss_bytes = (int64_t)j->used.ru_maxrss * KIB;
    r->ready_ns = r->end == REPORT_READY ? j->ready.at_ns - s->launch->exec_ns : 0;
    r->is_killed = j->is_killed;
}

static struct report carry_out(struct supervisor *s, const struct order *o,
                               int fds[ORDER_DESCRIPTORS])
{
    struct report r = {.number = o->number, .end = REPORT_NOT_STARTED};
    struct job j = {.ready.from_probe = -1};

    j.pid = start(s, o, fds, &j.ready);
    if (j.pid <= 0) {
        r.end = j.pid == 0 ? REPORT_WAS_READY : REPORT_NOT_STARTED;
        r.sys = errno;
        snprintf(r.step, sizeof(r.step), "fork");
        readiness_end(&j.ready);
        return r;
    }
    for (int i = 0; i < ORDER_DESCRIPTORS; i++) { /* so that the readers see the end */
        fd_close(fds[i]);
        fds[i] = -1;
    }
    readiness_watch(&j.ready, j.pid, o->n_outer);
    r.end = watch(s, o, &j);
    if (tree_kill_own(STUCK_NS, job_reaped, &j) > 0)
        r.end = REPORT_STUCK;
    else
        tell(s, &j, &r);
    readiness_end(&j.ready);
    return r;
}

/** Reads one message with the descriptors that came along; false when there was none. */
static bool receive(struct supervisor *s, struct order *o, int fds[ORDER_DESCRIPTORS])
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * ORDER_DESCRIPTORS)];
    } extra;
    struct iovec io = {.iov_base = o, .iov_len = sizeof(*o)};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof(extra)};

    ssize_t n = recvmsg(s->ctl, &m, MSG_CMSG_CLOEXEC);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        leave();
    if (n != sizeof(*o) || o->kind != ORDER_RUN)
        return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN(sizeof(int) * ORDER_DESCRIPTORS))
        return false;
    memcpy(fds, CMSG_DATA(c), sizeof(int) * ORDER_DESCRIPTORS);
    return true;
}

static void settle(struct supervisor *s)
{
    sigset_t all;

    setsid(); /* no Ctrl-C of the worker's terminal */
    prctl(PR_SET_NAME, "bisect-job");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigemptyset(&all);
    sigaddset(&all, SIGCHLD);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGHUP);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGPIPE, SIG_IGN);

    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1); /* stderr stays, for an assertion's last words */
    if (s->ctl != 3)
        dup3(s->ctl, 3, O_CLOEXEC);
    s->ctl = 3;
    close_range(4, ~0U, 0);
    s->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    s->launch =
        mmap(NULL, sizeof(*s->launch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (null < 0 || s->signals < 0 || s->launch == MAP_FAILED)
        _exit(1);
}

void supervisor_live(int ctl)
{
    struct supervisor s = {.ctl = ctl};

    settle(&s);
    for (;;) {
        struct pollfd wait[] = {{.fd = s.ctl, .events = POLLIN},
                                {.fd = s.signals, .events = POLLIN}};
        if (poll(wait, LEN(wait), -1) < 0)
            continue;
        if (wait[1].revents && is_told_to_leave(&s))
            leave();
        if (!wait[0].revents)
            continue;

        struct order o;
        int fds[ORDER_DESCRIPTORS] = {-1, -1, -1};
        if (!receive(&s, &o, fds))
            continue;
        struct report r = carry_out(&s, &o, fds);
        for (int i = 0; i < ORDER_DESCRIPTORS; i++)
            fd_close(fds[i]);
        if (send(s.ctl, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
            leave();
    }
}
