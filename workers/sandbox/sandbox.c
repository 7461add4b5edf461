/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/sandbox.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/supervisor.h"
#include "workers/sandbox/tree.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS            (100 * NS_PER_MS)
#define TREE_WATCH_NS      (100 * NS_PER_MS)
#define DISK_WATCH_NS      (500 * NS_PER_MS)
#define DISK_LATE_NS       (500 * NS_PER_MS) /* a shorter job that went well is not measured again */
#define DISK_LOAD          20                /* at most one part in so many is spent on counting */
#define SUPERVISOR_GONE_NS (5 * NS_PER_S)

static void plain_argv(const char *command, struct strings *argv)
{
    strings_add(argv, "/bin/sh");
    strings_add(argv, "-ec");
    strings_add(argv, command);
}

#define PLAIN_HELP                                                                                 \
    "limits and a clean end, but no walls: a job may read and write what this user may, use the "  \
    "network and see other processes"

/* clang-format off */
const struct sandbox_kind_row sandbox_kinds[] = {
    {SANDBOX_PLAIN,      "plain",      PLAIN_HELP, plain_argv},
    {SANDBOX_BUBBLEWRAP, "bubblewrap", "own namespaces, read-only system, no network", NULL},
};
/* clang-format on */
const size_t n_sandbox_kinds = LEN(sandbox_kinds);

enum err_code sandbox_kind_of(const struct sandbox_limits *l, const struct sandbox_kind_row **out,
                              struct err *e)
{
    enum sandbox_kind want = l->is_kind_set ? l->kind : SANDBOX_PLAIN;

    for (size_t i = 0; i < n_sandbox_kinds; i++) {
        if (sandbox_kinds[i].kind != want)
            continue;
        if (!sandbox_kinds[i].argv) {
            err_set(e, ERR_INVALID,
                    "the project asks for sandbox kind \"%s\", which this worker does not have",
                    sandbox_kinds[i].name);
            return err_hint(
                e, "use sandbox kind \"plain\" (--sandbox plain) if you trust the commands");
        }
        *out = &sandbox_kinds[i];
        return ERR_OK;
    }
    return err_set(e, ERR_INVALID, "unknown kind of sandbox %d", (int)want);
}

size_t sandbox_output_bytes(const struct sandbox_limits *l)
{
    return l->output_bytes > 0 ? (size_t)l->output_bytes : JOB_OUTPUT_BYTES;
}

int64_t sandbox_disk_usage(const char *const *folders, int64_t enough_bytes)
{
    int64_t total = 0;

    for (; *folders && total <= enough_bytes; folders++) {
        char *const paths[] = {(char *)*folders, NULL};
        FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
        FTSENT *at;
        while (walk && total <= enough_bytes && (at = fts_read(walk)) != NULL) {
            bool is_counted = at->fts_info == FTS_F || at->fts_info == FTS_D ||
                              at->fts_info == FTS_SL || at->fts_info == FTS_DEFAULT;
            if (is_counted)
                total += at->fts_statp->st_blocks * INT64_C(512);
        }
        if (walk)
            fts_close(walk);
    }
    return total;
}

/* ---- the supervisor, seen from outside ---- */

struct sandbox {
    pid_t supervisor; /* 0: none lives */
    int ctl;
    uint32_t n_jobs;
};

static enum err_code supervisor_start(struct sandbox *s, struct err *e)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_sys(e, errno, "start the job supervisor");
    pid_t pid = fork();
    if (pid == 0)
        supervisor_live(pair[1]);
    int sys = errno;
    fd_close(pair[1]);
    if (pid < 0) {
        fd_close(pair[0]);
        return err_sys(e, sys, "start the job supervisor");
    }
    s->supervisor = pid;
    s->ctl = pair[0];
    return ERR_OK;
}

static void ignore_reaped(void *context, pid_t pid, int status, const struct rusage *used)
{
    (void)context;
    (void)pid;
    (void)status;
    (void)used;
}

/** After the supervisor's death: what it had started has come to us, if we are a subreaper. */
static void supervisor_bury(struct sandbox *s)
{
    int is_subreaper = 0;

    fd_close(s->ctl);
    kill(s->supervisor, SIGKILL);
    waitpid(s->supervisor, NULL, 0);
    s->supervisor = 0;
    s->ctl = -1;
    if (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper)
        tree_kill_own(SUPERVISOR_GONE_NS, ignore_reaped, NULL);
}

enum err_code sandbox_new(struct sandbox **out, struct err *e)
{
    struct sandbox *s = mem_alloc(sizeof(*s));

    s->ctl = -1;
    if (supervisor_start(s, e)) {
        mem_free(s);
        return e ? e->code : ERR_IO;
    }
    *out = s;
    return ERR_OK;
}

