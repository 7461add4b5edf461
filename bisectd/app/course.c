/* SPDX-License-Identifier: Apache-2.0 */
#include "app/course_state.h"
#include "app/document.h"
#include "app/earlier.h"
#include "app/explainer.h"
#include "app/quote.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "store/derived.h"
#include "store/explanations.h"
#include "store/results.h"
#include "store/tasks.h"
#include "store/workers.h"
#include <inttypes.h>
#include <string.h>

/* Up to here a step takes about a millisecond, and is not worth a thread's turn. */
enum { INLINE_COMMITS = 2000, MAX_ACTIVITY_BYTES = 200 };
/* A crash loses at most so much of the time counted against a budget. */
#define NOTE_PERIOD_NS     (2 * NS_PER_S)
#define CAPACITY_PERIOD_NS (2 * NS_PER_S)

/* -- life -- */

void course_free(struct course *c)
{
    if (!c)
        return;
    resolver_free(c->resolver);
    reading_drop(c->reading);
    if (c->away && c->has_returned)
        step_free(c->away);
    else if (c->away)
        c->away->course = NULL;
    bisection_free(c->state);
    for (size_t i = 0; i < c->n_pending; i++)
        record_free(c->pending[i]);
    mem_free(c->pending);
    request_free(c->request);
    range_free(c->range);
    mem_free(c->activity);
    json_free(c->document);
    mem_free(c);
}

const char *course_id(const struct course *c)
{
    return c->id.text;
}

const struct request *course_request(const struct course *c)
{
    return c->request;
}

enum bisection_state course_state(const struct course *c)
{
    return c->phase;
}

bool course_is_over(const struct course *c)
{
    return c->phase == BISECTION_DONE || c->phase == BISECTION_CANCELED;
}

bool course_is_when_idle(const struct course *c)
{
    return c->when_idle;
}

enum err_code course_want(struct course *c, struct err *e)
{
    if (!c->when_idle)
        return ERR_OK;
    c->when_idle = false;
    return store_bisection_set_when_idle(c->g->store, c->id.text, false, e);
}

bool course_is_resolving(const struct course *c)
{
    return c->phase == BISECTION_RESOLVING;
}

static void changed(const struct course *c)
{
    c->g->changed(c->g->self, c->id.text);
}

/* -- documents -- */

static double seconds_at(const struct course *c, struct mono now)
{
    return (double)(c->used_ns + now.ns - c->mark.ns) / (double)NS_PER_S;
}

/* What it waits for or does, where no worker has told. Caller frees; may be NULL. */
static char *activity_now(const struct course *c)
{
    if (c->phase == BISECTION_QUEUED)
        return mem_dup("waiting for its turn");
    if (c->phase == BISECTION_RESOLVING)
        return mem_dup(c->resolver && resolver_progress(c->resolver)
                           ? resolver_progress(c->resolver)
                           : "reading the history");
    if (c->activity)
        return mem_dup(c->activity);
    if (c->has_no_worker)
        return mem_printf("waiting for a worker of platform %s", c->request->platform);
    return c->away ? mem_dup("choosing what to do next") : NULL;
}

json *course_document(struct course *c, struct mono now)
{
    if (!c->document)
        c->document =
            document_without_search(c->request, c->id.text, c->phase, VERDICT_NONE, NULL, 0);
    AUTO(mem_free) char *activity = activity_now(c);
    document_stamp(c->document, c->id.text, c->phase, seconds_at(c, now), activity);
    return json_keep(c->document);
}

void course_activity(struct course *c, const char *text)
{
    AUTO(buf_fini) struct buf clean = {0};

    if (text) /* a worker has it, and is at work */
        c->explain_until.ns = mono_now().ns + EXPLAINER_WAIT_NS;
    if (text)
        text_clean(&clean, text, strlen(text), MAX_ACTIVITY_BYTES);
    if (text && c->activity && strcmp(c->activity, buf_str(&clean)) == 0)
        return;
    mem_free(c->activity);
    c->activity = text ? mem_dup(buf_str(&clean)) : NULL;
    changed(c);
}

/* -- ends -- */

/* Stores the document as the verdict, and the state. */
static enum err_code end(struct course *c, enum bisection_state state, struct err *e)
{
    struct mono now = mono_now();
    const struct store_end {
        struct store *s;
        const char *id;
    } at = {c->g->store, c->id.text};

