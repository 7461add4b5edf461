/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/sandbox.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/cgroup.h"
#include "workers/sandbox/inside.h"
#include "workers/sandbox/keeper.h"
#include "workers/sandbox/launch.h"
#include "workers/sandbox/order.h"
#include "workers/sandbox/order_text.h"
#include "workers/sandbox/supervisor.h"
#include "workers/sandbox/tree.h"
#include "workers/sandbox/walls.h"
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

#define TICK_NS       (100 * NS_PER_MS)
#define TREE_WATCH_NS (100 * NS_PER_MS)
#define DISK_WATCH_NS (500 * NS_PER_MS)
#define DISK_LATE_NS  (500 * NS_PER_MS) /* a shorter job that went well is not measured again */
#define DISK_LOAD     20                /* at most one part in so many is spent on counting */
#define CHECK_NS      (30 * NS_PER_S)

/* What a sandbox with walls needs for itself: bwrap and bisect-job. */
enum { WALL_PROCESSES = 2 };

/* clang-format off */
#define PLAIN_HELP \
    "limits and a clean end, but no walls: a job may read and write what this user may, use the " \
    "network and see other processes"
#define BUBBLEWRAP_HELP \
    "own namespaces: a job sees the system, read-only, and folders of its own; no network unless " \
    "the project asks for it"
const struct sandbox_kind_row sandbox_kinds[] = {
    {SANDBOX_PLAIN,      "plain",      PLAIN_HELP,      false},
    {SANDBOX_BUBBLEWRAP, "bubblewrap", BUBBLEWRAP_HELP, true},
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
        *out = &sandbox_kinds[i];
        return ERR_OK;
    }
    return err_set(e, ERR_INVALID, "unknown kind of sandbox %d", (int)want);
}

struct job_place sandbox_place(const struct sandbox_limits *l, const struct job_place *place)
{
    const struct sandbox_kind_row *kind = NULL;

    if (sandbox_kind_of(l, &kind, NULL) || !kind->has_walls)
        return *place;
    return (struct job_place){.source = place->source ? walls_place.source : NULL,
                              .home = place->home ? walls_place.home : NULL,
                              .tmp = place->tmp ? walls_place.tmp : NULL,
                              .out = place->out ? walls_place.out : NULL,
                              .own = place->own ? walls_place.own : NULL};
}

int64_t sandbox_memory_bytes(const struct sandbox_limits *l, int64_t machine_bytes)
{
    return l->memory_bytes > 0 ? l->memory_bytes : machine_bytes / 10 * 9;
}

size_t sandbox_output_bytes(const struct sandbox_limits *l)
{
    return l->output_bytes > 0 ? (size_t)l->output_bytes : JOB_OUTPUT_BYTES;
}

/* ---- a sandbox ---- */

struct sandbox {
    struct keeper keeper;
    uint32_t n_jobs;
    struct walls *walls;
    struct cgroups *groups; /* NULL until a walled job needs one */
    int inside;             /* bisect-job, to execute; -1 until then */
    bool is_surveyed;
};

enum err_code sandbox_new(struct sandbox **out, struct err *e)
{
    struct sandbox *s = mem_alloc(sizeof(*s));

    s->keeper.ctl = s->inside = -1;
    if (keeper_start(&s->keeper, e)) {
        mem_free(s);
        return e ? e->code : ERR_IO;
    }
    s->walls = walls_new();
    *out = s;
    return ERR_OK;
}

void sandbox_free(struct sandbox *s)
{
    if (!s)
        return;
    keeper_dismiss(&s->keeper);
    fd_close(s->inside);
    walls_free(s->walls);
    cgroups_free(s->groups);
    mem_free(s);
}

void sandbox_hide(struct sandbox *s, const char *path)
{
    walls_hide(s->walls, path);
    s->is_surveyed = false;
}

/* ---- walls ---- */

#define INSTEAD                                                                                    \
    "; \"sandbox: plain\" (--sandbox plain, or sandbox: {kind: plain} in a project file) runs "    \
    "commands that you trust without walls"

/** Says what a refusal means. */
static enum err_code refuse(struct err *e, enum err_code code, const char *why)
{
    return err_set(e, code, "sandbox kind bubblewrap does not work here: %s" INSTEAD, why);
}

static enum err_code prepare_walls(struct sandbox *s, struct err *e)
{
    struct err why = {0};

    if (!s->is_surveyed && walls_survey(s->walls, &why))
        return refuse(e, why.code, why.text);
    s->is_surveyed = true;
    if (s->inside < 0 && inside_open(&s->inside, e))
        return e ? e->code : ERR_IO;
    if (!s->groups)
        s->groups = cgroups_new();
    return ERR_OK;
}

enum err_code sandbox_check(struct sandbox *s, const struct sandbox_limits *l, struct err *e)
{
    const struct sandbox_kind_row *kind = NULL;
    AUTO(strings_fini) struct strings no_environment = {0};
    struct job_place nowhere = {0};
    struct sandbox_limits no_limits = {
        .is_kind_set = l->is_kind_set, .kind = l->kind, .has_network = l->has_network};
    struct job_spec nothing = {.command = ":",
                               .place = &nowhere,
                               .environment = &no_environment,
                               .limits = &no_limits,
                               .timeout_ns = CHECK_NS};
    struct job_outcome o = {.end = JOB_STOPPED};
    struct err why = {0};

