/* SPDX-License-Identifier: Apache-2.0 */
/* What the API asks of the driver. */
#include "app/driver_state.h"
#include "app/quote.h"
#include "app/replay.h"
#include "app/scorecard.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/derived.h"
#include "store/results.h"
#include "store/tasks.h"
#include "store/workers.h"
#include <inttypes.h>
#include <string.h>

enum { MAX_ACTIVITY_BYTES = 200 };

/* -- bisections -- */

/* The project a request names, or the one it brings, as an object to keep. */
static enum err_code find_project(const struct driver *d, const json *given, enum sender sender,
                                  json **out, struct err *e)
{
    const struct config *c = d->o.config;
    const char *name = json_str(given, NULL);

    if (!name && sender != SENDER_OF_NAMES) {
        *out = json_keep((json *)(uintptr_t)given);
        return ERR_OK;
    }
    if (!name && json_is_object(given)) {
        err_set(e, ERR_DENIED, "this token may not send commands of its own");
        return err_hint(e, "name a configured project");
    }
    if (!name)
        return err_set(e, ERR_INVALID, "project: expected a configured project's name");
    const struct project *p = config_project(c, name);
    if (!p) {
        err_set(e, ERR_INVALID, "project: none is called \"%.64s\"", name);
        return err_hint(e, c->n_projects ? "GET /api/v1/projects lists them"
                                         : "the configuration names no projects");
    }
    *out = project_to_json(p);
    return ERR_OK;
}

/** A project that names no sandbox gets the service's, unless its user brought it in person. */
static void choose_sandbox(const struct driver *d, bool is_own, struct project *p)
{
    if (p->sandbox.is_kind_set || is_own)
        return;
    p->sandbox.kind = d->o.config->sandbox;
    p->sandbox.is_kind_set = true;
}

static enum err_code read_request(const struct driver *d, const json *body, enum sender sender,
                                  struct request **out, struct err *e)
{
    AUTO(json_free) json *whole = json_new_object();
    json *project = NULL;

    if (!json_is_object(body))
        return err_set(e, ERR_INVALID, "expected a request object");
    if (find_project(d, json_at(body, "project"), sender, &project, e))
        return e->code;
    for (const char *k = json_first_key(body); k; k = json_next_key(body, k))
        json_put(whole, k, json_keep(json_at(body, k)));
    json_put(whole, "project", project);
    if (!json_at(whole, "budget_runs") && !json_pointer(project, "/budget/runs"))
        json_put(whole, "budget_runs", json_new_int(d->o.config->limits.n_runs));
    if (request_from_json(whole, out, e))
        return e->code;
    choose_sandbox(d, sender == SENDER_SELF && json_is_object(json_at(body, "project")),
                   (*out)->project);
    if (!(*out)->is_seed_set) {
        random_bytes(&(*out)->seed, sizeof((*out)->seed));
        (*out)->seed &= REQUEST_MAX_SEED;
        (*out)->is_seed_set = true;
    }
    return ERR_OK;
}

static enum err_code check_room(struct driver *d, struct err *e)
{
    const struct limits *limits = &d->o.config->limits;
    struct store_counts n;

    if (store_count(d->o.store, &n, e))
        return e->code;
    size_t n_wanted = driver_n_wanted(d);

    if (n_wanted >= (size_t)limits->n_active) {
        err_set(e, ERR_LIMIT, "%zu bisections are under way, which is the limit", n_wanted);
        return err_hint(e, "wait for one to end, or raise limits.active in the configuration");
    }
    if (n.tasks[TASK_QUEUED] + n.tasks[TASK_LEASED] >= limits->n_queued) {
        err_set(e, ERR_LIMIT, "the queue has its limit of %" PRId64 " tasks", limits->n_queued);
        return err_hint(e, "connect more workers, or raise limits.queue in the configuration");
    }
    return ERR_OK;
}

enum demand { DEMAND_NOW, DEMAND_WHEN_IDLE };

/* Stored, and taken up as a start would take it up. */
static enum err_code create(struct driver *d, const struct request *r, enum demand demand,
                            struct id *id, struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    struct course *c;

    if (store_bisection_create(d->o.store, r, utc_now(), id, e))
        return e->code;
    if (demand == DEMAND_WHEN_IDLE && store_bisection_set_when_idle(d->o.store, id->text, true, e))
        return driver_spoil(d, id->text, e);
    if (store_bisection_load(d->o.store, id->text, &row, e) || course_load(&d->ground, row, &c, e))
        return driver_spoil(d, id->text, e);
    driver_add(d, c);
    LOG(LOG_INFO, "bisection created", "bisection=%s project=%s metric=%s platform=%s", id->text,
        r->project->name, r->metric, r->platform);
    return ERR_OK;
}

