/* SPDX-License-Identifier: Apache-2.0 */
#include "app/replay.h"
#include "app/document.h"
#include "app/record.h"
#include "app/step.h"
#include "base/mem.h"
#include "store/bisections.h"
#include "store/derived.h"
#include "store/tasks.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* After so many the rest is the same story. */
enum { MAX_DIFFERENCES = 50 };

struct replay {
    struct work work;
    struct bisection_row *row;
    struct range *range;
    size_t n_records;
    struct record **records;
    struct task_list tasks;
    json *decisions, *posteriors, *verdict; /* as stored */
    bool is_explaining;                     /* the search has ended, the bisection has not */
    /* outcome */
    json *differences, *new_decisions, *new_posteriors, *document;
};

static void replay_release(struct work *w)
{
    struct replay *r = (struct replay *)w;

    bisection_row_free(r->row);
    range_free(r->range);
    for (size_t i = 0; i < r->n_records; i++)
        record_free(r->records[i]);
    mem_free(r->records);
    task_list_fini(&r->tasks);
    json_free(r->decisions);
    json_free(r->posteriors);
    json_free(r->verdict);
    json_free(r->differences);
    json_free(r->new_decisions);
    json_free(r->new_posteriors);
    json_free(r->document);
    json_free(r->work.answer);
    mem_free(r);
}

static void replay_free(struct replay *r)
{
    if (r)
        replay_release(&r->work);
}
DEFINE_AUTO(struct replay, replay_free)

static void differ(struct replay *r, const char *format, ...) PRINTF(2, 3);
static void differ(struct replay *r, const char *format, ...)
{
    va_list args;
    char text[512];

    if (json_len(r->differences) >= MAX_DIFFERENCES)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    json_push(r->differences, json_new_string(text));
}

/* -- comparing -- */

static bool same_json(const json *a, const json *b)
{
    AUTO(buf_fini) struct buf left = {0};
    AUTO(buf_fini) struct buf right = {0};

    json_dump(a, JSON_SORTED, &left);
    json_dump(b, JSON_SORTED, &right);
    return left.len == right.len && memcmp(buf_str(&left), buf_str(&right), left.len) == 0;
}

static const struct task_row *task_of(const struct replay *r, uint32_t ordinal)
{
    for (size_t i = 0; i < r->tasks.n; i++)
        if (r->tasks.items[i]->ordinal == ordinal)
            return r->tasks.items[i];
    return NULL;
}

static void compare_issue(struct replay *r, const struct task_spec *spec, int64_t seq)
{
    const struct task_row *task = task_of(r, spec->ordinal);
    AUTO(json_free) json *now = task_spec_to_json(spec);

    if (!task) {
        differ(r, "task %u, decided after event %" PRId64 ", was never issued",
               (unsigned)spec->ordinal, seq);
    } else {
        AUTO(json_free) json *then = task_spec_to_json(task->spec);
        if (task->after_seq != seq)
            differ(r, "task %u is decided after event %" PRId64 ", was after event %" PRId64,
                   (unsigned)spec->ordinal, seq, task->after_seq);
        if (!same_json(now, then))
            differ(r, "task %u is another one than was issued", (unsigned)spec->ordinal);
    }
    json *o = json_put(json_new_object(), "ordinal", json_new_int(spec->ordinal));
    json_put(o, "after_seq", json_new_int(seq));
    json_push(r->new_decisions, json_put(o, "spec", json_keep(now)));
}

static void compare_list(struct replay *r, const char *what, const char *key, const json *stored,
                         const json *computed)
{
    for (size_t i = 0; i < json_len(stored); i++) {
        const json *then = json_item(stored, i);
        const json *now = NULL;
        int64_t at = json_int(json_at(then, key), -1);
        for (size_t j = 0; j < json_len(computed) && !now; j++)
            if (json_int(json_at(json_item(computed, j), key), -2) == at)
                now = json_item(computed, j);
        if (!now || !same_json(then, now))
            differ(r, "%s %" PRId64 " differs from the stored one", what, at);
    }
}