    if (sandbox_kind_of(l, &kind, e))
        return e ? e->code : ERR_INVALID;
    if (!kind->has_walls)
        return ERR_OK;
    s->is_surveyed = false;
    enum err_code code = sandbox_run(s, &nothing, NULL, NULL, &o, &why);
    if (code && e)
        *e = why;
    if (!code && (o.end != JOB_EXITED || o.code != 0))
        code = refuse(e, ERR_DENIED, o.reason);
    return code;
}

const char *sandbox_kernel_keeps(const struct sandbox *s)
{
    return s->groups ? cgroups_keep(s->groups) : "";
}

/* ---- one job ---- */

struct running {
    struct sandbox *sandbox;
    const struct job_spec *spec;
    const struct sandbox_kind_row *kind;
    struct cgroup *group; /* NULL: none */
    int64_t memory_bytes; /* its limit; 0: none */
    struct clip *out, *log;
    int from_stdout, from_stderr; /* -1 once at their end */
    bool is_stopping;
    bool was_stopped_by_tick;
    bool has_report, is_lost;
    struct report report;
    int64_t next_tick_ns, next_tree_ns, next_disk_ns;
    char limit[200]; /* which limit was reached; empty: none */
};

/** Makes the pipes that we read from; `theirs` are the ends to be written to. */
static enum err_code make_pipes(struct running *r, int theirs[2], struct err *e)
{
    int out[2], err[2];

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
    theirs[0] = out[1];
    theirs[1] = err[1];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return ERR_OK;
}

/** The kernel's own limits, a good way behind those that are watched for processes. */
static void make_group(struct running *r)
{
    const struct sandbox_limits *l = r->spec->limits;
    struct cgroup_limits limits = {.memory_bytes = r->memory_bytes};

    if (l->n_processes > 0)
        limits.n_threads = 4 * l->n_processes + LAUNCH_SPARE_THREADS + WALL_PROCESSES;
    if (r->kind->has_walls)
        r->group = cgroup_new(r->sandbox->groups, &limits);
}

/** A folder that is not there would be a failure of the walls. */
static enum err_code find_folders(const struct job_place *p, struct err *e)
{
    const char *const folders[] = {p->source, p->home, p->tmp, p->out, p->own};

    for (size_t i = 0; i < LEN(folders); i++)
        if (folders[i] && !file_exists(folders[i]))
            return err_sys(e, ENOENT, "start a job in %s: enter the folder", folders[i]);
    return ERR_OK;
}

static enum err_code job_start(struct running *r, struct err *e)
{
    struct sandbox *s = r->sandbox;
    AUTO(strings_fini) struct strings wall = {0};
    int pipes[2] = {-1, -1}, groups[CGROUP_FILES];

    if (find_folders(r->spec->place, e))
        return e ? e->code : ERR_NOT_FOUND;
    if (!s->keeper.supervisor && keeper_start(&s->keeper, e))
        return e ? e->code : ERR_IO;
    if (make_pipes(r, pipes, e))
        return e ? e->code : ERR_IO;
    if (r->kind->has_walls)
        walls_argv(s->walls, r->spec->place, r->spec->limits, &wall);
    make_group(r);
    cgroup_files(r->group, groups);

