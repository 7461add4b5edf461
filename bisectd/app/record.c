/* SPDX-License-Identifier: Apache-2.0 */
#include "app/record.h"
#include "base/mem.h"
#include "model/range_index.h"
#include "store/results.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_EVENTS = EVENT_CANCEL + 1 };

void record_free(struct record *r)
{
    if (!r)
        return;
    mem_free(r->samples);
    mem_free(r->builds);
    for (size_t i = 0; i < r->n_verifications; i++)
        mem_free(r->verifications[i].builds);
    mem_free(r->verifications);
    mem_free(r->failures);
    strings_fini(&r->reasons);
    strings_fini(&r->hosts);
    strings_fini(&r->sources);
    task_result_free(r->result);
    mem_free(r->task);
    mem_free(r->reason);
    mem_free(r);
}

static struct record *record_new(enum event_kind kind)
{
    struct record *r = mem_alloc(sizeof(*r));

    r->event.kind = kind;
    return r;
}

struct record *record_plain(enum event_kind kind)
{
    return record_new(kind);
}

struct record *record_capacity(uint32_t n_workers)
{
    struct record *r = record_new(EVENT_CAPACITY);

    r->event.n_workers = n_workers;
    return r;
}

struct record *record_result(uint32_t ordinal, const char *task, struct task_result *result)
{
    struct record *r = record_new(EVENT_RESULT);

    r->event.ordinal = ordinal;
    r->event.result = r->result = result;
    r->task = mem_dup(task);
    return r;
}

struct record *record_given_up(uint32_t ordinal, const char *reason)
{
    struct record *r = record_new(EVENT_GIVEN_UP);

    r->event.ordinal = ordinal;
    r->event.reason = r->reason = mem_dup(reason);
    return r;
}

/* -- evidence -- */

static const char *intern(struct strings *list, const char *s)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], s) == 0)
            return list->items[i];
    strings_add(list, s);
    return list->items[list->n - 1];
}

static void take_samples(struct record *r, const struct range_index *range,
                         const struct sample_list *samples)
{
    struct event *ev = &r->event;

    r->samples = mem_array(samples->n + 1, sizeof(*r->samples));
    for (size_t i = 0; i < samples->n; i++) {
        const struct sample_row *row = &samples->items[i];
        if (row->run.status != RUN_OK || range_index_find(range, &row->revision) == UINT32_MAX)
            continue;
        if (row->bisection.text[0]) /* else it was imported */
            intern(&r->sources, row->bisection.text);
        r->samples[ev->n_samples++] = (struct stored_sample){
            .revision = row->revision,
            .value = row->run.value,
            .host = intern(&r->hosts, row->environment.host ? row->environment.host : ""),
            .at = row->run.at,
            .seconds = row->run.seconds > 0 ? row->run.seconds : 0, /* none, if imported */
            .number = row->number,
        };
    }
    ev->samples = r->samples;
}

static struct stored_build stored_build_of(const struct build_result *b)
{
    struct stored_build out = {.revision = b->revision};

    memcpy(out.artifact, b->artifact, sizeof(out.artifact));
    return out;
}

static void take_builds(struct record *r, const struct range_index *range,
                        const struct build_list *builds)
{
    struct event *ev = &r->event;

    r->builds = mem_array(builds->n + 1, sizeof(*r->builds));
    for (size_t i = 0; i < builds->n; i++) {
        const struct build_result *b = &builds->items[i].build;
        if (range_index_find(range, &b->revision) != UINT32_MAX)
            r->builds[ev->n_builds++] = stored_build_of(b);
    }
    ev->builds = r->builds;
}

void verification_list_fini(struct verification_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        task_spec_free(l->items[i].spec);
        task_result_free(l->items[i].result);
    }
    mem_free(l->items);
    *l = (struct verification_list){0};
}

/* NULL: nothing was said of it. */
static const struct build_result *build_of(const struct verification *v, uint32_t build)
{
    for (size_t i = 0; i < v->result->n_builds; i++)
        if (revision_equal(&v->result->builds[i].revision, &v->spec->builds[build].revision))
            return &v->result->builds[i];
    return NULL;
}