static void compare_verdict(struct replay *r)
{
    const char *const keys[] = {"verdict",     "culprits",   "candidates", "untestable",
                                "p_no_change", "finding",    "min_effect", "good",
                                "bad",         "merge_base", "range_size", "excluded",
                                "message",     "change",     "fixups",     "confirmations"};

    if (json_is_null(r->verdict) || json_is_null(r->document))
        return;
    for (size_t i = 0; i < LEN(keys); i++)
        if (!same_json(json_at(r->verdict, keys[i]), json_at(r->document, keys[i])))
            differ(r, "%s differs from the stored verdict's", keys[i]);
}

/* -- folding -- */

static bool is_over(const struct replay *r)
{
    return r->row->state == BISECTION_DONE || r->row->state == BISECTION_CANCELED;
}

static void finish_document(struct replay *r)
{
    if (json_is_null(r->document))
        return;
    document_stamp(r->document, r->row->id.text, r->row->state,
                   (double)r->row->used_ns / (double)NS_PER_S, NULL);
}

/* One event again. False once the search has come to its end. */
static bool fold_one(struct replay *r, struct bisection **state, struct record **record)
{
    AUTO(step_free) struct step *s = step_new(NULL, TAKE(*state), TAKE(*record));

    step_run(s);
    for (size_t i = 0; i < s->effects.n_issue; i++)
        compare_issue(r, s->effects.issue[i], s->record->seq);
    json *o = json_put(json_new_object(), "seq", json_new_int(s->record->seq));
    json_push(r->new_posteriors, json_put(o, "posterior", json_keep(s->posterior)));
    json_free(r->document);
    r->document = TAKE(s->document);
    *state = TAKE(s->state);
    return !s->effects.is_finished;
}

static void fold(struct replay *r, struct err *e)
{
    AUTO(bisection_free) struct bisection *state = NULL;
    bool is_finished = false;

    if (bisection_new(r->row->request, r->range, &state, e))
        return;
    for (size_t i = 0; i < r->n_records && !is_finished; i++)
        is_finished = !fold_one(r, &state, &r->records[i]);
    if (is_over(r) && !is_finished)
        differ(r, "the search does not come to an end");
    if (!is_over(r) && is_finished && !r->is_explaining)
        differ(r, "the search comes to an end that it did not come to");
    if (json_len(r->new_decisions) < r->tasks.n)
        differ(r, "%zu tasks were issued, %zu are decided", r->tasks.n, json_len(r->new_decisions));
}

static void replay_run(struct work *w)
{
    struct replay *r = (struct replay *)w;

    if (r->range)
        fold(r, &w->error);
    if (w->error.code)
        return;
    if (!r->document && !json_len(r->differences))
        r->document = json_keep(r->verdict); /* it ended before there was anything to search */
    finish_document(r);
    compare_list(r, "decision", "ordinal", r->decisions, r->new_decisions);
    compare_list(r, "posterior", "seq", r->posteriors, r->new_posteriors);
    compare_verdict(r);

    w->answer = json_new_object();
    json_put(w->answer, "matches", json_new_bool(json_len(r->differences) == 0));
    json_put(w->answer, "differences", json_keep(r->differences));
    json_put(w->answer, "decisions", json_keep(r->new_decisions));
    json_put(w->answer, "posteriors", json_keep(r->new_posteriors));
    json_put(w->answer, "verdict", r->document ? json_keep(r->document) : json_new_null());
}

/* -- reading -- */

/* Evidence that was tampered with is a difference, not an error of ours. */
static enum err_code note(struct replay *r, struct err *e)
{
    if (e->code != ERR_INVALID && e->code != ERR_NOT_FOUND)
        return e->code;
    differ(r, "%s", e->text);
    *e = (struct err){0};
    return ERR_OK;
}