    if (course_note_time(c, now, e))
        return e->code;
    c->phase = state;
    AUTO(json_free) json *document = course_document(c, now);
    const char *message = json_str(json_at(document, "message"), NULL);
    const char *verdict = json_str(json_at(document, "verdict"), "none");
    if (store_task_cancel_all(at.s, at.id, utc_now(), e) ||
        store_verdict_put(at.s, at.id, document, e) ||
        store_bisection_set_state(at.s, at.id, state, message, utc_now(), e))
        return err_wrap(e, "bisection %s: store the verdict", at.id);
    LOG(LOG_INFO, "bisection over", "bisection=%s state=%s verdict=%s seconds=%.1f", at.id,
        bisection_state_name(state), verdict, json_num(json_pointer(document, "/cost/seconds"), 0));
    changed(c);
    return ERR_OK;
}

static enum err_code end_without_search(struct course *c, enum bisection_state state,
                                        enum verdict_kind kind, const char *message, struct err *e)
{
    resolver_free(TAKE(c->resolver));
    json_free(c->document);
    c->document = document_without_search(c->request, c->id.text, state, kind, message, 0);
    return end(c, state, e);
}

static enum err_code fail(struct course *c, const struct err *why, struct err *e)
{
    AUTO(mem_free)
    char *message = mem_printf("%s%s%s", why->text, why->hint[0] ? "; " : "", why->hint);

    AUTO(buf_fini) struct buf quoted = {0};

    LOG(LOG_WARN, "bisection failed", "bisection=%s error=%s", c->id.text,
        quote(&quoted, why->text));
    return end_without_search(c, BISECTION_DONE, VERDICT_FAILED, message, e);
}

/* -- explaining -- */

static struct explained explained_of(const struct course *c)
{
    return (struct explained){.store = c->g->store,
                              .bisection = c->id.text,
                              .request = c->request,
                              .range = c->range,
                              .document = c->document};
}

/* The search has come to its end: so has the bisection, unless there is something to explain. */
static enum err_code finish(struct course *c, struct err *e)
{
    AUTO(json_free) json *document = course_document(c, mono_now());
    struct explained x = explained_of(c);
    bool has_begun = false;

    if (!c->is_canceled && explainer_begin(&x, &has_begun, &c->explain_task, e))
        return e->code;
    if (!has_begun)
        return end(c, c->is_canceled ? BISECTION_CANCELED : BISECTION_DONE, e);
    c->is_explaining = true;
    c->explain_until.ns = mono_now().ns + EXPLAINER_WAIT_NS;
    c->g->queued(c->g->self);
    return store_verdict_put(c->g->store, c->id.text, document, e);
}

/* Ends with an explanation, or with the reason why there is none. */
static enum err_code end_explained(struct course *c, const char *why_not, struct err *e)
{
    struct explained x = explained_of(c);

    if (why_not ? explainer_fail(&x, why_not, e) : explainer_settle(&x, e))
        return e->code;
    return end(c, BISECTION_DONE, e);
}

static enum err_code tick_explaining(struct course *c, struct mono now, struct err *e)
{
    int64_t budget_ns = c->request->budget_ns;

    if (budget_ns > 0 && c->used_ns + now.ns - c->mark.ns >= budget_ns)
        return end_explained(c, "the time budget is used up", e);
    if (now.ns >= c->explain_until.ns)
        return end_explained(c, "no worker took it up in time", e);
    if (now.ns - c->mark.ns >= NOTE_PERIOD_NS)
        return course_note_time(c, now, e);
    return ERR_OK;
}

/* -- steps -- */

void course_push(struct course *c, struct record *r)
{
    c->pending = mem_resize(c->pending, c->n_pending + 1, sizeof(*c->pending));
    c->pending[c->n_pending++] = r;
}

static struct record *shift(struct course *c)
{
    struct record *r = c->pending[0];

    c->n_pending--;
    memmove(c->pending, c->pending + 1, c->n_pending * sizeof(*c->pending));
    return r;
}

/* A task that is there already was issued by this very step, in a life that lost its marks. */
static enum err_code issue(struct course *c, const struct task_spec *spec, int64_t seq,
                           struct err *e)
{
    AUTO(json_free) json *o = task_spec_to_json(spec);
    struct task_new t = {.bisection = c->id.text, .after_seq = seq, .spec = spec};
    struct id id;

    enum err_code code = store_task_insert(c->g->store, &t, utc_now(), &id, e);
    if (code == ERR_CONFLICT)
        LOG(LOG_INFO, "task known", "bisection=%s ordinal=%u", c->id.text, (unsigned)spec->ordinal);
    else if (code)
        return code;
    else
        LOG(LOG_INFO, "task queued", "bisection=%s task=%s ordinal=%u builds=%u runs=%u",
            c->id.text, id.text, (unsigned)spec->ordinal, (unsigned)spec->n_builds,
            (unsigned)spec->n_runs);
    return store_decision_put(c->g->store, c->id.text, spec->ordinal, seq, o, e);
}