/* Has a value and, if that was asked for, a build of its own. */
static bool is_measured(const struct verification *v, uint32_t build)
{
    const struct task_result *r = v->result;
    const struct build_result *b = build_of(v, build);

    if (!b ||
        (b->status != BUILD_OK && (v->spec->builds[build].fresh || b->status != BUILD_REUSED)))
        return false;
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].status == RUN_OK && r->runs[i].run < v->spec->n_runs &&
            v->spec->runs[r->runs[i].run].build == build)
            return true;
    return false;
}

static struct stored_verification *add_verification(struct record *r, const char *bisection,
                                                    size_t n_builds)
{
    r->verifications =
        mem_resize(r->verifications, r->n_verifications + 1, sizeof(*r->verifications));
    struct stored_verification *v = &r->verifications[r->n_verifications++];
    *v = (struct stored_verification){.bisection = intern(&r->sources, bisection),
                                      .n_builds = n_builds,
                                      .builds = mem_array(n_builds + 1, sizeof(*v->builds))};
    r->event.verifications = r->verifications;
    r->event.n_verifications = r->n_verifications;
    return v;
}

/* As the search that asked for it judged it: the suspect and one partner are enough. */
static void take_verification(struct record *r, const struct range_index *range,
                              const struct verification *v)
{
    uint32_t n_partners = 0;

    for (uint32_t i = 1; i < v->spec->n_builds; i++)
        n_partners += is_measured(v, i);
    if (!n_partners || !is_measured(v, 0) ||
        range_index_find(range, &v->spec->builds[0].revision) == UINT32_MAX)
        return;
    struct stored_verification *to = add_verification(r, v->bisection.text, v->spec->n_builds);
    to->is_fresh = v->spec->builds[0].fresh;
    for (uint32_t i = 0; i < v->spec->n_builds; i++) {
        const struct build_result *b = build_of(v, i);
        to->builds[i].revision = v->spec->builds[i].revision;
        if (b)
            to->builds[i] = stored_build_of(b);
    }
}

/* What is known of a commit of the range. */
enum { HAS_VALUE = 1, IS_BUILT = 2, HAS_FAILED = 4 };

static void take_failure(struct record *r, const struct revision *revision, const char *bisection,
                         const char *reason)
{
    r->failures = mem_resize(r->failures, r->n_failures + 1, sizeof(*r->failures));
    r->failures[r->n_failures++] = (struct stored_failure){
        .revision = *revision,
        .bisection = intern(&r->sources, bisection),
        .reason = intern(&r->reasons, reason ? reason : "no reason given"),
    };
}

/* Pre: samples and builds are taken. */
static void take_failures(struct record *r, const struct range_index *range,
                          const struct earlier *from)
{
    uint8_t *known = mem_array((size_t)range_index_size(range) + 1, 1);

    for (size_t i = 0; i < r->event.n_samples; i++)
        known[range_index_find(range, &r->samples[i].revision)] |= HAS_VALUE;
    for (size_t i = 0; i < r->event.n_builds; i++)
        known[range_index_find(range, &r->builds[i].revision)] |= IS_BUILT;
    for (size_t i = 0; i < from->failed.n; i++) {
        const struct build_row *row = &from->failed.items[i];
        uint32_t v = range_index_find(range, &row->build.revision);
        if (v == UINT32_MAX || known[v])
            continue;
        known[v] |= HAS_FAILED;
        take_failure(r, &row->build.revision, row->bisection.text, row->build.reason);
    }
    for (size_t i = 0; i < from->samples.n; i++) {
        const struct sample_row *row = &from->samples.items[i];
        uint32_t v = range_index_find(range, &row->revision);
        if (v == UINT32_MAX || row->run.status != RUN_CANNOT || known[v] & (HAS_VALUE | HAS_FAILED))
            continue;
        known[v] |= HAS_FAILED;
        take_failure(r, &row->revision, row->bisection.text, row->run.reason);
    }
    r->event.failures = r->failures;
    r->event.n_failures = r->n_failures;
    mem_free(known);
}