void sandbox_free(struct sandbox *s)
{
    if (!s)
        return;
    if (s->supervisor) {
        fd_close(s->ctl); /* it kills its job, if any, and leaves */
        waitpid(s->supervisor, NULL, 0);
    }
    mem_free(s);
}

/* ---- one job ---- */

struct running {
    struct sandbox *sandbox;
    const struct job_spec *spec;
    struct clip *out, *log;
    int from_stdout, from_stderr; /* -1 once at their end */
    bool is_stopping;
    bool was_stopped_by_tick;
    bool has_report, is_lost;
    struct report report;
    int64_t next_tick_ns, next_tree_ns, next_disk_ns;
    char limit[200]; /* which limit was reached; empty: none */
};

static void add_strings(struct buf *text, const struct strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        buf_add(text, s->items[i], strlen(s->items[i]) + 1);
}

static const char *variable(const struct strings *environment, const char *key, size_t n_key)
{
    for (size_t i = 0; i < environment->n; i++)
        if (strncmp(environment->items[i], key, n_key) == 0 && environment->items[i][n_key] == '=')
            return environment->items[i] + n_key + 1;
    return "";
}

static void add_path(struct buf *text, const struct job_spec *spec, const char *path)
{
    if (*path == '$') {
        const size_t n_key = strcspn(path + 1, "/");
        buf_adds(text, variable(spec->environment, path + 1, n_key));
        buf_adds(text, path + 1 + n_key);
        return;
    }
    if (*path != '/')
        buf_printf(text, "%s/", spec->folder);
    buf_adds(text, path);
}

/** What readiness looks for; of a file, where it is. */
static void add_wanted(struct buf *text, const struct job_spec *spec)
{
    const struct ready *r = spec->ready;

    if (r && r->kind == READY_FILE)
        add_path(text, spec, r->text);
    else if (r && r->text)
        buf_adds(text, r->text);
    buf_add(text, "", 1);
}

/** The order's text in a descriptor; its length is in o->text_bytes. */
static int order_text(const struct job_spec *spec, const struct sandbox_kind_row *kind,
                      struct order *o)
{
    AUTO(buf_fini) struct buf text = {0};
    struct strings argv = {0};

    kind->argv(spec->command, &argv);
    o->n_argv = (uint32_t)argv.n;
    o->n_environment = (uint32_t)spec->environment->n;
    add_strings(&text, &argv);
    buf_add(&text, spec->folder, strlen(spec->folder) + 1);
    add_wanted(&text, spec);
    add_strings(&text, spec->environment);
    strings_fini(&argv);
    o->text_bytes = (uint32_t)text.len;

    int fd = memfd_create("job", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        if (n < 0) {
            fd_close(fd);
            return -1;
        }
        at += (size_t)n;
    }
    return fd;
}

static bool order_send(int ctl, const struct order *o, const int fds[ORDER_DESCRIPTORS])
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * ORDER_DESCRIPTORS)];
    } extra = {0};
    struct iovec io = {.iov_base = (void *)o, .iov_len = sizeof(*o)};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof(extra)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * ORDER_DESCRIPTORS);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * ORDER_DESCRIPTORS);
    return sendmsg(ctl, &m, MSG_NOSIGNAL) == sizeof(*o);
}

static enum err_code job_start(struct running *r, const struct sandbox_kind_row *kind,
                               struct err *e)
{
    struct sandbox *s = r->sandbox;
    int out[2], err[2];

    if (!s->supervisor && supervisor_start(s, e))
        return e ? e->code : ERR_IO;
    if (pipe2(out, O_CLOEXEC) != 0)
        return err_sys(e, errno, "start a job");
    if (pipe2(err, O_CLOEXEC) != 0) {
        int sys = errno;
        fd_close(out[0]);
        fd_close(out[1]);
        return err_sys(e, sys, "start a job");
    }
    r->from_stdout = out[0];
    r->from_stderr = err[0];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);

    struct order o = {.kind = ORDER_RUN,
                      .number = ++s->n_jobs,
                      .timeout_ns = r->spec->timeout_ns,
                      .file_bytes = r->spec->limits->disk_bytes,
                      .n_processes = r->spec->limits->n_processes,
                      .ready = r->spec->ready ? r->spec->ready->kind : READY_EXIT,
                      .ready_port = r->spec->ready ? r->spec->ready->port : 0,
                      .grace_ns = r->spec->grace_ns};
    int fds[ORDER_DESCRIPTORS] = {[ORDER_TEXT] = order_text(r->spec, kind, &o),
                                  [ORDER_STDOUT] = out[1],
                                  [ORDER_STDERR] = err[1]};
    bool is_sent = fds[ORDER_TEXT] >= 0 && order_send(s->ctl, &o, fds);
    int sys = errno;
    for (int i = 0; i < ORDER_DESCRIPTORS; i++)
        fd_close(fds[i]);
    if (!is_sent) {
        supervisor_bury(s);
        return err_sys(e, sys, "start a job");
    }
    return ERR_OK;
}

