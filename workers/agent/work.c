/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/agent/work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "workers/build/recipe.h"
#include "workers/measure/cpus.h"
#include "workers/measure/host.h"
#include "workers/measure/host_lock.h"
#include "workers/measure/inspect.h"
#include "workers/measure/schedule.h"
#include "workers/source/checkout.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ARTIFACT_BYTES (INT64_C(4) * 1024 * MIB)
enum { SHOWN_HEX = 7 };

/** A task under way. */
struct task {
    const struct work *w;
    const struct metric *metric; /* NULL: a task without runs */
    struct task_result *result;
    struct schedule_build *ready; /* of each build: where it is unpacked */
    enum isolation isolation;
    struct cpus cpus; /* with isolation cpus */
    const char *wait; /* what a wait for the host is called */
    bool was_stopped;
    bool was_full; /* the disk, at some time */
};

static bool is_stopped(struct task *t)
{
    t->was_stopped |= heartbeat_is_lost(t->w->heartbeat) || t->w->must_stop(t->w->context);
    return t->was_stopped;
}

static enum job_go tick(void *context)
{
    struct task *t = context;

    t->was_full |= workshop_is_full(t->w->shop);
    return is_stopped(t) ? JOB_STOP : JOB_GO_ON;
}

/** Asked only while the host cannot be had. */
static int may_wait(void *context)
{
    struct task *t = context;

    if (t->wait)
        heartbeat_tell(t->w->heartbeat, "waiting for this machine (%s)", t->wait);
    t->wait = NULL; /* told */
    return !is_stopped(t);
}

/** What failed because the disk was full failed through no fault of the revision. */
static enum err_code blame_disk(struct task *t, struct err *e)
{
    t->was_full |= workshop_is_full(t->w->shop);
    return t->was_full ? err_set(e, ERR_IO, "the worker's disk is full (%s)", t->w->shop->folder)
                       : ERR_OK;
}

/* ---- source ---- */

static void tell_fetch(void *context, const struct fetch_progress *p)
{
    struct task *t = context;

    if (p->n_objects)
        heartbeat_tell(t->w->heartbeat, "fetching %" PRIu32 "/%" PRIu32, p->n_received,
                       p->n_objects);
}

/** The project's fixups of a build, borrowed. Caller frees the array. */
static const struct fixup **fixups_of(const struct project *p, const struct task_build *build,
                                      size_t *n)
{
    const struct fixup **list = (const struct fixup **)mem_array(p->n_fixups + 1, sizeof(*list));

    *n = 0;
    for (size_t i = 0; i < p->n_fixups && i < FIXUP_MAX; i++)
        if (build->fixups >> i & 1)
            list[(*n)++] = p->fixups[i];
    return list;
}

static enum err_code check_out(struct task *t, const struct task_build *build,
                               const struct alteration *alteration, struct build_result *b,
                               struct err *e)
{
    const struct project *p = t->w->lease->project;
    const struct revision *revision = &build->revision;
    struct fetch_watch watch = {.report = tell_fetch, .context = t};
    struct checkout_count count = {0};
    struct source source = {.repository = p->repository,
                            .cache_dir = t->w->shop->cache,
                            .tree_dir = t->w->shop->source,
                            .submodules = p->submodules,
                            .submodule_urls = &p->submodule_urls,
                            .watch = &watch,
                            .alteration = alteration};

    enum err_code code = ERR_OK;
    if (!job_folder_survives(source.tree_dir)) /* nothing there, or what a job put in its place */
        code = file_remove_tree(source.tree_dir, e);
    if (code)
        return err_wrap(e, "check out %.12s", revision->hex);
    code = source_checkout(&source, revision, &count, e);
    if (code == ERR_NOT_FOUND || code == ERR_INVALID) {
        if (blame_disk(t, e))
            return ERR_IO;
        b->status = BUILD_FAILED;
        b->reason = mem_printf("check out: %s", e->text);
        clip_printf(t->w->log, "[%s]\n", b->reason);
        return ERR_OK;
    }
    if (code)
        return err_wrap(e, "check out %.12s", revision->hex);
    clip_printf(t->w->log,
                "checked out: %" PRIu32 " files, %" PRIu32 " written, %" PRIu32 " removed\n",
                count.n_files, count.n_written, count.n_removed);
    return ERR_OK;
}