enum err_code serve_check(void *self, const struct request *r, struct id *out, struct err *e)
{
    struct digest key = request_key(r);
    struct driver *d = self;
    enum err_code code = store_bisection_find(d->o.store, &key, out, e);

    if (code == ERR_OK)
        return err_set(e, ERR_CONFLICT, "comparison %s asks the same", out->text);
    return code == ERR_NOT_FOUND ? create(d, r, DEMAND_WHEN_IDLE, out, e) : code;
}

/* Joins an unfinished one, or makes one. */
static enum err_code join(struct driver *d, const struct request *r, struct id *id,
                          bool *has_joined, struct err *e)
{
    struct digest key = request_key(r);
    enum err_code code = store_bisection_find(d->o.store, &key, id, e);

    *has_joined = code == ERR_OK;
    if (code == ERR_NOT_FOUND)
        return check_room(d, e) ? e->code : create(d, r, DEMAND_NOW, id, e);
    if (code)
        return code;
    struct course *c = driver_find(d, id->text);
    return c && course_want(c, e) ? driver_spoil(d, id->text, e) : ERR_OK;
}

static enum err_code on_create(void *self, const json *body, enum sender sender, char **id,
                               bool *has_joined, struct err *e)
{
    struct driver *d = self;
    AUTO(request_free) struct request *r = NULL;
    struct id found;

    if (read_request(d, body, sender, &r, e))
        return e->code;
    if (join(d, r, &found, has_joined, e))
        return e->code;
    *id = mem_dup(found.text);
    return ERR_OK;
}

static enum err_code on_show(void *self, const char *id, json **out, struct err *e)
{
    struct driver *d = self;
    struct course *c = driver_find(d, id);
    AUTO(bisection_row_free) struct bisection_row *row = NULL;

    if (c) {
        *out = course_document(c, mono_now());
        return ERR_OK;
    }
    if (store_bisection_load(d->o.store, id, &row, e))
        return e->code;
    if (row->verdict) {
        *out = json_keep(row->verdict);
        return ERR_OK;
    }
    AUTO(json_free) json *document = NULL;
    if (replay_verdict(d->o.store, id, &document, e) ||
        store_verdict_put(d->o.store, id, document, e))
        return e->code;
    *out = TAKE(document);
    return ERR_OK;
}

static enum err_code on_cancel(void *self, const char *id, struct err *e)
{
    struct driver *d = self;
    struct course *c = driver_find(d, id);
    AUTO(bisection_row_free) struct bisection_row *row = NULL;

    if (!c)
        return store_bisection_load(d->o.store, id, &row, e); /* over already, or unknown */
    if (course_cancel(c, e))
        return driver_spoil(d, id, e);
    return ERR_OK;
}

static enum err_code on_replay(void *self, const char *id, struct work **out, struct err *e)
{
    struct driver *d = self;

    return replay_new(d->o.store, id, out, e);
}

/* -- leases -- */

/* Until the worker itself tells. */
static void say_preparing(struct course *c, const struct task_spec *spec)
{
    AUTO(mem_free)
    char *text = spec->n_builds ? mem_printf("preparing %.7s", spec->builds[0].revision.hex) : NULL;

    course_activity(c, text);
}

static enum err_code lease_document(struct driver *d, const struct lease_row *row, json **out,
                                    struct err *e)
{
    struct course *c = driver_find(d, row->bisection.text);
    AUTO(task_row_free) struct task_row *task = NULL;
    char *const id = (char *)(uintptr_t)row->id.text;

    if (store_task_load(d->o.store, row->task.text, &task, e))
        return e->code;
    if (!c)
        return err_set(e, ERR_CONFLICT, "task %s belongs to no unfinished bisection",
                       row->task.text);
    const struct request *r = course_request(c);
    const struct lease lease = {
        .id = id,
        .fence = row->tenure.fence,
        .task = task->id.text,
        .bisection = task->bisection.text,
        .project = r->project,
        .metric = r->metric,
        .platform = r->platform,
        .spec = task->spec,
        .expires_ns = d->rule.term_ns,
        .renew_ns = d->rule.renew_ns,
    };
    *out = lease_to_json(&lease);
    say_preparing(c, task->spec);
    LOG(LOG_INFO, "task leased", "bisection=%s task=%s lease=%s fence=%" PRId64 " worker=%s",
        lease.bisection, lease.task, lease.id, lease.fence, row->worker);
    return ERR_OK;
}

