/* SPDX-License-Identifier: Apache-2.0 */
/* A course taken up from the store. */
#include "app/course_state.h"
#include "app/explainer.h"
#include "app/replay.h"
#include "app/step.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/derived.h"
#include "store/explanations.h"
#include "store/tasks.h"
#include <inttypes.h>

/* What an event that was stepped before means for us. */
static void recall(struct course *c, const struct record *r)
{
    c->has_budget_ended |= r->event.kind == EVENT_BUDGET;
    c->is_canceled |= r->event.kind == EVENT_CANCEL;
    if (r->event.kind == EVENT_CAPACITY)
        c->n_workers = r->event.n_workers;
}

static void absorb(struct course *c, const struct record *r, const struct task_list *tasks)
{
    bisection_absorb(c->state, &r->event);
    for (size_t i = 0; i < tasks->n; i++)
        if (tasks->items[i]->after_seq == r->seq)
            bisection_issued(c->state, tasks->items[i]->spec);
}

/* Events from the first on that have their mark. */
static enum err_code count_stepped(struct course *c, size_t *out, struct err *e)
{
    AUTO(json_free) json *marks = NULL;
    size_t n = 0;

    if (store_posterior_list(c->g->store, c->id.text, &marks, e))
        return e->code;
    while (n < json_len(marks) &&
           json_int(json_at(json_item(marks, n), "seq"), 0) == (int64_t)n + 1)
        n++;
    *out = n;
    return ERR_OK;
}

static enum err_code fold(struct course *c, const struct event_list *events,
                          const struct task_list *tasks, struct err *e)
{
    size_t n_stepped = 0;

    if (count_stepped(c, &n_stepped, e))
        return e->code;
    for (size_t i = 0; i < events->n; i++) {
        AUTO(record_free) struct record *r = NULL;
        if (record_load(c->g->store, &events->items[i], &r, e))
            return e->code;
        recall(c, r);
        if (i < n_stepped)
            absorb(c, r, tasks);
        else
            course_push(c, TAKE(r));
    }
    for (size_t i = 0; i < tasks->n; i++)
        if (tasks->items[i]->life.state == TASK_CANCELED &&
            tasks->items[i]->after_seq <= (int64_t)n_stepped)
            bisection_dropped(c->state, tasks->items[i]->ordinal);
    LOG(LOG_INFO, "bisection resumed", "bisection=%s events=%zu to_step=%zu", c->id.text, events->n,
        c->n_pending);
    return ERR_OK;
}

static enum err_code rebuild(struct course *c, struct err *e)
{
    AUTO(event_list_fini) struct event_list events = {0};
    AUTO(task_list_fini) struct task_list tasks = {0};
    struct store *s = c->g->store;

    if (store_range_get(s, c->id.text, &c->range, e) ||
        store_event_list(s, c->id.text, 0, &events, e) ||
        store_task_list(s, c->id.text, 0, -1, &tasks, e) ||
        bisection_new(c->request, c->range, &c->state, e) || fold(c, &events, &tasks, e))
        return e->code;
    c->document = step_document(c->state);
    return course_pump(c, e);
}

/* The search of an earlier life has ended, its verdict is stored: nothing is to be stepped. */
static enum err_code go_on_explaining(struct course *c, const struct id *task, struct err *e)
{
    AUTO(task_row_free) struct task_row *row = NULL;

    if (store_range_get(c->g->store, c->id.text, &c->range, e) ||
        store_task_load(c->g->store, task->text, &row, e) ||
        store_verdict_get(c->g->store, c->id.text, &c->document, e))
        return e->code;
    if (!c->document && replay_verdict(c->g->store, c->id.text, &c->document, e))
        return e->code;
    c->explain_task = row->ordinal;
    c->is_explaining = true;
    c->explain_until.ns = mono_now().ns + EXPLAINER_WAIT_NS;
    return ERR_OK;
}

static enum err_code take_up(struct course *c, struct err *e)
{
    AUTO(explanation_row_fini) struct explanation_row row = {0};
    enum err_code code = store_explanation_find(c->g->store, c->id.text, &row, e);

    if (code && code != ERR_NOT_FOUND)
        return code;
    *e = (struct err){0};
    return code ? rebuild(c, e) : go_on_explaining(c, &row.task, e);
}

enum err_code course_load(const struct ground *g, const struct bisection_row *row,
                          struct course **out, struct err *e)
{
    AUTO(course_free) struct course *c = mem_alloc(sizeof(*c));
    AUTO(json_free) json *copy = request_to_json(row->request);

    c->g = g;
    c->id = row->id;
    c->when_idle = row->when_idle;
    c->used_ns = row->used_ns;
    c->mark = mono_now();
    c->n_workers = 1;
    c->phase = row->state == BISECTION_RUNNING ? BISECTION_RUNNING : BISECTION_QUEUED;
    if (request_from_json(copy, &c->request, e) || (c->phase == BISECTION_RUNNING && take_up(c, e)))
        return err_wrap(e, "bisection %s", row->id.text);
    *out = TAKE(c);
    return ERR_OK;
}
