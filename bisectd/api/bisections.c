/* SPDX-License-Identifier: Apache-2.0 */
/* /bisections and what hangs below one; /comparisons. */
#include "store/bisections.h"
#include "api/route.h"
#include "api/rows.h"
#include "base/mem.h"
#include "store/explanations.h"
#include "store/samples.h"
#include "store/tasks.h"

static void create(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(mem_free) char *id = NULL;
    bool has_joined = false;
    enum sender sender = x->is_private           ? SENDER_SELF
                         : x->role == ROLE_ADMIN ? SENDER_OF_COMMANDS
                                                 : SENDER_OF_NAMES;

    if (s->bisection_create(s->self, x->json, sender, &id, &has_joined, &e)) {
        answer_error(x, &e);
        return;
    }
    json *o = json_put(json_new_object(), "id", json_new_string(id));
    answer_json(x, has_joined ? 200 : 201, json_put(o, "joined", json_new_bool(has_joined)));
}

void bisection_create(struct exchange *x, const struct service *s)
{
    struct err e = {0};

    if (!x->json)
        err_set(&e, ERR_INVALID,
                "a bisection needs a JSON body with project, metric, good and bad");
    else if (json_bool(json_at(x->json, "comparison"), false))
        err_set(&e, ERR_INVALID, "comparison: goes to /api/v1/comparisons");
    if (e.code)
        answer_error(x, &e);
    else
        create(x, s);
}

void comparison_create(struct exchange *x, const struct service *s)
{
    struct err e = {0};

    if (json_is_object(x->json)) {
        json_put(x->json, "comparison", json_new_bool(true));
        create(x, s);
        return;
    }
    err_set(&e, ERR_INVALID, "a comparison needs a JSON body with project, metric, base and head");
    answer_error(x, &e);
}

static json *bisection_item(const struct bisection_row *b)
{
    json *o = json_new_object();

    json_put(o, "id", json_new_string(b->id.text));
    json_put(o, "state", json_new_string(bisection_state_name(b->state)));
    json_put(o, "verdict",
             b->verdict ? json_keep(json_at(b->verdict, "verdict")) : json_new_null());
    json_put(o, "project", json_new_string(b->project));
    json_put(o, "metric", json_new_string(b->metric));
    json_put(o, "platform", json_new_string(b->platform));
    json_put(o, "created", json_time(b->created));
    json_put(o, "finished", json_time(b->finished));
    json_put(o, "seconds", json_new_real((double)b->used_ns / (double)NS_PER_S));
    json_put(o, "message",
             b->verdict ? json_keep(json_at(b->verdict, "message")) : json_new_string(b->message));
    return o;
}

static void list(struct exchange *x, const struct service *s, enum bisection_kind kind)
{
    struct err e = {0};
    int64_t limit;
    AUTO(bisection_list_fini) struct bisection_list rows = {0};

    if (page_size(x, s, &limit, &e) ||
        store_bisection_list(s->store, kind, (size_t)limit, exchange_query(x, "after"), &rows,
                             &e)) {
        answer_error(x, &e);
        return;
    }
    json *items = json_new_array();
    for (size_t i = 0; i < rows.n; i++)
        json_push(items, bisection_item(rows.items[i]));
    answer_page(x, items, rows.has_more ? json_new_string(rows.items[rows.n - 1]->id.text) : NULL);
}

void bisection_list(struct exchange *x, const struct service *s)
{
    list(x, s, KIND_BISECTION);
}

void comparison_list(struct exchange *x, const struct service *s)
{
    list(x, s, KIND_COMPARISON);
}

/* What compare prints, and where it stands. */
static enum err_code comparison_document(const json *document, json **out, struct err *e)
{
    static const char *const kept[] = {"id",         "state", "min_effect",
                                       "confidence", "seed",  "activity"};
    AUTO(verdict_free) struct verdict *v = NULL;

    if (verdict_from_json(document, &v, e))
        return e->code;
    if (!v->is_comparison)
        return err_set(e, ERR_NOT_FOUND, "%s is no comparison", v->id);
    *out = comparison_to_json(v);
    for (size_t i = 0; i < LEN(kept); i++)
        if (json_at(document, kept[i]))
            json_put(*out, kept[i], json_keep(json_at(document, kept[i])));
    return ERR_OK;
}