static enum err_code on_lease_take(void *self, const struct taker *t, json **out, struct err *e)
{
    struct driver *d = self;
    const bool is_local = d->o.local && local_has(d->o.local, t->worker);
    struct lease_wish wish = {
        .worker = t->worker,
        .host = t->host,
        .platform = t->platform,
        .tags = &t->tags,
        .engine = is_local ? "local" : "pool",
    };
    AUTO(returned_list_fini) struct returned_list forgotten = {0};
    AUTO(lease_row_fini) struct lease_row row = {0};

    /* Who asks for work has none: what it held, it no longer knows of. */
    if (store_leases_end_worker(d->o.store, t->worker, RETURN_DIED, utc_now(), &forgotten, e) ||
        driver_returned(d, &forgotten, e) ||
        store_lease_take(d->o.store, &wish, utc_now(), mono_now(), &d->rule, &row, e))
        return e->code;
    if (lease_document(d, &row, out, e))
        return driver_spoil(d, row.bisection.text, e);
    return ERR_OK;
}

static enum err_code on_lease_renew(void *self, const char *id, int64_t fence, const char *activity,
                                    int64_t *expires_ns, struct err *e)
{
    struct driver *d = self;
    AUTO(lease_row_fini) struct lease_row row = {0};
    AUTO(buf_fini) struct buf clean = {0};

    if (activity)
        text_clean(&clean, activity, strlen(activity), MAX_ACTIVITY_BYTES);
    if (store_lease_renew(d->o.store, id, fence, activity ? buf_str(&clean) : NULL, utc_now(),
                          mono_now(), &d->rule, e) ||
        store_lease_load(d->o.store, id, &row, e))
        return e->code;
    struct course *c = driver_find(d, row.bisection.text);
    if (c && activity)
        course_activity(c, buf_str(&clean));
    *expires_ns = d->rule.term_ns;
    return ERR_OK;
}

static enum err_code tell_course(struct driver *d, const struct accepted *a, struct err *e)
{
    struct course *c = driver_find(d, a->bisection.text);
    enum err_code code = ERR_OK;

    if (a->state == TASK_QUEUED && d->server)
        server_wake_workers(d->server);
    if (!c)
        return ERR_OK;
    if (a->state == TASK_DONE)
        code = course_result(c, a->ordinal, a->task.text, e);
    else if (a->state == TASK_GIVEN_UP)
        code = course_given_up(c, a->ordinal, a->reason, e);
    return code ? driver_spoil(d, a->bisection.text, e) : ERR_OK;
}

static void log_result(const struct accepted *a, const char *lease)
{
    AUTO(buf_fini) struct buf quoted = {0};

    if (a->reason)
        LOG(LOG_WARN, "task failed by its surroundings",
            "bisection=%s task=%s lease=%s ordinal=%u state=%s why=%s", a->bisection.text,
            a->task.text, lease, (unsigned)a->ordinal, task_state_name(a->state),
            quote(&quoted, a->reason));
    else
        LOG(LOG_INFO, a->is_repeat ? "result repeated" : "result accepted",
            "bisection=%s task=%s lease=%s ordinal=%u samples=%u", a->bisection.text, a->task.text,
            lease, (unsigned)a->ordinal, (unsigned)a->n_samples);
}

static enum err_code on_lease_result(void *self, const char *id, const struct task_result *r,
                                     json **answer, struct err *e)
{
    struct driver *d = self;
    AUTO(accepted_fini) struct accepted a = {0};

    if (store_result_accept(d->o.store, id, r, utc_now(), &a, e))
        return e->code;
    log_result(&a, id);
    if (!a.is_repeat && tell_course(d, &a, e))
        return e->code;
    *answer = json_put(json_new_object(), "task", json_new_string(a.task.text));
    json_put(*answer, "accepted", json_new_int(a.n_samples));
    return ERR_OK;
}

/* -- calibration -- */

static enum err_code on_calibration_show(void *self, json **out, struct err *e)
{
    struct driver *d = self;

    return scorecard_new(d->o.store, &d->o.config->calibration, out, e);
}

static enum err_code on_calibration_ask(void *self, size_t n, size_t *n_opened, struct err *e)
{
    struct driver *d = self;

    if (calibrator_ask(d->calibrator, n, n_opened, e))
        return driver_spoil(d, NULL, e);
    LOG(LOG_INFO, "checks asked for", "claims=%zu", *n_opened);
    return ERR_OK;
}

