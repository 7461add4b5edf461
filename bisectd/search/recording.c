/* SPDX-License-Identifier: Apache-2.0 */
#include "search/recording.h"

#include <assert.h>

static void add_line(struct buf *out, json *line)
{
    json_dump(line, JSON_COMPACT, out);
    buf_addc(out, '\n');
    json_free(line);
}

void recording_question(struct buf *out, const struct request *request, const struct range *range,
                        uint32_t n_workers, bool has_verification)
{
    json *line = json_put(json_new_object(), "request", request_to_json(request));

    json_put(line, "range", range_to_json(range));
    json_put(line, "workers", json_new_int(n_workers));
    add_line(out, json_put(line, "verify", json_new_bool(has_verification)));
}

void recording_begin(struct buf *out, const struct task_spec *task, const char *worker,
                     const char *host)
{
    json *line = json_put(json_new_object(), "begin", json_new_int(task->ordinal));

    json_put(line, "worker", json_new_string(worker));
    add_line(out, json_put(line, "host", json_new_string(host)));
}

static void put_started(json *line, const struct event *event)
{
    json *samples = json_new_array(), *builds = json_new_array();

    for (size_t i = 0; i < event->n_samples; i++) {
        const struct stored_sample *s = &event->samples[i];
        json *o = json_put(json_new_object(), "revision", json_new_string(s->revision.hex));
        json_put(o, "value", json_new_real(s->value));
        json_put(o, "host", json_new_string(s->host));
        json_put(o, "at_ns", json_new_int(s->at.ns));
        json_put(o, "seconds", json_new_real(s->seconds));
        json_push(samples, json_put(o, "number", json_new_int(s->number)));
    }
    for (size_t i = 0; i < event->n_builds; i++) {
        const struct stored_build *b = &event->builds[i];
        json *o = json_put(json_new_object(), "revision", json_new_string(b->revision.hex));
        json_push(builds, json_put(o, "artifact", json_new_string(b->artifact)));
    }
    json_put(json_put(line, "samples", samples), "builds", builds);
}

static void put_capacity(json *line, const struct event *event)
{
    json_put(line, "n_workers", json_new_int(event->n_workers));
}

static void put_result(json *line, const struct event *event)
{
    json_put(line, "ordinal", json_new_int(event->ordinal));
    json_put(line, "worker", json_new_string(event->result->environment.worker));
    json_put(line, "result", task_result_to_json(event->result));
}

static void (*const put[EVENT_CANCEL + 1])(json *line, const struct event *event) = {
    [EVENT_STARTED] = put_started,
    [EVENT_CAPACITY] = put_capacity,
    [EVENT_RESULT] = put_result,
};

void recording_event(struct buf *out, const struct bisection *b, const struct event *event,
                     const struct effects *effects)
{
    json *line = json_put(json_new_object(), "event", json_new_string(event_names[event->kind]));
    json *issue = json_new_array(), *cancel = json_new_array();

    assert(put[event->kind]);
    put[event->kind](line, event);
    for (size_t i = 0; i < effects->n_issue; i++)
        json_push(issue, task_spec_to_json(effects->issue[i]));
    for (size_t i = 0; i < effects->n_cancel; i++)
        json_push(cancel, json_new_int(effects->cancel[i]));
    json_put(json_put(line, "issue", issue), "cancel", cancel);
    json_put(line, "posterior", bisection_posterior_json(b));
    add_line(out, json_put(line, "finished", json_new_bool(effects->is_finished)));
}

void recording_verdict(struct buf *out, const struct bisection *b)
{
    AUTO(verdict_fini) struct verdict v = {0};

    bisection_verdict(b, &v);
    add_line(out, json_put(json_new_object(), "verdict", verdict_to_json(&v)));
}