    struct order o = {.kind = ORDER_RUN,
                      .number = ++s->n_jobs,
                      .timeout_ns = r->spec->timeout_ns,
                      .file_bytes = r->spec->limits->disk_bytes,
                      .n_processes = r->spec->limits->n_processes,
                      .has_cpus = r->spec->cpus != NULL,
                      .has_fixed_layout = r->spec->has_fixed_layout,
                      .ready = r->spec->ready ? r->spec->ready->kind : READY_EXIT,
                      .ready_port = r->spec->ready ? r->spec->ready->port : 0,
                      .grace_ns = r->spec->grace_ns};
    if (o.has_cpus)
        o.cpus = *r->spec->cpus;
    int fds[ORDER_DESCRIPTORS] = {[ORDER_TEXT] = order_text(r->spec, &wall, &o),
                                  [ORDER_STDOUT] = pipes[0],
                                  [ORDER_STDERR] = pipes[1],
                                  [ORDER_INSIDE] = r->kind->has_walls ? s->inside : -1,
                                  [ORDER_GROUP] = groups[0],
                                  [ORDER_GROUP_TOO] = groups[1]};
    bool is_sent = fds[ORDER_TEXT] >= 0 && order_send(s->keeper.ctl, &o, fds);
    int sys = errno;
    for (int i = ORDER_TEXT; i <= ORDER_STDERR; i++)
        fd_close(fds[i]);
    if (!is_sent) {
        keeper_bury(&s->keeper);
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
    if (send(r->sandbox->keeper.ctl, &o, sizeof(o), MSG_NOSIGNAL) != sizeof(o))
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

static void say_memory(struct running *r)
{
    bool is_stated = r->spec->limits->memory_bytes > 0;

    snprintf(r->limit, sizeof(r->limit), "used more memory than its limit of %lld MiB%s",
             (long long)(r->memory_bytes / MIB),
             is_stated ? "" : ", nine tenths of this machine's; sandbox.memory states another");
}

static void say_processes(struct running *r)
{
    snprintf(r->limit, sizeof(r->limit), "had more processes than its limit of %lld",
             (long long)r->spec->limits->n_processes);
}

/** What the kernel has stopped it from. */
static void check_group(struct running *r)
{
    struct cgroup_events events = cgroup_look(r->group);

    if (events.has_lacked_memory)
        say_memory(r);
    else if (events.has_lacked_threads)
        say_processes(r);
}

static void check_tree(struct running *r)
{
    const struct sandbox_limits *l = r->spec->limits;
    size_t n_own = r->kind->has_walls ? WALL_PROCESSES : 0;

    check_group(r);
    if (r->limit[0] || (r->memory_bytes <= 0 && l->n_processes <= 0))
        return;
    struct tree_usage u = tree_measure(r->sandbox->keeper.supervisor);
    if (r->memory_bytes > 0 && u.memory_bytes > r->memory_bytes)
        say_memory(r);
    else if (l->n_processes > 0 && u.n_processes > (size_t)l->n_processes + n_own)
        say_processes(r);
}

static void check_disk(struct running *r)
{
    const struct job_spec *spec = r->spec;
    int64_t most = spec->limits->disk_bytes;

    if (most <= 0)
        return;
    int64_t used = job_place_usage(spec->place, spec->disk_before_bytes + most);
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
    ssize_t n = recv(r->sandbox->keeper.ctl, &r->report, sizeof(r->report), MSG_DONTWAIT);

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
        struct pollfd fds[] = {{.fd = r->sandbox->keeper.ctl, .events = POLLIN},
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

/** The walls did not stand. Where memory had run out, that is the job's own doing. */
static enum err_code report_no_walls(struct running *r, struct err *e)
{
    AUTO(buf_fini) struct buf why = {0};

    check_group(r);
    if (r->limit[0])
        return ERR_OK;
    walls_explain(r->report.words, &why);
    return refuse(e, ERR_DENIED, buf_str(&why));
}

static enum err_code report_fault(struct running *r, struct err *e)
{
    if (r->is_lost) {
        keeper_bury(&r->sandbox->keeper);
        return err_set(e, ERR_IO, "the job's supervisor was killed");
    }
    if (r->report.end == REPORT_STUCK)
        return err_set(e, ERR_IO, "a process of the job cannot be killed");
    if (r->report.end == REPORT_NO_WALLS)
        return report_no_walls(r, e);
    if (r->report.end == REPORT_NOT_STARTED)
        return err_sys(e, r->report.sys, "start a job in %s: %.*s",
                       r->spec->place->source ? r->spec->place->source : "/",
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

void job_note_left(const struct job_outcome *o, struct clip *log)
{
    if (o->n_left)
        clip_printf(log, "[ended %u process%s that the command left behind]\n", (unsigned)o->n_left,
                    o->n_left == 1 ? "" : "es");
}

/** Runs it and takes what it prints; what went wrong on our side is the error. */
static enum err_code job_see_through(struct running *r, struct err *e)
{
    enum err_code code = r->kind->has_walls ? prepare_walls(r->sandbox, e) : ERR_OK;

    if (code)
        return code;
    code = job_start(r, e);
    if (!code) {
        job_follow(r);
        code = report_fault(r, e);
    }
    job_drain(r);
    return code;
}

/** 0: not told. */
static int64_t machine_memory(void)
{
    long n_pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return n_pages > 0 && page > 0 ? (int64_t)n_pages * page : 0;
}

enum err_code sandbox_run(struct sandbox *s, const struct job_spec *spec, struct clip *out,
                          struct clip *log, struct job_outcome *outcome, struct err *e)
{
    struct running r = {
        .sandbox = s, .spec = spec, .out = out, .log = log, .from_stdout = -1, .from_stderr = -1};
    const struct report *p = &r.report;

    r.memory_bytes = sandbox_memory_bytes(spec->limits, machine_memory());
    enum err_code code = sandbox_kind_of(spec->limits, &r.kind, e);
    if (!code)
        code = job_see_through(&r, e);
    if (!code && !r.limit[0])
        check_group(&r);
    cgroup_free(r.group);
    if (code)
        return code;

    bool went_well = p->end == REPORT_EXITED && p->code == 0;
    if (!r.limit[0] && !r.was_stopped_by_tick && (!went_well || p->wall_ns > DISK_LATE_NS))
        check_disk(&r);
    *outcome = (struct job_outcome){.end = end_of(&r),
                                    .code = p->code,
                                    .wall_ns = p->wall_ns,
                                    .ready_ns = p->ready_ns,
                                    .n_left = p->n_left,
                                    .cpu_ns = p->cpu_ns,
                                    .rss_bytes = p->rss_bytes,
                                    .usage = p->usage};
    describe(&r, outcome);
    return ERR_OK;
}