static enum err_code check_chain(struct replay *r, struct store *s, const char *id, struct err *e)
{
    if (store_samples_verify(s, id, e) && note(r, e))
        return e->code;
    return ERR_OK;
}

static enum err_code read_records(struct replay *r, struct store *s, const char *id, struct err *e)
{
    AUTO(event_list_fini) struct event_list events = {0};

    if (store_event_list(s, id, 0, &events, e))
        return e->code;
    r->records = mem_array(events.n + 1, sizeof(*r->records));
    for (size_t i = 0; i < events.n; i++) {
        struct record *record = NULL;
        if (record_load(s, &events.items[i], &record, e))
            return note(r, e);
        r->records[r->n_records++] = record;
        for (size_t j = 0; j < record->sources.n; j++)
            if (check_chain(r, s, record->sources.items[j], e))
                return e->code;
    }
    return ERR_OK;
}

/* An unfinished bisection may have events that wait for their step; those are none of ours. */
static void drop_unstepped(struct replay *r)
{
    size_t n = json_len(r->posteriors);

    if (is_over(r) || !n)
        return;
    int64_t last = json_int(json_at(json_item(r->posteriors, n - 1), "seq"), 0);
    while (r->n_records && r->records[r->n_records - 1]->seq > last)
        record_free(r->records[--r->n_records]);
}

/* Inspections are no decision of the search. */
static void drop_inspections(struct replay *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->tasks.n; i++) {
        struct task_row *t = r->tasks.items[i];
        if (t->spec->is_inspection)
            task_row_free(t);
        else
            r->tasks.items[n++] = t;
    }
    r->is_explaining = n < r->tasks.n;
    r->tasks.n = n;
}

static enum err_code read_all(struct replay *r, struct store *s, const char *id, struct err *e)
{
    if (store_bisection_load(s, id, &r->row, e) || store_task_list(s, id, 0, -1, &r->tasks, e) ||
        store_decision_list(s, id, &r->decisions, e) ||
        store_posterior_list(s, id, &r->posteriors, e) ||
        store_verdict_get(s, id, &r->verdict, e) || check_chain(r, s, id, e) ||
        read_records(r, s, id, e))
        return e->code;
    if (r->n_records && store_range_get(s, id, &r->range, e))
        return e->code;
    drop_inspections(r);
    drop_unstepped(r);
    return ERR_OK;
}

static enum err_code replay_open(struct store *s, const char *bisection, struct replay **out,
                                 struct err *e)
{
    AUTO(replay_free) struct replay *r = mem_alloc(sizeof(*r));

    r->work.run = replay_run;
    r->work.release = replay_release;
    r->differences = json_new_array();
    r->new_decisions = json_new_array();
    r->new_posteriors = json_new_array();
    if (read_all(r, s, bisection, e))
        return e->code;
    *out = TAKE(r);
    return ERR_OK;
}

enum err_code replay_new(struct store *s, const char *bisection, struct work **out, struct err *e)
{
    struct replay *r;

    if (replay_open(s, bisection, &r, e))
        return e->code;
    *out = &r->work;
    return ERR_OK;
}

enum err_code replay_verdict(struct store *s, const char *bisection, json **out, struct err *e)
{
    AUTO(replay_free) struct replay *r = NULL;

    if (replay_open(s, bisection, &r, e))
        return e->code;
    replay_run(&r->work);
    if (r->work.error.code) {
        *e = r->work.error;
        return e->code;
    }
    if (r->document) {
        *out = json_keep(r->document);
        return ERR_OK;
    }
    *out = document_without_search(r->row->request, bisection, r->row->state,
                                   r->row->state == BISECTION_DONE ? VERDICT_FAILED : VERDICT_NONE,
                                   r->row->message, (double)r->row->used_ns / (double)NS_PER_S);
    return ERR_OK;
}