/* ---- building ---- */

static char *artifact_path(const char *hash)
{
    return mem_printf("/api/v1/artifacts/%s", hash);
}

static void upload(struct task *t, const char *hash)
{
    AUTO(mem_free) char *path = artifact_path(hash);
    AUTO(fd_close) int fd = -1;
    struct err e = {0};

    enum err_code code = artifacts_open(t->w->shop->artifacts, hash, &fd, &e);
    if (!code)
        code = http_upload_fd(t->w->http, path, fd, &e);
    if (code && !is_stopped(t)) /* it can be built again; the task is not lost */
        LOG(LOG_WARN, "artifact not sent", "bisection=%s lease=%s artifact=%s error=\"%s\"",
            t->w->lease->bisection, t->w->lease->id, hash, e.text);
}

static void download(struct task *t, const char *hash)
{
    const struct workshop *shop = t->w->shop;
    AUTO(mem_free) char *path = artifact_path(hash);
    AUTO(mem_free) char *draft = path_join(shop->scratch, "download");
    AUTO(fd_close) int fd = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct err e = {0};

    if (fd < 0)
        return;
    enum err_code code = http_download_fd(t->w->http, path, fd, (size_t)ARTIFACT_BYTES, &e);
    if (!code && lseek(fd, 0, SEEK_SET) == 0)
        code = artifacts_adopt(shop->artifacts, hash, fd, &e);
    if (code && code != ERR_NOT_FOUND && !is_stopped(t))
        LOG(LOG_WARN, "artifact not fetched", "bisection=%s lease=%s artifact=%s error=\"%s\"",
            t->w->lease->bisection, t->w->lease->id, hash, e.text);
    unlink(draft);
}

static enum err_code pack(struct task *t, struct build_result *b, struct err *e)
{
    const struct workshop *shop = t->w->shop;

    enum err_code code =
        artifacts_pack(shop->artifacts, shop->source, &t->w->lease->project->artifacts,
                       ARTIFACT_BYTES, b->artifact, t->w->log, e);
    if (code == ERR_NOT_FOUND || code == ERR_LIMIT || code == ERR_DENIED) {
        b->status = code == ERR_LIMIT ? BUILD_LIMIT : BUILD_FAILED;
        b->reason = mem_dup(e->text);
        clip_printf(t->w->log, "[%s]\n", b->reason);
        return ERR_OK;
    }
    if (code)
        return err_wrap(e, "pack artifact of %.12s", b->revision.hex);
    clip_printf(t->w->log, "artifact %s\n", b->artifact);
    if (!shop->is_shared)
        upload(t, b->artifact);
    return ERR_OK;
}

static enum err_code run_recipe(struct task *t, const struct task_build *build,
                                struct build_result *b, struct err *e)
{
    AUTO(pairs_fini) struct pairs environment = {0};
    struct recipe recipe = {.sandbox = t->w->shop->sandbox,
                            .project = t->w->lease->project,
                            .environment = &environment,
                            .revision = &b->revision,
                            .cpus = t->isolation == ISOLATION_CPUS ? &t->cpus.rest : NULL,
                            .place = workshop_place(t->w->shop),
                            .log = t->w->log,
                            .tick = tick,
                            .context = t};
    struct recipe_outcome outcome;

    project_environment(t->w->lease->project, build->fixups, &environment);
    t->was_full = false;
    if (recipe_run(&recipe, &outcome, e))
        return err_wrap(e, "build %.12s", b->revision.hex);
    if (outcome.status == BUILD_OK)
        return ERR_OK;
    if (blame_disk(t, e))
        return ERR_IO;
    b->status = outcome.status;
    b->reason = mem_dup(outcome.reason);
    return ERR_OK;
}

/** What a build is beyond its revision: " without 1a2b…, with old-gcc.patch". */
static void say_variant(const struct project *p, const struct task_build *build, struct buf *out)
{
    if (revision_is_set(&build->revert))
        buf_printf(out, " without %s", build->revert.hex);
    if (build->fixups) {
        buf_adds(out, revision_is_set(&build->revert) ? ", with " : " with ");
        project_fixup_names(p, build->fixups, out);
    }
}