void earlier_fini(struct earlier *f)
{
    sample_list_fini(&f->samples);
    build_list_fini(&f->builds);
    build_list_fini(&f->failed);
    verification_list_fini(&f->verifications);
}

struct record *record_started(const struct range_index *range, const struct earlier *from)
{
    struct record *r = record_new(EVENT_STARTED);

    take_samples(r, range, &from->samples);
    take_builds(r, range, &from->builds);
    for (size_t i = 0; i < from->verifications.n; i++)
        take_verification(r, range, &from->verifications.items[i]);
    take_failures(r, range, from);
    return r;
}

static json *samples_to_json(const struct record *r)
{
    json *list = json_new_array();

    for (size_t i = 0; i < r->event.n_samples; i++) {
        const struct stored_sample *s = &r->samples[i];
        json *o = json_new_object();
        json_put(o, "revision", json_new_string(s->revision.hex));
        json_put(o, "value", json_new_real(s->value));
        json_put(o, "host", json_new_string(s->host));
        json_put(o, "at_ns", json_new_int(s->at.ns));
        json_put(o, "seconds", json_new_real(s->seconds));
        json_put(o, "number", json_new_int(s->number));
        json_push(list, o);
    }
    return list;
}

static json *builds_to_json(const struct stored_build *builds, size_t n)
{
    json *list = json_new_array();

    for (size_t i = 0; i < n; i++) {
        json *o = json_new_object();
        json_put(o, "revision", json_new_string(builds[i].revision.hex));
        json_put(o, "artifact", json_new_string(builds[i].artifact));
        json_push(list, o);
    }
    return list;
}

static json *verifications_to_json(const struct record *r)
{
    json *list = json_new_array();

    for (size_t i = 0; i < r->n_verifications; i++) {
        const struct stored_verification *v = &r->verifications[i];
        json *o = json_new_object();
        json_put(o, "bisection", json_new_string(v->bisection));
        json_put(o, "fresh", json_new_bool(v->is_fresh));
        json_put(o, "builds", builds_to_json(v->builds, v->n_builds));
        json_push(list, o);
    }
    return list;
}

static json *failures_to_json(const struct record *r)
{
    json *list = json_new_array();

    for (size_t i = 0; i < r->n_failures; i++) {
        const struct stored_failure *f = &r->failures[i];
        json *o = json_new_object();
        json_put(o, "revision", json_new_string(f->revision.hex));
        json_put(o, "bisection", json_new_string(f->bisection));
        json_put(o, "reason", json_new_string(f->reason));
        json_push(list, o);
    }
    return list;
}

static void started_payload(const struct record *r, json *o)
{
    json *sources = json_new_array();

    for (size_t i = 0; i < r->sources.n; i++)
        json_push(sources, json_new_string(r->sources.items[i]));
    json_put(o, "samples", samples_to_json(r));
    json_put(o, "builds", builds_to_json(r->builds, r->event.n_builds));
    json_put(o, "verifications", verifications_to_json(r));
    json_put(o, "failures", failures_to_json(r));
    json_put(o, "sources", sources);
}

static enum err_code sample_from_json(const json *v, struct record *r, struct stored_sample *out,
                                      struct err *e)
{
    const char *revision, *host;
    int64_t number;

    if (json_need_str(v, "revision", &revision, e) || revision_parse(revision, &out->revision, e) ||
        json_need_num(v, "value", &out->value, e) || json_need_str(v, "host", &host, e) ||
        json_need_int(v, "at_ns", &out->at.ns, e) || json_need_int(v, "number", &number, e))
        return e->code;
    if (number < 0 || number > UINT32_MAX)
        return err_set(e, ERR_INVALID, "number %" PRId64 " is out of range", number);
    out->seconds = json_num(json_at(v, "seconds"), 0); /* older stores do not say */
    out->number = (uint32_t)number;
    out->host = intern(&r->hosts, host);
    return ERR_OK;
}

static enum err_code build_from_json(const json *v, struct stored_build *out, struct err *e)
{
    const char *revision, *artifact;