static void job_stop(struct running *r)
{
    struct order o = {.kind = ORDER_STOP, .number = r->sandbox->n_jobs};

    if (r->is_stopping)
        return;
    r->is_stopping = true;
    if (send(r->sandbox->ctl, &o, sizeof(o), MSG_NOSIGNAL) != sizeof(o))
        r->is_lost = true;
}

/** Reads what is there, but returns now and then so that a job that prints without end is watched.
 */
static void job_read(struct running *r, int *fd, struct clip *also)
{
    static _Thread_local char piece[64 * KIB];

    for (int i = 0; i < 16; i++) {
        ssize_t n = read(*fd, piece, sizeof(piece));
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            fd_close(*fd);
            *fd = -1;
            return;
        }
        if (also)
            clip_add(also, piece, (size_t)n);
        if (r->log)
            clip_add(r->log, piece, (size_t)n);
    }
}

static void check_tree(struct running *r)
{
    const struct sandbox_limits *l = r->spec->limits;

    if (l->memory_bytes <= 0 && l->n_processes <= 0)
        return;
    struct tree_usage u = tree_measure(r->sandbox->supervisor);
    if (l->memory_bytes > 0 && u.memory_bytes > l->memory_bytes)
        snprintf(r->limit, sizeof(r->limit), "used more memory than its limit of %lld MiB",
                 (long long)(l->memory_bytes / MIB));
    else if (l->n_processes > 0 && u.n_processes > (size_t)l->n_processes)
        snprintf(r->limit, sizeof(r->limit), "had more processes than its limit of %lld",
                 (long long)l->n_processes);
}

static void check_disk(struct running *r)
{
    const struct job_spec *spec = r->spec;
    int64_t most = spec->limits->disk_bytes;

    if (most <= 0 || !spec->watched)
        return;
    int64_t used = sandbox_disk_usage(spec->watched, spec->disk_before_bytes + most);
    if (used - spec->disk_before_bytes >= most)
        snprintf(r->limit, sizeof(r->limit), "wrote more to disk than its limit of %lld KiB",
                 (long long)(most / KIB));
}

/** Everything that is due now and then while a job runs. */
static void job_watch(struct running *r)
{
    int64_t now = mono_now().ns;

    if (now >= r->next_tree_ns) {
        check_tree(r);
        r->next_tree_ns = now + TREE_WATCH_NS;
    }
    if (now >= r->next_disk_ns) {
        check_disk(r);
        int64_t took = mono_now().ns - now;
        r->next_disk_ns = now + DISK_WATCH_NS + DISK_LOAD * took;
    }
    if (now >= r->next_tick_ns) {
        r->next_tick_ns = now + TICK_NS;
        if (r->spec->tick && r->spec->tick(r->spec->context) == JOB_STOP) {
            r->was_stopped_by_tick = true;
            job_stop(r);
        }
    }
    if (r->limit[0])
        job_stop(r);
}

static void job_receive(struct running *r)
{
    ssize_t n = recv(r->sandbox->ctl, &r->report, sizeof(r->report), MSG_DONTWAIT);

    if (n == sizeof(r->report) && r->report.number == r->sandbox->n_jobs)
        r->has_report = true;
    else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        r->is_lost = true;
}

static void job_follow(struct running *r)
{
    int64_t now = mono_now().ns;

    r->next_tick_ns = now;
    r->next_tree_ns = now + TREE_WATCH_NS;
    r->next_disk_ns = now + DISK_WATCH_NS;
    while (!r->has_report && !r->is_lost) {
        struct pollfd fds[] = {{.fd = r->sandbox->ctl, .events = POLLIN},
                               {.fd = r->from_stdout, .events = POLLIN},
                               {.fd = r->from_stderr, .events = POLLIN}};
        if (poll(fds, LEN(fds), (int)(TICK_NS / NS_PER_MS)) < 0 && errno != EINTR)
            r->is_lost = true;
        if (fds[1].revents)
            job_read(r, &r->from_stdout, r->out);
        if (fds[2].revents)
            job_read(r, &r->from_stderr, NULL);
        if (fds[0].revents)
            job_receive(r);
        job_watch(r);
    }
}