static enum err_code build(struct task *t, uint32_t i, struct build_result *b, struct err *e)
{
    int64_t begin_ns = mono_now().ns;
    const struct project *p = t->w->lease->project;
    const struct task_build *spec = &t->w->lease->spec->builds[i];
    struct alteration alteration = {.revert = spec->revert};
    AUTO(buf_fini) struct buf variant = {0};

    const struct fixup **fixups = fixups_of(p, spec, &alteration.n_fixups);
    alteration.fixups = fixups;
    say_variant(p, spec, &variant);
    heartbeat_tell(t->w->heartbeat, "building %.*s", SHOWN_HEX, b->revision.hex);
    clip_printf(t->w->log, "== build %s%s\n", b->revision.hex, buf_str(&variant));
    b->status = BUILD_OK;
    enum err_code code = check_out(t, spec, &alteration, b, e);
    mem_free((void *)(uintptr_t)fixups);
    if (!code && b->status == BUILD_OK)
        code = run_recipe(t, spec, b, e);
    if (!code && b->status == BUILD_OK)
        code = pack(t, b, e);
    b->seconds = (double)(mono_now().ns - begin_ns) / 1e9;
    return code;
}

static bool is_measured(const struct task_spec *spec, uint32_t build)
{
    for (uint32_t i = 0; i < spec->n_runs; i++)
        if (spec->runs[i].build == build)
            return true;
    return false;
}

/** Brings a known artifact here; true if one is. */
static bool is_at_hand(struct task *t, const struct task_build *b)
{
    const struct workshop *shop = t->w->shop;

    if (b->fresh || !b->artifact[0])
        return false;
    if (!artifacts_has(shop->artifacts, b->artifact) && !shop->is_shared)
        download(t, b->artifact);
    return artifacts_has(shop->artifacts, b->artifact);
}

/** Unpacks for measuring. A reused artifact that turns out damaged is built anew. */
static enum err_code unpack(struct task *t, uint32_t i, struct build_result *b, struct err *e)
{
    const struct workshop *shop = t->w->shop;
    AUTO(mem_free) char *folder = mem_printf("%s/%" PRIu32, shop->ready, i);

    enum err_code code = artifacts_unpack(shop->artifacts, b->artifact, folder, e);
    bool is_damaged = code == ERR_CONFLICT || code == ERR_NOT_FOUND;
    if (is_damaged && b->status == BUILD_REUSED) {
        clip_printf(t->w->log, "%s; building it again\n", e->text);
        b->artifact[0] = '\0';
        code = build(t, i, b, e);
        if (!code && b->status == BUILD_OK)
            code = artifacts_unpack(shop->artifacts, b->artifact, folder, e);
    }
    if (code)
        return err_wrap(e, "unpack artifact of %.12s", b->revision.hex);
    if (b->status == BUILD_OK || b->status == BUILD_REUSED)
        t->ready[i].folder = TAKE(folder);
    return ERR_OK;
}

/** Another revision whose runs say all about these bytes; NULL if none is known. */
static const struct revision *known_as(const struct task_spec *spec, const struct build_result *b)
{
    for (uint32_t i = 0; i < spec->n_known; i++)
        if (strcmp(spec->known[i].artifact, b->artifact) == 0)
            return revision_equal(&spec->known[i].revision, &b->revision)
                       ? NULL
                       : &spec->known[i].revision;
    return NULL;
}

/** Unpacks a build, or says why it is not to be measured. */
static enum err_code make_ready(struct task *t, uint32_t i, struct build_result *b, struct err *e)
{
    const struct task_spec *spec = t->w->lease->spec;
    bool is_new = b->status == BUILD_OK && !spec->builds[i].fresh;
    const struct revision *other = is_new ? known_as(spec, b) : NULL;

    if (!is_measured(spec, i))
        return ERR_OK;
    if (!other)
        return unpack(t, i, b, e);
    t->ready[i].reason = mem_printf("same bytes as %.10s", other->hex);
    clip_printf(t->w->log, "[not measured: %s]\n", t->ready[i].reason);
    return ERR_OK;
}

/** One of the spec's builds: at hand or built, and unpacked if it is to be measured. */
static enum err_code prepare(struct task *t, uint32_t i, struct err *e)
{
    const struct task_build *spec = &t->w->lease->spec->builds[i];
    struct build_result *b = &t->result->builds[t->result->n_builds++];
    AUTO(host_lock_release) struct host_lock lock = {.fd = -1};