    if (json_need_str(v, "revision", &revision, e) || revision_parse(revision, &out->revision, e) ||
        json_need_str(v, "artifact", &artifact, e))
        return e->code;
    if (strlen(artifact) >= sizeof(out->artifact))
        return err_set(e, ERR_INVALID, "artifact name is too long");
    snprintf(out->artifact, sizeof(out->artifact), "%s", artifact);
    return ERR_OK;
}

static enum err_code verification_from_json(const json *v, struct record *r, struct err *e)
{
    const char *bisection;
    json *builds;

    if (json_need_str(v, "bisection", &bisection, e) || json_need_array(v, "builds", &builds, e))
        return e->code;
    struct stored_verification *to = add_verification(r, bisection, json_len(builds));
    to->is_fresh = json_bool(json_at(v, "fresh"), false);
    for (size_t i = 0; i < json_len(builds); i++)
        if (build_from_json(json_item(builds, i), &to->builds[i], e))
            return err_wrap(e, "build %zu", i);
    return ERR_OK;
}

static enum err_code failure_from_json(const json *v, struct record *r, struct err *e)
{
    struct stored_failure *f = &r->failures[r->n_failures];
    const char *revision, *bisection, *reason;

    if (json_need_str(v, "revision", &revision, e) || revision_parse(revision, &f->revision, e) ||
        json_need_str(v, "bisection", &bisection, e) || json_need_str(v, "reason", &reason, e))
        return e->code;
    f->bisection = intern(&r->sources, bisection);
    f->reason = intern(&r->reasons, reason);
    r->n_failures++;
    return ERR_OK;
}

/* Events that older versions wrote have no such lists. */
static enum err_code list_of(const json *o, const char *key, json **out, struct err *e)
{
    *out = NULL;
    return json_is_null(json_at(o, key)) ? ERR_OK : json_need_array(o, key, out, e);
}

static enum err_code read_later_lists(const json *o, struct record *r, struct err *e)
{
    json *verifications, *failures;

    if (list_of(o, "verifications", &verifications, e) || list_of(o, "failures", &failures, e))
        return e->code;
    for (size_t i = 0; i < json_len(verifications); i++)
        if (verification_from_json(json_item(verifications, i), r, e))
            return err_wrap(e, "verification %zu", i);
    r->failures = mem_array(json_len(failures) + 1, sizeof(*r->failures));
    for (size_t i = 0; i < json_len(failures); i++)
        if (failure_from_json(json_item(failures, i), r, e))
            return err_wrap(e, "failure %zu", i);
    r->event.failures = r->failures;
    r->event.n_failures = r->n_failures;
    return ERR_OK;
}

static enum err_code read_started(const json *o, struct record *r, struct err *e)
{
    json *samples, *builds, *sources;

    if (json_need_array(o, "samples", &samples, e) || json_need_array(o, "builds", &builds, e) ||
        json_need_array(o, "sources", &sources, e))
        return e->code;
    r->samples = mem_array(json_len(samples) + 1, sizeof(*r->samples));
    r->builds = mem_array(json_len(builds) + 1, sizeof(*r->builds));
    for (size_t i = 0; i < json_len(samples); i++)
        if (sample_from_json(json_item(samples, i), r, &r->samples[i], e))
            return err_wrap(e, "sample %zu", i);
    for (size_t i = 0; i < json_len(builds); i++)
        if (build_from_json(json_item(builds, i), &r->builds[i], e))
            return err_wrap(e, "build %zu", i);
    for (size_t i = 0; i < json_len(sources); i++)
        strings_add(&r->sources, json_str(json_item(sources, i), ""));
    if (read_later_lists(o, r, e))
        return e->code;
    r->event.n_samples = json_len(samples);
    r->event.n_builds = json_len(builds);
    r->event.samples = r->samples;
    r->event.builds = r->builds;
    return ERR_OK;
}

/* -- the other kinds -- */

static enum err_code need_u32(const json *o, const char *key, uint32_t *out, struct err *e)
{
    int64_t v;