/* -- the rest -- */

static json *project_item(const struct project *p)
{
    json *o = json_new_object();
    json *platforms = json_new_array();
    json *metrics = json_new_array();

    for (size_t i = 0; i < p->platforms.n; i++)
        json_push(platforms, json_new_string(p->platforms.items[i]));
    for (size_t i = 0; i < p->n_metrics; i++) {
        const struct metric *m = p->metrics[i];
        json *row = json_put(json_new_object(), "name", json_new_string(m->name));
        json_put(row, "kind", json_new_string(metric_kinds[m->kind].name));
        json_push(metrics, json_put(row, "unit", json_new_string(m->unit)));
    }
    json_put(o, "id", json_new_string(p->name));
    json_put(o, "repository", json_new_string(p->repository));
    json_put(o, "platforms", platforms);
    return json_put(o, "metrics", metrics);
}

static json *on_project_list(void *self)
{
    const struct driver *d = self;
    json *items = json_new_array();

    for (size_t i = 0; i < d->o.config->n_projects; i++)
        json_push(items, project_item(d->o.config->projects[i]));
    return items;
}

/* The value of a label, in quotes. */
static void add_label(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_adds(out, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            buf_addc(out, '\\');
        buf_addc(out, *text);
    }
}

static void on_metrics(void *self, struct buf *out)
{
    const struct driver *d = self;
    AUTO(buf_fini) struct buf platform = {0};

    add_label(&platform, d->local_platform);
    buf_printf(out,
               "# HELP bisectd_requests_total HTTP requests since the start.\n"
               "# TYPE bisectd_requests_total counter\n"
               "bisectd_requests_total %" PRIu64 "\n"
               "# HELP bisectd_clients Open connections of others than workers.\n"
               "# TYPE bisectd_clients gauge\n"
               "bisectd_clients %zu\n"
               "# HELP bisectd_local_workers Workers that this daemon starts itself.\n"
               "# TYPE bisectd_local_workers gauge\n"
               "bisectd_local_workers{platform=\"%s\"} %" PRIu32 "\n"
               "# HELP bisectd_private Does it end by itself when nobody is connected.\n"
               "# TYPE bisectd_private gauge\n"
               "bisectd_private %d\n",
               d->server ? server_n_requests(d->server) : 0,
               d->server ? server_n_clients(d->server) : 0, buf_str(&platform),
               d->o.local ? local_count(d->o.local) : 0, d->o.is_private);
}

/* Work of an exchange as a job of the pool. */
struct errand {
    struct job job;
    struct work *work;
    struct driver *driver;
};

static void errand_run(struct job *j)
{
    struct errand *a = (struct errand *)j;

    a->work->run(a->work);
}

static void errand_done(struct job *j)
{
    struct errand *a = (struct errand *)j;
    struct exchange *x = work_finish(a->work);

    if (x && a->driver->server)
        server_wake(a->driver->server, x);
    mem_free(a);
}

static void on_work_start(void *self, struct work *w)
{
    struct driver *d = self;
    struct errand *a = mem_alloc(sizeof(*a));

    *a = (struct errand){.job = {errand_run, errand_done, NULL}, .work = w, .driver = d};
    w->is_under_way = true;
    pool_submit(d->o.pool, &a->job);
}

void serve_init(struct driver *d)
{
    const struct limits *limits = &d->o.config->limits;

    d->service = (struct service){
        .self = d,
        .store = d->o.store,
        .max_bytes = {[LIMIT_NONE] = KIB,
                      [LIMIT_BODY] = limits->body_bytes,
                      [LIMIT_LOG] = limits->log_bytes,
                      [LIMIT_RESULT] = limits->result_bytes,
                      [LIMIT_ARTIFACT] = limits->artifact_bytes},
        .max_page = limits->n_page,
        .max_watchers = limits->n_watchers,
        .max_connections = limits->n_connections,
        .max_wait_s = limits->wait_ns / NS_PER_S,
        .bisection_create = on_create,
        .bisection_show = on_show,
        .bisection_cancel = on_cancel,
        .bisection_replay = on_replay,
        .calibration_show = on_calibration_show,
        .calibration_ask = on_calibration_ask,
        .lease_take = on_lease_take,
        .lease_renew = on_lease_renew,
        .lease_result = on_lease_result,
        .project_list = on_project_list,
        .metrics = on_metrics,
        .work_start = on_work_start,
    };
}
