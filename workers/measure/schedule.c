/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/schedule.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "workers/measure/cold.h"
#include "workers/measure/kind.h"
#include "workers/measure/ready_file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOT_STAGED = UINT32_MAX };

/** Where a revision stands within the task. */
struct stand {
    bool is_warm;
    int64_t disk_before_bytes;
    char *given_up; /* why no more runs are taken of it; NULL: they are */
};

struct taking {
    const struct schedule *s;
    const struct kind_row *kind;
    char *own;            /* folder of the kind, beside `out`; NULL: it has none */
    struct ready ready;   /* kind ts: when a run is at its end */
    struct stand *stands; /* of each build */
    uint32_t staged;      /* whose folder is at place.source */
    char *aborted;        /* why the whole task has ended; NULL: it has not */
    struct run_result *results;
    size_t n_results, cap;
};

void run_result_fini(struct run_result *r)
{
    mem_free(r->reason);
    mem_free(r->values);
}

static void taking_fini(struct taking *t)
{
    for (uint32_t i = 0; i < t->s->spec->n_builds; i++)
        mem_free(t->stands[i].given_up);
    mem_free(t->stands);
    ready_fini(&t->ready);
    mem_free(t->aborted);
    mem_free(t->own);
    for (size_t i = 0; i < t->n_results; i++)
        run_result_fini(&t->results[i]);
    mem_free(t->results);
}
DEFINE_AUTO_FINI(struct taking, taking_fini)

/** Adds a result; the reason is copied. */
static struct run_result *add_result(struct taking *t, uint32_t run, uint32_t attempt,
                                     enum run_status status, const char *reason)
{
    if (t->n_results == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->results = mem_resize(t->results, t->cap, sizeof(*t->results));
    }
    struct run_result *r = &t->results[t->n_results++];
    *r = (struct run_result){.run = run,
                             .attempt = attempt,
                             .status = status,
                             .reason = reason && *reason ? mem_dup(reason) : NULL,
                             .value = nan(""),
                             .at = utc_now()};
    return r;
}

/* ---- one folder at a time at the constant path ---- */

static enum err_code unstage(struct taking *t, struct err *e)
{
    const struct schedule *s = t->s;

    if (t->staged == NOT_STAGED)
        return ERR_OK;
    if (rename(s->place.source, s->builds[t->staged].folder) != 0)
        return err_sys(e, errno, "move %s away", s->place.source);
    t->staged = NOT_STAGED;
    return ERR_OK;
}

static enum err_code stage(struct taking *t, uint32_t build, struct err *e)
{
    const struct schedule *s = t->s;

    if (t->staged == build)
        return ERR_OK;
    if (unstage(t, e))
        return e ? e->code : ERR_IO;
    if (rename(s->builds[build].folder, s->place.source) != 0)
        return err_sys(e, errno, "move %s into place", s->builds[build].folder);
    t->staged = build;
    enum err_code code = job_folder_empty(s->place.home, e);
    const struct job_place artifact = {.source = s->place.source};
    if (!code && s->project->sandbox.disk_bytes > 0 && !t->stands[build].is_warm)
        t->stands[build].disk_before_bytes = job_place_usage(&artifact, INT64_MAX);
    return code;
}

/* ---- one execution of the command ---- */

struct execution {
    struct job_outcome outcome;
    struct clip out; /* stdout, or the metric's file */
    struct clip log; /* stdout and stderr */
    bool has_folder; /* the command has left the folder that it ran in */
    char *refused;   /* nothing was run: why, for people; NULL: it was */
};

static void execution_fini(struct execution *x)
{
    clip_fini(&x->out);
    clip_fini(&x->log);
    mem_free(x->refused);
}
DEFINE_AUTO_FINI(struct execution, execution_fini)