    if (json_need_int(o, key, &v, e))
        return e->code;
    if (v < 0 || v > UINT32_MAX)
        return err_set(e, ERR_INVALID, "%s %" PRId64 " is out of range", key, v);
    *out = (uint32_t)v;
    return ERR_OK;
}

static void capacity_payload(const struct record *r, json *o)
{
    json_put(o, "n_workers", json_new_int(r->event.n_workers));
}

static enum err_code read_capacity(const json *o, struct record *r, struct err *e)
{
    return need_u32(o, "n_workers", &r->event.n_workers, e);
}

static void result_payload(const struct record *r, json *o)
{
    json_put(o, "ordinal", json_new_int(r->event.ordinal));
    json_put(o, "task", json_new_string(r->task));
}

static enum err_code read_result(const json *o, struct record *r, struct err *e)
{
    const char *task;

    if (need_u32(o, "ordinal", &r->event.ordinal, e) || json_need_str(o, "task", &task, e))
        return e->code;
    r->task = mem_dup(task);
    return ERR_OK;
}

static void given_up_payload(const struct record *r, json *o)
{
    json_put(o, "ordinal", json_new_int(r->event.ordinal));
    json_put(o, "reason", json_new_string(r->reason));
}

static enum err_code read_given_up(const json *o, struct record *r, struct err *e)
{
    const char *reason;

    if (need_u32(o, "ordinal", &r->event.ordinal, e) || json_need_str(o, "reason", &reason, e))
        return e->code;
    r->event.reason = r->reason = mem_dup(reason);
    return ERR_OK;
}

static void empty_payload(const struct record *r, json *o)
{
    (void)r;
    (void)o;
}

static enum err_code read_empty(const json *o, struct record *r, struct err *e)
{
    (void)o;
    (void)r;
    (void)e;
    return ERR_OK;
}

/* clang-format off */
static const struct {
    void (*write)(const struct record *r, json *o);
    enum err_code (*read)(const json *o, struct record *r, struct err *e);
} kinds[N_EVENTS] = {
    [EVENT_STARTED]  = {started_payload,  read_started},
    [EVENT_CAPACITY] = {capacity_payload, read_capacity},
    [EVENT_RESULT]   = {result_payload,   read_result},
    [EVENT_GIVEN_UP] = {given_up_payload, read_given_up},
    [EVENT_BUDGET]   = {empty_payload,    read_empty},
    [EVENT_CANCEL]   = {empty_payload,    read_empty},
};
/* clang-format on */

json *record_payload(const struct record *r)
{
    json *o = json_new_object();

    kinds[r->event.kind].write(r, o);
    return o;
}

enum err_code record_from_payload(const char *kind, const json *payload, struct record **out,
                                  struct err *e)
{
    for (size_t i = 0; i < N_EVENTS; i++) {
        if (strcmp(event_names[i], kind) != 0)
            continue;
        AUTO(record_free) struct record *r = record_new((enum event_kind)i);
        if (kinds[i].read(payload, r, e))
            return err_wrap(e, "event %s", kind);
        *out = TAKE(r);
        return ERR_OK;
    }
    return err_set(e, ERR_INVALID, "unknown kind of event \"%.40s\"", kind);
}

enum err_code record_append(struct record *r, struct store *s, const char *bisection,
                            struct utc now, struct err *e)
{
    AUTO(json_free) json *payload = record_payload(r);

    return store_event_append(s, bisection, event_names[r->event.kind], payload, now, &r->seq, e);
}

enum err_code record_load(struct store *s, const struct event_row *row, struct record **out,
                          struct err *e)
{
    AUTO(record_free) struct record *r = NULL;

    if (record_from_payload(row->kind, row->payload, &r, e))
        return err_wrap(e, "event %" PRId64, row->seq);
    if (r->task) {
        if (store_result_load(s, r->task, &r->result, e))
            return err_wrap(e, "event %" PRId64 ": result of task %s", row->seq, r->task);
        r->event.result = r->result;
    }
    r->seq = row->seq;
    *out = TAKE(r);
    return ERR_OK;
}