static enum err_code apply(struct course *c, const struct step *s, struct err *e)
{
    struct store *store = c->g->store;
    const struct effects *f = &s->effects;

    if (store_posterior_put(store, c->id.text, s->record->seq, s->posterior, e))
        return e->code;
    for (size_t i = 0; i < f->n_issue; i++)
        if (issue(c, f->issue[i], s->record->seq, e))
            return e->code;
    for (size_t i = 0; i < f->n_cancel; i++)
        if (store_task_cancel(store, c->id.text, f->cancel[i], utc_now(), e))
            return e->code;
    if (f->n_issue)
        c->g->queued(c->g->self);
    return f->is_finished ? finish(c, e) : ERR_OK;
}

/* Takes the step's outcome in, and frees it. */
static enum err_code settle(struct course *c, struct step *step, struct err *e)
{
    AUTO(step_free) struct step *s = step;

    c->state = TAKE(s->state);
    json_free(c->document);
    c->document = TAKE(s->document);
    changed(c);
    if (apply(c, s, e))
        return err_wrap(e, "bisection %s: apply event %" PRId64, c->id.text, s->record->seq);
    return ERR_OK;
}

static void job_run(struct job *j)
{
    step_run((struct step *)j);
}

static void job_done(struct job *j)
{
    struct step *s = (struct step *)j;

    if (s->course)
        s->course->has_returned = true;
    else
        step_free(s);
}

enum err_code course_pump(struct course *c, struct err *e)
{
    while (c->n_pending && c->state && !course_is_over(c) && !c->is_explaining) {
        struct step *s = step_new(c, TAKE(c->state), shift(c));

        if (c->range->n > INLINE_COMMITS) {
            s->job.run = job_run;
            s->job.done = job_done;
            c->away = s;
            c->has_returned = false;
            pool_submit(c->g->pool, &s->job);
            return ERR_OK;
        }
        step_run(s);
        if (settle(c, s, e))
            return e->code;
    }
    return ERR_OK;
}

/* Stores the event and steps it. Takes the record over. */
static enum err_code happen(struct course *c, struct record *record, struct err *e)
{
    AUTO(record_free) struct record *r = record;

    if (course_is_over(c) || c->is_explaining)
        return ERR_OK;
    if (record_append(r, c->g->store, c->id.text, utc_now(), e) ||
        course_note_time(c, mono_now(), e))
        return err_wrap(e, "bisection %s", c->id.text);
    course_push(c, TAKE(r));
    return course_pump(c, e);
}

/* -- what happens -- */

static enum err_code count_workers(struct course *c, struct mono now, struct err *e)
{
    uint32_t n = 0;
    const struct ground *g = c->g;

    c->capacity_due.ns = now.ns + CAPACITY_PERIOD_NS;
    if (store_worker_count(g->store, c->request->platform, utc_now(), &n, e))
        return e->code;
    if (g->n_local > n && strcmp(g->local_platform, c->request->platform) == 0)
        n = g->n_local;
    if (c->has_no_worker != (n == 0))
        changed(c);
    c->has_no_worker = n == 0;
    if (!n || n == c->n_workers)
        return ERR_OK;
    c->n_workers = n;
    return happen(c, record_capacity(n), e);
}

static enum err_code begin(struct course *c, const struct packed_range *packed, struct err *e)
{
    struct record *started = NULL;
    struct store *s = c->g->store;

    if (store_range_put_packed(s, c->id.text, packed, e) ||
        store_bisection_set_state(s, c->id.text, BISECTION_RUNNING, NULL, utc_now(), e) ||
        earlier_evidence(s, c->request, c->range, &started, e))
        return e->code;
    c->phase = BISECTION_RUNNING;
    LOG(LOG_INFO, "bisection running",
        "bisection=%s candidates=%u samples_reused=%zu builds_reused=%zu verifications_known=%zu",
        c->id.text, (unsigned)c->range->n_candidates, started->event.n_samples,
        started->event.n_builds, started->event.n_verifications);
    if (happen(c, started, e))
        return e->code;
    return count_workers(c, mono_now(), e);
}

static enum err_code start_reading(struct course *c, struct err *e)
{
    AUTO(buf_fini) struct buf answer = {0};