    b->revision = spec->revision;
    b->revert = spec->revert;
    b->status = BUILD_FAULT;
    t->wait = "something else is measured";
    enum host_use use = t->isolation == ISOLATION_CPUS ? HOST_BUILD_ASIDE : HOST_BUILD;
    enum err_code code = host_lock_take(&lock, t->w->shop->lock_folder, use, may_wait, t, e);
    if (code)
        return code;
    heartbeat_tell(t->w->heartbeat, "preparing %.*s", SHOWN_HEX, spec->revision.hex);
    if (is_at_hand(t, spec)) {
        b->status = BUILD_REUSED;
        memcpy(b->artifact, spec->artifact, sizeof(b->artifact));
        AUTO(buf_fini) struct buf variant = {0};
        say_variant(t->w->lease->project, spec, &variant);
        clip_printf(t->w->log, "== build %s%s: artifact %s is at hand\n", b->revision.hex,
                    buf_str(&variant), b->artifact);
    } else {
        code = build(t, i, b, e);
    }
    if (!code && (b->status == BUILD_OK || b->status == BUILD_REUSED))
        code = make_ready(t, i, b, e);
    if (code) {
        b->status = BUILD_FAULT;
        b->reason = mem_dup(e->text);
    }
    if (b->reason)
        t->ready[i].reason = mem_printf("not built: %s", b->reason);
    return code;
}

/* ---- measuring ---- */

static void tell_run(void *context, size_t run, const struct revision *revision)
{
    struct task *t = context;

    heartbeat_tell(t->w->heartbeat, "%s %.*s %zu/%" PRIu32,
                   t->w->lease->spec->is_inspection ? "tracing" : "measuring", SHOWN_HEX,
                   revision->hex, run + 1, t->w->lease->spec->n_runs);
}

/** Whether something was begun that did not work: only then is the disk a question. */
static bool has_failure(const struct task_result *r)
{
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].status == RUN_CANNOT || r->runs[i].status == RUN_ABORT)
            return true;
    return false;
}

/** Asked while the machine works for others. */
static bool may_wait_for_quiet(void *context, double busy)
{
    struct task *t = context;

    heartbeat_tell(t->w->heartbeat, "waiting for this machine to be quiet (%.0f %% busy)",
                   100 * busy);
    return !is_stopped(t);
}

static enum err_code take_runs(struct task *t, const cpu_set_t *cpus, struct err *e)
{
    const struct workshop *shop = t->w->shop;
    struct schedule schedule = {.sandbox = shop->sandbox,
                                .project = t->w->lease->project,
                                .metric = t->metric,
                                .spec = t->w->lease->spec,
                                .builds = t->ready,
                                .place = workshop_place(shop),
                                .out = shop->out,
                                .cpus = cpus,
                                .log = t->w->log,
                                .progress = tell_run,
                                .tick = tick,
                                .context = t};
    struct err ignored;

    enum err_code code = workshop_park(shop, e);
    if (code)
        return code;
    t->was_full = false;
    host_describe(&t->result->environment);
    if (schedule.spec->is_inspection)
        code = inspect(&schedule, &t->result->inspection, e);
    else
        code = schedule_run(&schedule, &t->result->runs, &t->result->n_runs, e);
    if (!code && has_failure(t->result))
        code = blame_disk(t, e);
    enum err_code moved = workshop_unpark(shop, code ? &ignored : e);
    return code ? code : moved;
}

/** A metric that needs no quiet may still disturb one that does. */
static enum host_use use_of(enum isolation i)
{
    return i == ISOLATION_NONE ? HOST_BUILD : i == ISOLATION_CPUS ? HOST_MEASURE_ON : HOST_MEASURE;
}

static enum err_code measure(struct task *t, struct err *e)
{
    AUTO(host_lock_release) struct host_lock lock = {.fd = -1, .among = &t->cpus.measuring};
    const char *folder = t->w->shop->lock_folder;

    t->wait = "something else runs on it";
    enum err_code code = host_lock_take(&lock, folder, use_of(t->isolation), may_wait, t, e);
    if (code)
        return code;
    if (t->isolation == ISOLATION_EXCLUSIVE && t->w->quiet && quiet_is_needed(t->metric))
        code = quiet_wait(t->w->quiet, t->w->log, may_wait_for_quiet, t, e);
    if (code)
        return code;
    if (t->isolation != ISOLATION_CPUS)
        return take_runs(t, NULL, e);
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(lock.cpu, &own);
    clip_printf(t->w->log, "isolation: runs keep to CPU %d\n", lock.cpu);
    return take_runs(t, &own, e);
}