/** What the pipes still hold once nobody writes to them. */
static void job_drain(struct running *r)
{
    for (int i = 0; i < 64 && r->from_stdout >= 0; i++)
        job_read(r, &r->from_stdout, r->out);
    for (int i = 0; i < 64 && r->from_stderr >= 0; i++)
        job_read(r, &r->from_stderr, NULL);
    fd_close(r->from_stdout);
    fd_close(r->from_stderr);
}

static enum err_code report_fault(struct running *r, struct err *e)
{
    if (r->is_lost) {
        supervisor_bury(r->sandbox);
        return err_set(e, ERR_IO, "the job's supervisor was killed");
    }
    if (r->report.end == REPORT_STUCK)
        return err_set(e, ERR_IO, "a process of the job cannot be killed");
    if (r->report.end == REPORT_NOT_STARTED)
        return err_sys(e, r->report.sys, "start a job in %s: %.*s", r->spec->folder,
                       (int)sizeof(r->report.step), r->report.step);
    return ERR_OK;
}

static enum job_end end_of(const struct running *r)
{
    if (r->limit[0])
        return JOB_LIMIT;
    switch (r->report.end) {
    case REPORT_TIMED_OUT:
        return JOB_TIMED_OUT;
    case REPORT_STOPPED:
        return JOB_STOPPED;
    case REPORT_READY:
        return JOB_READY;
    case REPORT_WAS_READY:
        return JOB_WAS_READY;
    case REPORT_SIGNALED:
        return JOB_SIGNALED;
    default:
        return JOB_EXITED;
    }
}

static bool waits_for(const struct job_spec *spec)
{
    return spec->ready && spec->ready->kind != READY_EXIT;
}

/** What a shell means by a status of its own. */
static const char *shells_words(int status)
{
    return status == 126 ? " (not executable?)" : status == 127 ? " (command not found?)" : "";
}

static void describe(const struct running *r, struct job_outcome *o)
{
    char limit[32];

    switch (o->end) {
    case JOB_EXITED:
        if (o->code != 0)
            snprintf(o->reason, sizeof(o->reason), "exited %d%s", o->code, shells_words(o->code));
        break;
    case JOB_SIGNALED:
        snprintf(o->reason, sizeof(o->reason), "killed by signal %d (%s)", o->code,
                 strsignal(o->code));
        break;
    case JOB_TIMED_OUT:
        duration_format(r->spec->timeout_ns, limit);
        if (waits_for(r->spec))
            snprintf(o->reason, sizeof(o->reason), "not ready (%.120s) at its time limit of %s",
                     r->spec->ready->words, limit);
        else
            snprintf(o->reason, sizeof(o->reason), "still running at its time limit of %s", limit);
        break;
    case JOB_LIMIT:
        snprintf(o->reason, sizeof(o->reason), "%s", r->limit);
        break;
    case JOB_STOPPED:
        snprintf(o->reason, sizeof(o->reason), "stopped");
        break;
    case JOB_READY:
        duration_format(r->spec->grace_ns, limit);
        if (r->report.is_killed)
            snprintf(o->reason, sizeof(o->reason), "killed %s after it was asked to end", limit);
        break;
    case JOB_WAS_READY:
        snprintf(o->reason, sizeof(o->reason), "%.180s before the command was started",
                 r->spec->ready->words);
        break;
    }
}

enum err_code sandbox_run(struct sandbox *s, const struct job_spec *spec, struct clip *out,
                          struct clip *log, struct job_outcome *outcome, struct err *e)
{
    const struct sandbox_kind_row *kind = NULL;
    struct running r = {
        .sandbox = s, .spec = spec, .out = out, .log = log, .from_stdout = -1, .from_stderr = -1};
    struct err fault = {0};

    if (sandbox_kind_of(spec->limits, &kind, e))
        return e ? e->code : ERR_INVALID;
    if (job_start(&r, kind, &fault) == ERR_OK) {
        job_follow(&r);
        report_fault(&r, &fault);
    }
    job_drain(&r);
    if (fault.code) {
        if (e)
            *e = fault;
        return fault.code;
    }

    struct report *p = &r.report;
    bool went_well = p->end == REPORT_EXITED && p->code == 0;
    if (!r.limit[0] && !r.was_stopped_by_tick && (!went_well || p->wall_ns > DISK_LATE_NS))
        check_disk(&r);
    *outcome = (struct job_outcome){.end = end_of(&r),
                                    .code = p->code,
                                    .wall_ns = p->wall_ns,
                                    .ready_ns = p->ready_ns,
                                    .cpu_ns = p->cpu_ns,
                                    .rss_bytes = p->rss_bytes};
    describe(&r, outcome);
    return ERR_OK;
}