    resolver_take(c->resolver, &answer);
    resolver_free(TAKE(c->resolver));
    return reading_start(c->g->pool, c->request, &answer, &c->reading, e);
}

static enum err_code check_size(const struct course *c, struct err *e)
{
    if (c->range->n_candidates <= c->g->max_range)
        return ERR_OK;
    err_set(e, ERR_LIMIT, "the range has %u commits, over the limit of %u",
            (unsigned)c->range->n_candidates, (unsigned)c->g->max_range);
    return err_hint(e, "raise limits.range in the configuration");
}

static enum err_code take_range(struct course *c, struct err *e)
{
    AUTO(packed_range_fini) struct packed_range packed = {0};
    struct err why = {0};

    if (reading_take(TAKE(c->reading), &c->range, &packed, &c->state, &why) || check_size(c, &why))
        return fail(c, &why, e);
    return begin(c, &packed, e);
}

enum err_code course_resolve(struct course *c, struct err *e)
{
    struct resolver_question q = {
        .data_dir = store_data_dir(c->g->store), .bisection = c->id.text, .request = c->request};
    struct err why = {0};

    if (c->phase != BISECTION_QUEUED)
        return ERR_OK;
    if (store_bisection_set_state(c->g->store, c->id.text, BISECTION_RESOLVING, NULL, utc_now(), e))
        return e->code;
    c->phase = BISECTION_RESOLVING;
    changed(c);
    if (resolver_start(c->g->loop, &q, &c->resolver, &why))
        return fail(c, &why, e);
    return ERR_OK;
}

static enum err_code check_budget(struct course *c, struct mono now, struct err *e)
{
    int64_t budget_ns = c->request->budget_ns;

    if (c->has_budget_ended || budget_ns <= 0 || c->used_ns + now.ns - c->mark.ns < budget_ns)
        return ERR_OK;
    c->has_budget_ended = true;
    LOG(LOG_INFO, "budget used up", "bisection=%s", c->id.text);
    return happen(c, record_plain(EVENT_BUDGET), e);
}

enum err_code course_tick(struct course *c, struct mono now, struct err *e)
{
    if (c->resolver && resolver_is_done(c->resolver) && start_reading(c, e))
        return e->code;
    if (c->reading && reading_is_done(c->reading) && take_range(c, e))
        return e->code;
    if (c->away && c->has_returned) {
        if (settle(c, TAKE(c->away), e) || course_pump(c, e))
            return e->code;
    }
    if (c->phase != BISECTION_RUNNING)
        return ERR_OK;
    if (c->is_explaining)
        return tick_explaining(c, now, e);
    if (check_budget(c, now, e))
        return e->code;
    if (now.ns >= c->capacity_due.ns && count_workers(c, now, e))
        return e->code;
    if (now.ns - c->mark.ns >= NOTE_PERIOD_NS)
        return course_note_time(c, now, e);
    return ERR_OK;
}

enum err_code course_note_time(struct course *c, struct mono now, struct err *e)
{
    int64_t ns = now.ns - c->mark.ns;

    if (course_is_over(c))
        return ERR_OK;
    if (store_bisection_use(c->g->store, c->id.text, ns, e))
        return e->code;
    c->used_ns += ns;
    c->mark = now;
    return ERR_OK;
}

enum err_code course_result(struct course *c, uint32_t ordinal, const char *task, struct err *e)
{
    struct task_result *result;

    if (c->is_explaining)
        return ordinal == c->explain_task ? end_explained(c, NULL, e) : ERR_OK;
    if (store_result_load(c->g->store, task, &result, e))
        return err_wrap(e, "bisection %s: result of task %s", c->id.text, task);
    return happen(c, record_result(ordinal, task, result), e);
}

enum err_code course_given_up(struct course *c, uint32_t ordinal, const char *reason, struct err *e)
{
    if (c->is_explaining)
        return ordinal == c->explain_task ? end_explained(c, reason, e) : ERR_OK;
    return happen(c, record_given_up(ordinal, reason ? reason : ""), e);
}

enum err_code course_cancel(struct course *c, struct err *e)
{
    if (course_is_over(c) || c->is_canceled)
        return ERR_OK;
    if (c->is_explaining)
        return end_explained(c, "it was canceled", e);
    c->is_canceled = true;
    LOG(LOG_INFO, "bisection canceled", "bisection=%s", c->id.text);
    if (c->phase != BISECTION_RUNNING)
        return end_without_search(c, BISECTION_CANCELED, VERDICT_NONE,
                                  "canceled before anything was measured", e);
    return happen(c, record_plain(EVENT_CANCEL), e);
}