void comparison_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(json_free) json *document = NULL;
    json *out = NULL;

    if (s->bisection_show(s->self, x->args[0], &document, &e) ||
        comparison_document(document, &out, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, out);
}

void bisection_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    json *document = NULL;

    if (s->bisection_show(s->self, x->args[0], &document, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, document);
}

void bisection_cancel(struct exchange *x, const struct service *s)
{
    struct err e = {0};

    if (s->bisection_cancel(s->self, x->args[0], &e))
        answer_error(x, &e);
    else
        bisection_show(x, s);
}

void bisection_events(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(json_free) json *document = NULL;

    if (s->bisection_show(s->self, x->args[0], &document, &e))
        answer_error(x, &e);
    else
        answer_stream(x, x->args[0]);
}

/* Why there is nothing to show, in words. */
static enum err_code no_explanation(const struct bisection_row *row, bool is_open, struct err *e)
{
    bool is_over = row->state == BISECTION_DONE || row->state == BISECTION_CANCELED;

    if (is_open || !is_over)
        err_set(e, ERR_NOT_FOUND, "bisection %s is not explained yet", row->id.text);
    else
        err_set(e, ERR_NOT_FOUND, "bisection %s has no explanation", row->id.text);
    if (is_open || !is_over)
        return err_hint(e, "wait for its end");
    return err_hint(e, "a culprit is explained, unless the metric is a pass or fail or the "
                       "bisection was asked not to");
}

static enum err_code find_explanation(const struct exchange *x, const struct service *s,
                                      json **out, struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *row = NULL;
    AUTO(explanation_row_fini) struct explanation_row found = {0};

    if (store_bisection_load(s->store, x->args[0], &row, e))
        return e->code;
    enum err_code code = store_explanation_find(s->store, x->args[0], &found, e);
    if (code && code != ERR_NOT_FOUND)
        return code;
    if (!found.document)
        return no_explanation(row, code == ERR_OK, e);
    *out = TAKE(found.document);
    return ERR_OK;
}

void bisection_explain(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    json *document = NULL;

    if (find_explanation(x, s, &document, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, document);
}

void bisection_replay(struct exchange *x, const struct service *s)
{
    struct err e = {0};

    if (!x->work) {
        if (s->bisection_replay(s->self, x->args[0], &x->work, &e)) {
            answer_error(x, &e);
            return;
        }
        x->work->waiter = x;
        s->work_start(s->self, x->work);
    }
    exchange_await(x);
}

/* An unknown bisection is an error, not an empty list. */
static enum err_code check_bisection(const struct exchange *x, const struct service *s,
                                     struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *row = NULL;

    return store_bisection_load(s->store, x->args[0], &row, e);
}

void bisection_samples(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct sample_filter filter = {.bisection = x->args[0]};

    if (check_bisection(x, s, &e))
        answer_error(x, &e);
    else
        answer_samples(x, s, &filter);
}

static enum err_code task_with_builds(const struct service *s, const struct task_row *t, json **out,
                                      struct err *e)
{
    struct build_filter filter = {.task = t->id.text};
    AUTO(build_list_fini) struct build_list builds = {0};

    if (store_build_list(s->store, &filter, &builds, e))
        return e->code;
    *out = json_task(t, &builds);
    return ERR_OK;
}

void bisection_tasks(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    int64_t limit, after;
    AUTO(task_list_fini) struct task_list rows = {0};
    AUTO(json_free) json *items = json_new_array();

    if (check_bisection(x, s, &e) || page_size(x, s, &limit, &e) ||
        exchange_query_int(x, "after", -1, INT32_MAX, -1, &after, &e) ||
        store_task_list(s->store, x->args[0], (size_t)limit, after, &rows, &e)) {
        answer_error(x, &e);
        return;
    }
    for (size_t i = 0; i < rows.n; i++) {
        json *item = NULL;
        if (task_with_builds(s, rows.items[i], &item, &e)) {
            answer_error(x, &e);
            return;
        }
        json_push(items, item);
    }
    answer_page(x, TAKE(items),
                rows.has_more ? json_cursor(rows.items[rows.n - 1]->ordinal) : NULL);
}

void task_show(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(task_row_free) struct task_row *task = NULL;
    json *item = NULL;

    if (store_task_load(s->store, x->args[0], &task, &e) || task_with_builds(s, task, &item, &e))
        answer_error(x, &e);
    else
        answer_json(x, 200, item);
}
