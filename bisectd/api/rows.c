/* SPDX-License-Identifier: Apache-2.0 */
#include "api/rows.h"
#include "base/mem.h"
#include <inttypes.h>
#include <stdio.h>

json *json_time(struct utc t)
{
    char text[32];

    if (!t.ns)
        return json_new_null();
    utc_format(t, text);
    return json_new_string(text);
}

json *json_cursor(int64_t at)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, at);
    return json_new_string(text);
}

/* An imported point is of no bisection, and had no seed. */
static json *json_id(const struct id *id)
{
    return id->text[0] ? json_new_string(id->text) : json_new_null();
}

json *json_sample(const struct sample_row *s)
{
    json *o = json_new_object();
    json *values = json_new_array();
    char seed[24];

    for (size_t i = 0; i < s->run.n_values; i++)
        json_push(values, json_new_real(s->run.values[i]));
    snprintf(seed, sizeof(seed), "%" PRIu64, s->seed);
    json_put(o, "seq", json_new_int(s->seq));
    json_put(o, "bisection", json_id(&s->bisection));
    json_put(o, "task", json_id(&s->task));
    json_put(o, "project", json_new_string(s->project));
    json_put(o, "metric", json_new_string(s->metric));
    json_put(o, "revision", json_new_string(s->revision.hex));
    json_put(o, "reverted",
             revision_is_set(&s->reverted) ? json_new_string(s->reverted.hex) : json_new_null());
    json_put(o, "fixups", json_new_string(s->fixups));
    json_put(o, "run", json_new_int(s->run.run));
    json_put(o, "number", json_new_int(s->number));
    json_put(o, "attempt", json_new_int(s->run.attempt));
    json_put(o, "seed", s->task.text[0] ? json_new_string(seed) : json_new_null());
    json_put(o, "status", json_new_string(run_status_name(s->run.status)));
    json_put(o, "reason", json_new_string(s->run.reason));
    json_put(o, "value", json_new_real(s->run.value));
    json_put(o, "values", values);
    json_put(o, "at", json_time(s->run.at));
    json_put(o, "seconds", json_new_real(s->run.seconds));
    json_put(o, "stored", json_time(s->stored));
    json_put(o, "environment", environment_to_json(&s->environment));
    return o;
}

json *json_build(const struct build_row *b)
{
    json *o = json_new_object();

    json_put(o, "revision", json_new_string(b->build.revision.hex));
    json_put(o, "reverted",
             revision_is_set(&b->build.revert) ? json_new_string(b->build.revert.hex)
                                               : json_new_null());
    json_put(o, "fixups", json_new_string(b->fixups));
    json_put(o, "status", json_new_string(build_status_name(b->build.status)));
    json_put(o, "reason", json_new_string(b->build.reason));
    json_put(o, "artifact",
             b->build.artifact[0] ? json_new_string(b->build.artifact) : json_new_null());
    json_put(o, "fresh", json_new_bool(b->fresh));
    json_put(o, "seconds", json_new_real(b->build.seconds));
    return o;
}

json *json_task(const struct task_row *t, const struct build_list *builds)
{
    json *o = json_new_object();
    json *list = json_new_array();

    for (size_t i = 0; i < builds->n; i++)
        json_push(list, json_build(&builds->items[i]));
    json_put(o, "id", json_new_string(t->id.text));
    json_put(o, "bisection", json_new_string(t->bisection.text));
    json_put(o, "ordinal", json_new_int(t->ordinal));
    json_put(o, "after_seq", json_new_int(t->after_seq));
    json_put(o, "state", json_new_string(task_state_name(t->life.state)));
    json_put(o, "tries", json_new_int(t->life.tries));
    json_put(o, "deaths", json_new_int(t->life.deaths));
    json_put(o, "platform", json_new_string(t->platform));
    json_put(o, "worker", json_new_string(t->worker));
    json_put(o, "host", json_new_string(t->host));
    json_put(o, "activity", json_new_string(t->activity));
    json_put(o, "message", json_new_string(t->message));
    json_put(o, "has_log", json_new_bool(t->has_log));
    json_put(o, "created", json_time(t->created));
    json_put(o, "ended", json_time(t->ended));
    json_put(o, "spec", task_spec_to_json(t->spec));
    json_put(o, "builds", list);
    return o;
}

enum err_code page_size(const struct exchange *x, const struct service *s, int64_t *out,
                        struct err *e)
{
    int64_t asked;

    if (exchange_query_int(x, "limit", 1, INT32_MAX, PAGE_DEFAULT, &asked, e))
        return e->code;
    *out = asked < s->max_page ? asked : s->max_page;
    return ERR_OK;
}

void answer_samples(struct exchange *x, const struct service *s, const struct sample_filter *filter)
{
    struct err e = {0};
    struct sample_filter f = *filter;
    int64_t limit = 0;
    AUTO(sample_list_fini) struct sample_list rows = {0};

    if (page_size(x, s, &limit, &e) ||
        exchange_query_int(x, "after", 0, INT64_MAX, 0, &f.after, &e)) {
        answer_error(x, &e);
        return;
    }
    f.limit = (size_t)limit;
    if (store_sample_list(s->store, &f, &rows, &e)) {
        answer_error(x, &e);
        return;
    }
    json *items = json_new_array();
    for (size_t i = 0; i < rows.n; i++)
        json_push(items, json_sample(&rows.items[i]));
    answer_page(x, items, rows.has_more ? json_cursor(rows.items[rows.n - 1].seq) : NULL);
}