/* ---- the task ---- */

static void note_header(struct task *t, const struct sandbox_kind_row *kind)
{
    const struct lease *l = t->w->lease;
    struct environment *env = &t->result->environment;
    bool is_named = l->project->sandbox.is_kind_set;

    clip_printf(t->w->log, "bisection %s, task %s, worker %s on %s (%s), %s, %s\n", l->bisection,
                l->task, env->worker, env->host, env->platform, env->kernel, env->cpu);
    clip_printf(t->w->log, "sandbox: %s%s: %s\n", kind->name,
                is_named ? "" : " (the project names none)", kind->help);
    if (t->metric)
        clip_printf(t->w->log, "metric %s: $ %s\n", t->metric->name, t->metric->command);
}

static enum err_code begin(struct task *t, struct err *e)
{
    const struct work *w = t->w;
    const struct sandbox_kind_row *kind = NULL;
    struct environment *env = &t->result->environment;

    env->worker = mem_dup(w->shop->name);
    env->host = mem_dup(w->shop->host);
    env->platform = mem_dup(w->shop->platform);
    host_describe(env);
    enum err_code code = sandbox_kind_of(&w->lease->project->sandbox, &kind, e);
    env->sandbox = mem_dup(code ? "none" : kind->name);
    if (!code)
        code = sandbox_check(w->shop->sandbox, &w->lease->project->sandbox, e);
    if (w->lease->spec->n_runs) {
        t->metric = project_metric(w->lease->project, w->lease->metric);
        if (!code && !t->metric)
            code = err_set(e, ERR_INVALID, "the project has no metric \"%s\"", w->lease->metric);
    }
    const struct metric *m = project_metric(w->lease->project, w->lease->metric);
    t->isolation = m ? host_isolation(w->lease->project, m) : ISOLATION_NONE;
    if (t->isolation == ISOLATION_CPUS && !cpus_here(&t->cpus))
        t->isolation = ISOLATION_EXCLUSIVE;
    env->isolation = mem_dup(t->metric ? host_isolation_name(t->isolation) : "none");
    if (code)
        return code;
    note_header(t, kind);
    code = job_folder_empty(w->shop->ready, e);
    if (!code)
        code = file_mkdirs(w->shop->scratch, 0700, e);
    if (!code)
        code = workshop_unpark(w->shop, e);
    return code ? code : blame_disk(t, e);
}

static void drop_runs(struct task_result *r)
{
    for (size_t i = 0; i < r->n_runs; i++)
        run_result_fini(&r->runs[i]);
    mem_free(r->runs);
    r->runs = NULL;
    r->n_runs = 0;
}

void work_do(const struct work *w, struct task_result **out)
{
    const struct task_spec *spec = w->lease->spec;
    AUTO(task_result_free) struct task_result *result = mem_alloc(sizeof(*result));
    struct task t = {.w = w, .result = result};
    struct err e = {0}, ignored;

    *out = NULL;
    result->fence = w->lease->fence;
    result->builds = mem_array(spec->n_builds + 1, sizeof(*result->builds));
    t.ready = mem_array(spec->n_builds + 1, sizeof(*t.ready));
    enum err_code code = begin(&t, &e);
    for (uint32_t i = 0; !code && i < spec->n_builds; i++)
        code = is_stopped(&t) ? ERR_TIMEOUT : prepare(&t, i, &e);
    if (!code && spec->n_runs)
        code = measure(&t, &e);
    for (uint32_t i = 0; i < spec->n_builds; i++) {
        mem_free(t.ready[i].folder);
        mem_free(t.ready[i].reason);
    }
    mem_free(t.ready);
    if (file_remove_tree(w->shop->ready, &ignored))
        LOG(LOG_WARN, "folder not removed", "lease=%s error=\"%s\"", w->lease->id, ignored.text);
    if (code && is_stopped(&t))
        return;
    if (code) {
        drop_runs(result);
        result->fault = mem_dup(e.text);
        clip_printf(w->log, "[fault of the worker, not of a revision: %s]\n", e.text);
    }
    *out = TAKE(result);
}