/** What the command wrote to the metric's file; nothing if it wrote none. */
static void read_metric_file(const struct schedule *s, struct clip *out)
{
    /* No link of the job's leads out of its folder. */
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    AUTO(fd_close) int at = open(s->out, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    AUTO(fd_close)
    int fd = at < 0 ? -1 : (int)syscall(SYS_openat2, at, s->metric->file, &how, sizeof(how));
    static _Thread_local char piece[64 * KIB];
    ssize_t n;

    while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
        clip_add(out, piece, (size_t)n);
}

/** The environment names the folders as the job will see them. */
static void fill_environment(const struct schedule *s, const struct task_run *run,
                             const struct job_place *seen, struct strings *env)
{
    char number[24];

    job_env_fill(env, &s->project->environment, seen, &s->spec->builds[run->build].revision,
                 JOB_MEASURE);
    job_env_cpus(env, s->cpus);
    bool is_exact = kind_is_exact(s->metric->kind);
    snprintf(number, sizeof(number), "%" PRIu32, is_exact ? 1 : run->number);
    job_env_set(env, "BISECTD_RUN", number);
    snprintf(number, sizeof(number), "%" PRIu64, is_exact ? 1 : run->seed);
    job_env_set(env, "BISECTD_SEED", number);
    job_env_set(env, "BISECTD_OUT", seen->out);
}

static bool has_fixed_layout(const struct metric *m)
{
    return m->layout == LAYOUT_FIXED || (m->layout == LAYOUT_DEFAULT && kind_is_exact(m->kind));
}

static enum err_code make_folders(const struct taking *t, struct err *e)
{
    const char *const folders[] = {t->s->out, t->s->place.tmp, t->own};
    enum err_code code = ERR_OK;

    for (size_t i = 0; !code && i < LEN(folders) && folders[i]; i++)
        code = job_folder_empty(folders[i], e);
    return code;
}

/** The command as the kind wraps it, if it does; else why it cannot. Caller frees with mem_free. */
static char *wrap_command(const struct taking *t, const struct job_place *seen, struct buf *out)
{
    struct err e = {0};

    if (!t->own || t->kind->command(t->s->metric, seen->own, out, &e) == ERR_OK)
        return NULL;
    return mem_printf("cannot measure: %s", e.text);
}

/** Without page cache of what the run will read of its own: artifact and $HOME. */
static enum err_code make_cold(const struct schedule *s, struct execution *x, struct err *e)
{
    struct cold c = {0};

    enum err_code code = cold_drop(s->place.source, &c, e);
    if (!code)
        code = cold_drop(s->place.home, &c, e);
    if (code)
        return code;
    clip_printf(s->log,
                "cold: page cache of %" PRIu64 " files of artifact and home dropped, %.1f of %.1f "
                "MiB are still in it; the system's own files are as warm as before\n",
                c.n_files, (double)c.kept_bytes / MIB, (double)c.bytes / MIB);
    if (c.kept_bytes > c.bytes / 2)
        x->refused =
            mem_printf("cannot measure: cold: %.1f of %.1f MiB cannot be dropped from memory "
                       "(is the worker's folder on a file system in memory?)",
                       (double)c.kept_bytes / MIB, (double)c.bytes / MIB);
    return ERR_OK;
}

/** Folders as they have to be before a run. */
static enum err_code prepare(const struct taking *t, struct execution *x, struct err *e)
{
    const struct schedule *s = t->s;

    enum err_code code = make_folders(t, e);
    if (!code)
        code = ready_file_forget(&t->ready, &s->place, e);
    if (!code && s->metric->is_cold)
        code = make_cold(s, x, e);
    return code;
}

/** Pre: the run's build is staged. */
static enum err_code execute(const struct taking *t, const struct task_run *run,
                             struct execution *x, struct err *e)
{
    const struct schedule *s = t->s;
    const struct job_place place = {.source = s->place.source,
                                    .home = s->place.home,
                                    .tmp = s->place.tmp,
                                    .out = s->out,
                                    .own = t->own};
    const struct job_place seen = sandbox_place(&s->project->sandbox, &place);
    AUTO(buf_fini) struct buf wrapped = {0};
    struct strings env = {0};
    size_t keep = sandbox_output_bytes(&s->project->sandbox);

    clip_init(&x->out, keep);
    clip_init(&x->log, keep);
    x->has_folder = true;
    enum err_code code = prepare(t, x, e);
    if (code || x->refused)
        return code;
    x->refused = wrap_command(t, &seen, &wrapped);
    if (x->refused)
        return ERR_OK;
    fill_environment(s, run, &seen, &env);
    struct job_spec spec = {.command = t->own ? buf_str(&wrapped) : s->metric->command,
                            .place = &place,
                            .environment = &env,
                            .limits = &s->project->sandbox,
                            .timeout_ns = s->metric->timeout_ns,
                            .cpus = s->cpus,
                            .has_fixed_layout = has_fixed_layout(s->metric),
                            .ready = &t->ready,
                            .grace_ns = READY_GRACE_NS,
                            .disk_before_bytes = t->stands[run->build].disk_before_bytes,
                            .tick = s->tick,
                            .context = s->context};
    code =
        sandbox_run(s->sandbox, &spec, s->metric->file ? NULL : &x->out, &x->log, &x->outcome, e);
    clip_pour(&x->log, s->log);
    strings_fini(&env);
    if (code)
        return code;
    job_note_left(&x->outcome, s->log);
    if (x->outcome.end == JOB_STOPPED)
        return err_set(e, ERR_TIMEOUT, "stopped");
    x->has_folder = job_folder_survives(s->place.source);
    if (s->metric->file)
        read_metric_file(s, &x->out);
    return ERR_OK;
}

/* ---- warm-ups, attempts, runs ---- */

static const char folder_lost[] = "cannot measure: the command removed the folder that it ran in";

/** After a command that has left no folder: whatever it put in its place goes. */
static enum err_code forget_folder(struct taking *t, struct err *e)
{
    t->staged = NOT_STAGED;
    return file_remove_tree(t->s->place.source, e);
}

static enum err_code warm_up(struct taking *t, const struct task_run *run, struct err *e)
{
    struct stand *stand = &t->stands[run->build];

    for (uint32_t i = 0; i < t->s->metric->n_warmup && !stand->is_warm; i++) {
        AUTO(execution_fini) struct execution x = {0};
        struct task_run throwaway = *run;
        throwaway.seed = mix64(run->seed + i + 1);
        clip_printf(t->s->log, "-- warm-up %" PRIu32 " of %" PRIu32 "\n", i + 1,
                    t->s->metric->n_warmup);
        enum err_code code = execute(t, &throwaway, &x, e);
        if (code)
            return code;
        if (!x.has_folder) {
            add_result(t, (uint32_t)(run - t->s->spec->runs), 0, RUN_CANNOT, folder_lost);
            stand->given_up = mem_dup(folder_lost);
            clip_printf(t->s->log, "-> %s\n", folder_lost);
            return forget_folder(t, e);
        }
        if (x.outcome.end == JOB_TIMED_OUT || x.refused)
            break; /* the run itself will show it, and say so */
    }
    stand->is_warm = true;
    return ERR_OK;
}

/** What a run's number is worth when it has removed what it measured is not for us to say; and
 * there is nothing left to try again with. */
static void set_folder_lost(struct reading *r)
{
    reading_fini(r);
    r->status = RUN_CANNOT;
    r->is_final = true;
    r->value = nan("");
    snprintf(r->reason, sizeof(r->reason), "%s", folder_lost);
}

/** Adds the result of one attempt from what was read. */
static const struct run_result *judge(struct taking *t, uint32_t run, uint32_t attempt,
                                      struct utc at, const struct execution *x, bool *is_final)
{
    const struct metric *m = t->s->metric;
    struct observation o = {.metric = m,
                            .outcome = &x->outcome,
                            .out = &x->out,
                            .log = &x->log,
                            .folder = t->own,
                            .notes = t->s->log};
    AUTO(reading_fini) struct reading reading = {.value = nan("")};
    bool is_bad =
        x->outcome.end == JOB_TIMED_OUT && m->on_timeout == TIMEOUT_BAD && m->kind == METRIC_EXIT;

    if (x->refused) {
        reading.status = RUN_CANNOT;
        reading.is_final = true;
        snprintf(reading.reason, sizeof(reading.reason), "%s", x->refused);
    } else if (is_bad) {
        reading_set(&reading, 1);
        snprintf(reading.reason, sizeof(reading.reason), "%s, which counts as bad",
                 x->outcome.reason);
    } else if (x->outcome.end == JOB_TIMED_OUT) {
        reading.status = RUN_TIMEOUT;
        snprintf(reading.reason, sizeof(reading.reason), "%s", x->outcome.reason);
    } else {
        kind_read(t->kind, &o, &reading);
    }
    if (reading.status == RUN_CANNOT && x->out.n_seen == 0 && m->file && x->outcome.code == 0 &&
        !x->refused)
        snprintf(reading.reason, sizeof(reading.reason),
                 "cannot measure: the command left nothing in $BISECTD_OUT/%s", m->file);
    if (!x->has_folder && (reading.status == RUN_OK || reading.status == RUN_CANNOT))
        set_folder_lost(&reading);
    struct run_result *r = add_result(t, run, attempt, reading.status, reading.reason);
    r->at = at;
    r->seconds = (double)x->outcome.wall_ns / 1e9;
    r->n_values = reading.n_values;
    r->values = TAKE(reading.values);
    r->value = reading.value;
    *is_final = reading.is_final;
    return r;
}

static void note_result(const struct taking *t, const struct run_result *r)
{
    if (r->status == RUN_OK) {
        clip_printf(t->s->log, "-> %.10g%s%s%s%s\n", r->value, *t->s->metric->unit ? " " : "",
                    t->s->metric->unit, r->reason ? " " : "", r->reason ? r->reason : "");
        return;
    }
    clip_printf(t->s->log, "-> %s: %s\n", run_status_name(r->status), r->reason ? r->reason : "");
}

static enum err_code attempt(struct taking *t, uint32_t run, uint32_t number, bool *again,
                             struct err *e)
{
    const struct task_run *r = &t->s->spec->runs[run];
    AUTO(execution_fini) struct execution x = {0};
    struct utc at = utc_now();
    bool is_final = false;

    *again = false;
    enum err_code code = execute(t, r, &x, e);
    if (code)
        return code;
    if (t->s->ended && !x.refused)
        t->s->ended(t->s->onlooker, &x.outcome);
    const struct run_result *got = judge(t, run, number, at, &x, &is_final);
    note_result(t, got);
    bool is_last = is_final || number + 1 == RUN_ATTEMPTS;
    if (got->status == RUN_ABORT)
        t->aborted = mem_dup(got->reason);
    else if (got->status == RUN_TIMEOUT || (got->status == RUN_CANNOT && is_last))
        t->stands[r->build].given_up = mem_dup(got->reason);
    *again = got->status == RUN_CANNOT && !is_last;
    return x.has_folder ? ERR_OK : forget_folder(t, e);
}

/** Why a run is not to be begun; NULL if it is. */
static const char *reason_to_skip(const struct taking *t, uint32_t build)
{
    if (t->aborted)
        return t->aborted;
    if (!t->s->builds[build].folder)
        return t->s->builds[build].reason ? t->s->builds[build].reason : "its build failed";
    return t->stands[build].given_up;
}

static enum err_code take(struct taking *t, uint32_t run, struct err *e)
{
    const struct schedule *s = t->s;
    const struct task_run *r = &s->spec->runs[run];
    const char *skip = reason_to_skip(t, r->build);
    bool again = true;

    if (skip) {
        add_result(t, run, 0, RUN_SKIPPED, skip);
        return ERR_OK;
    }
    if (s->progress)
        s->progress(s->context, run, &s->spec->builds[r->build].revision);
    clip_printf(s->log,
                "== run %" PRIu32 " of %" PRIu32 ": %.12s (BISECTD_RUN=%" PRIu32
                " BISECTD_SEED=%" PRIu64 ")\n",
                run + 1, s->spec->n_runs, s->spec->builds[r->build].revision.hex, r->number,
                r->seed);
    enum err_code code = stage(t, r->build, e);
    if (!code)
        code = warm_up(t, r, e);
    again = !t->stands[r->build].given_up;
    for (uint32_t number = 0; !code && again; number++)
        code = attempt(t, run, number, &again, e);
    return code;
}

enum err_code schedule_run(const struct schedule *s, struct run_result **runs, size_t *n_runs,
                           struct err *e)
{
    AUTO(taking_fini) struct taking t = {.s = s, .staged = NOT_STAGED};
    struct err ignored;

    t.stands = mem_array(s->spec->n_builds + 1, sizeof(*t.stands));
    t.kind = kind_of(s->metric->kind);
    if (!t.kind)
        return err_set(e, ERR_INVALID, "this worker cannot measure metrics of kind %s",
                       metric_kinds[s->metric->kind].name);
    if (t.kind->command)
        t.own = mem_printf("%s.kind", s->out);
    enum err_code code = ERR_OK;
    if (s->metric->ready)
        code = ready_parse(s->metric->ready, &t.ready, e);
    for (uint32_t i = 0; !code && i < s->spec->n_runs; i++)
        code = take(&t, i, e);
    enum err_code moved = unstage(&t, code ? &ignored : e); /* the first fault is the one to tell */
    if (!code && !moved && t.own)
        moved = file_remove_tree(t.own, e);
    if (code || moved)
        return code ? code : moved;
    *runs = TAKE(t.results);
    *n_runs = t.n_results;
    t.n_results = 0;
    return ERR_OK;
}
