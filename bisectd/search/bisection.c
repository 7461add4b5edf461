/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bisection.h"

#include "base/mem.h"
#include "search/state.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of the errors that the confidence allows, the part that the posterior may make; the rest is for
 * what it does not know of the noise. */
static const double modeled_risk = .8;

const char *const event_names[] = {"started", "capacity", "result", "given_up", "budget", "cancel"};

bool is_rate(const struct bisection *b)
{
    return metric_kinds[b->metric->kind].is_rate;
}

uint32_t bisection_n_ends(const struct bisection *b)
{
    return 2 + b->range->n_merge_bases;
}

uint32_t bisection_end(const struct bisection *b, uint32_t i)
{
    if (i < 2)
        return i == 0 ? b->range->good : b->bad_end;
    return b->range->merge_bases[i - 2];
}

bool bisection_is_end(const struct bisection *b, uint32_t v)
{
    for (uint32_t i = 0; i < bisection_n_ends(b); i++)
        if (bisection_end(b, i) == v)
            return true;
    return false;
}

/** All candidates that can be it weigh the same. */
static double *prior_weights(const struct bisection *b)
{
    double *weight = mem_array(b->range->n, sizeof(*weight));

    for (uint32_t v = 0; v < b->range->n; v++)
        weight[v] =
            b->range->commits[v].is_candidate && alike_exclusion(b->alike, v) == EXCLUDED_NOT;
    return weight;
}

/** Commits that are bad if the first merge base is: all but good's own side. */
static uint8_t *above_base(const struct bisection *b)
{
    if (b->range->n_merge_bases == 0)
        return NULL;
    uint8_t *side = mem_array(b->range->n, 1);
    for (uint32_t v = 0; v < b->range->n; v++)
        side[v] = v != b->range->good;
    return side;
}

enum err_code bisection_new(const struct request *request, const struct range *range,
                            struct bisection **out, struct err *e)
{
    AUTO(bisection_free) struct bisection *b = mem_alloc(sizeof(*b));
    const struct metric *metric = request_metric(request);

    if (!metric)
        return err_set(e, ERR_INVALID, "project %s has no metric %s", request->project->name,
                       request->metric);
    if (range->n < 2 || range->n_candidates == 0)
        return err_set(e, ERR_INVALID, "the range holds no commits");
    b->range = range_copy(range);
    b->index = range_index_new(b->range);
    b->metric = metric_copy(metric);
    b->platform = mem_dup(request->platform);
    b->confidence = request->confidence;
    b->believed = 1 - (1 - request->confidence) * modeled_risk;
    b->min_effect_percent =
        request->min_effect_percent >= 0 ? request->min_effect_percent : metric->min_effect_percent;
    b->is_comparison = request->is_comparison;
    b->is_first_parent = request->first_parent;
    b->is_no_inside = request->no_inside;
    fixups_init(b, request->project);
    b->is_confirming = request->project->confirm == CONFIRM_REVERT && !request->is_comparison;
    b->seed = request->seed;
    b->budget_runs = request->budget_runs;
    b->dag = dag_new(b->range);
    b->alike = alike_new(b->range, b->is_comparison);
    b->bad_end = alike_oldest(b->alike, b->range->bad);
    b->evidence = evidence_new(range->n);
    b->standing = mem_array(range->n, sizeof(*b->standing));
    b->capacity = 1;
    b->answer_class = UINT32_MAX;
    b->runs_to_go = NAN;

    double *weight = prior_weights(b);
    uint8_t *side = above_base(b);
    b->posterior = posterior_new(range->n, weight, is_rate(b), metric->worse, side);
    mem_free(side);
    mem_free(weight);
    *out = TAKE(b);
    return ERR_OK;
}

void bisection_free(struct bisection *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_out; i++)
        task_spec_free(b->out[i]);
    for (uint32_t i = 0; i < b->n_canceled; i++)
        task_spec_free(b->canceled[i]);
    for (uint32_t v = 0; b->standing && v < b->range->n; v++)
        mem_free(b->standing[v].reason);
    recall_free(b);
    mem_free(b->out);
    mem_free(b->canceled);
    mem_free(b->standing);
    mem_free(b->built);
    alike_free(b->alike);
    posterior_free(b->posterior);
    evidence_free(b->evidence);
    dag_free(b->dag);
    range_index_free(b->index);
    range_free(b->range);
    metric_free(b->metric);
    mem_free(b->platform);
    mem_free(b->why);
    fixups_fini(b);
    confirm_free(b);
    mem_free(b);
}

void bisection_skip_verification(struct bisection *b)
{
    b->is_unverified = true;
}

void effects_fini(struct effects *f)
{
    for (size_t i = 0; i < f->n_issue; i++)
        task_spec_free(f->issue[i]);
    mem_free(f->issue);
    mem_free(f->cancel);
    *f = (struct effects){0};
}

/* What happened */

static void add_sample(struct bisection *b, uint32_t v, const char *host,
                       const struct observed *run)
{
    uint32_t slot;

    if (evidence_add(b->evidence, v, host, run, &slot)) {
        dag_mark_ancestors(b->dag, v, b->evidence->sampled[slot].is_ancestor);
        posterior_refine(b->posterior, b->evidence, slot);
    }
    b->is_stale = true;
}

static void absorb_started(struct bisection *b, const struct event *event)
{
    for (size_t i = 0; i < event->n_samples; i++) {
        const struct stored_sample *s = &event->samples[i];
        uint32_t v = range_index_find(b->index, &s->revision);
        if (v == UINT32_MAX || !isfinite(s->value))
            continue;
        if (!b->is_comparison) { /* which believes none but interleaved runs */
            struct observed run = {
                .at_ns = s->at.ns, .seconds = s->seconds, .number = s->number, .value = s->value};
            add_sample(b, v, s->host, &run);
            b->cost.n_runs_reused++;
        }
        if (b->standing[v].next_number <= s->number)
            b->standing[v].next_number = s->number + 1;
    }
    for (size_t i = 0; i < event->n_builds; i++) {
        uint32_t v = range_index_find(b->index, &event->builds[i].revision);
        if (v == UINT32_MAX)
            continue;
        struct standing *s = &b->standing[v];
        s->testable = TESTABLE_YES;
        s->is_reused = true;
        memcpy(s->artifact, event->builds[i].artifact, sizeof(s->artifact));
        same_note_artifact(b, v);
    }
    same_apply(b);
    for (size_t i = 0; i < event->n_verifications; i++)
        recall_add(b, &event->verifications[i]);
    for (size_t i = 0; i < event->n_failures; i++)
        recall_failure(b, &event->failures[i]);
}

static void absorb_build(struct bisection *b, const struct build_result *r, bool is_fresh)
{
    uint32_t v = range_index_find(b->index, &r->revision);

    if (v == UINT32_MAX)
        return;
    struct standing *s = &b->standing[v];
    if (r->status != BUILD_REUSED) {
        b->cost.n_builds++;
        b->build_seconds += r->seconds;
        b->n_builds_timed++;
    }
    if (r->status == BUILD_OK || r->status == BUILD_REUSED) {
        s->testable = TESTABLE_YES;
        memcpy(s->artifact, r->artifact, sizeof(s->artifact));
        b->last_built = r->status == BUILD_OK ? v : b->last_built;
        if (!is_fresh) /* a verification is for doubt, and may be about these very bytes */
            same_note_artifact(b, v);
        return;
    }
    if (is_fresh && s->testable == TESTABLE_YES) {
        mem_free(s->reason); /* it did build before: its samples stand, the verification does not */
        s->reason = mem_dup(r->reason);
        return;
    }
    same_set_untestable(b, v, r->reason ? r->reason : build_status_name(r->status));
}

static void absorb_run(struct bisection *b, const struct task_spec *spec, const char *host,
                       const struct run_result *r)
{
    if (r->run >= spec->n_runs || r->status == RUN_SKIPPED)
        return;
    const struct task_build *build = &spec->builds[spec->runs[r->run].build];
    uint32_t v = range_index_find(b->index, &build->revision);
    if (v == UINT32_MAX)
        return;
    b->cost.n_runs++;
    b->run_seconds += r->seconds;
    b->n_runs_timed++;
    if (r->status == RUN_OK && isfinite(r->value)) {
        struct observed run = {.at_ns = r->at.ns,
                               .seconds = r->seconds,
                               .number = spec->runs[r->run].number,
                               .value = r->value};
        add_sample(b, v, host, &run);
        return;
    }
    const char *reason = r->reason ? r->reason : run_status_name(r->status);
    if (r->status == RUN_ABORT)
        bisection_finish(b, VERDICT_FAILED, FINDING_NONE, "measuring %.10s asked to abort: %s",
                         build->revision.hex, reason);
    else if (evidence_find(b->evidence, v) == UINT32_MAX)
        same_set_untestable(b, v, reason);
    else
        b->standing[v].is_exhausted = r->status == RUN_TIMEOUT || r->attempt >= 2;
}

static struct task_spec *take(struct task_spec **list, uint32_t *n, uint32_t ordinal)
{
    for (uint32_t i = 0; i < *n; i++)
        if (list[i]->ordinal == ordinal) {
            struct task_spec *spec = list[i];
            list[i] = list[--*n];
            return spec;
        }
    return NULL;
}

/** A task whose result came in while it was being canceled was done all the same. */
static struct task_spec *take_done(struct bisection *b, uint32_t ordinal)
{
    struct task_spec *spec = take(b->out, &b->n_out, ordinal);

    return spec ? spec : take(b->canceled, &b->n_canceled, ordinal);
}

static bool is_sampled_in(const struct task_spec *spec, const struct task_result *r, uint32_t build)
{
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].status == RUN_OK && r->runs[i].run < spec->n_runs &&
            spec->runs[r->runs[i].run].build == build)
            return true;
    return false;
}

/** The suspect and a parent are the same bytes after all. Where the samples go on to set them
 *  apart, the verdict says so; else it was luck, and the suspect is out. */
static void absorb_same_bytes(struct bisection *b, uint32_t v, const struct task_spec *spec)
{
    for (uint32_t i = 1; i < spec->n_builds; i++) {
        uint32_t u = range_index_find(b->index, &spec->builds[i].revision);
        if (strcmp(b->standing[u].artifact, b->standing[v].artifact) != 0)
            continue;
        bisection_refresh(b);
        uint32_t k = b->posterior->class_of[v];
        if (k == UINT32_MAX || posterior_class(b->posterior, k) < b->believed)
            same_link(b, u, v);
        same_apply(b);
    }
}

/** The suspect is the first build of a verification; it needs itself and one partner measured. */
static void absorb_verification(struct bisection *b, const struct task_spec *spec,
                                const struct task_result *r)
{
    uint32_t v = range_index_find(b->index, &spec->builds[0].revision);
    bool has_partner = false;

    if (!spec->builds[0].fresh) {
        b->is_none_checked = true;
        return;
    }

    for (uint32_t i = 1; i < spec->n_builds; i++)
        has_partner |= is_sampled_in(spec, r, i);
    if (v == UINT32_MAX)
        return;
    if (!has_partner || !is_sampled_in(spec, r, 0)) {
        b->standing[v].n_fresh_failed++;
        return;
    }
    b->standing[v].is_verified = true;
    absorb_same_bytes(b, v, spec);
}

static void absorb_result(struct bisection *b, const struct event *event)
{
    AUTO(task_spec_free) struct task_spec *spec = take_done(b, event->ordinal);
    const struct task_result *r = event->result;

    if (!spec)
        return;
    if (confirm_is_of(spec)) {
        confirm_absorb(b, spec, r);
        return;
    }
    /* The runs of a comparison are compared within their batch, as those of hosts are. */
    AUTO(mem_free)
    char *place = b->is_comparison ? mem_printf("%s#%u", r->environment.host, spec->ordinal)
                                   : mem_dup(r->environment.host);
    for (size_t i = 0; i < r->n_builds; i++)
        absorb_build(b, &r->builds[i], spec->is_verification);
    same_apply(b);
    /* Values first: a revision that measured once is testable whatever happened to other runs. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < r->n_runs; i++)
            if ((r->runs[i].status == RUN_OK) == (pass == 0))
                absorb_run(b, spec, place, &r->runs[i]);
    if (spec->is_verification)
        absorb_verification(b, spec, r);
}

/** True if the search goes on without the task. */
static bool absorb_given_up(struct bisection *b, const struct event *event)
{
    AUTO(task_spec_free) struct task_spec *spec = take_done(b, event->ordinal);

    if (!spec || !confirm_is_of(spec))
        return false;
    confirm_given_up(b, event->reason);
    return true;
}

void bisection_absorb(struct bisection *b, const struct event *event)
{
    switch (event->kind) {
    case EVENT_STARTED:
        absorb_started(b, event);
        break;
    case EVENT_CAPACITY:
        b->capacity = event->n_workers > 0 ? event->n_workers : 1;
        b->capacity = b->capacity < MOST_OUT ? b->capacity : MOST_OUT;
        break;
    case EVENT_RESULT:
        absorb_result(b, event);
        break;
    case EVENT_GIVEN_UP:
        if (absorb_given_up(b, event))
            break;
        bisection_finish(b, VERDICT_FAILED, FINDING_NONE, "no worker could carry out a task: %s",
                         event->reason ? event->reason : "no reason given");
        break;
    case EVENT_BUDGET:
        b->is_out_of_time = true;
        break;
    case EVENT_CANCEL:
        b->is_canceled = true;
        break;
    }
}

void bisection_issued(struct bisection *b, const struct task_spec *spec)
{
    if (confirm_is_of(spec))
        confirm_issued(b, spec);
    b->out = mem_resize(b->out, b->n_out + 1, sizeof(*b->out));
    b->out[b->n_out++] = task_spec_copy(spec);
    if (spec->ordinal >= b->next_ordinal)
        b->next_ordinal = spec->ordinal + 1;
    b->n_runs_issued += spec->n_runs;
    for (uint32_t i = 0; i < spec->n_builds; i++) {
        uint32_t v = range_index_find(b->index, &spec->builds[i].revision);
        if (v == UINT32_MAX || !b->standing[v].is_reused || b->standing[v].is_reuse_counted ||
            spec->builds[i].fresh)
            continue;
        b->standing[v].is_reuse_counted = true;
        b->cost.n_builds_reused++;
    }
    for (uint32_t i = 0; i < spec->n_runs; i++) {
        const struct task_run *run = &spec->runs[i];
        uint32_t v = range_index_find(b->index, &spec->builds[run->build].revision);
        if (revision_is_set(&spec->builds[run->build].revert))
            continue;
        if (v != UINT32_MAX && b->standing[v].next_number <= run->number)
            b->standing[v].next_number = run->number + 1;
    }
}

void bisection_dropped(struct bisection *b, uint32_t ordinal)
{
    struct task_spec *spec = take(b->out, &b->n_out, ordinal);

    if (!spec)
        return;
    if (confirm_is_of(spec))
        confirm_dropped(b, ordinal);
    b->canceled = mem_resize(b->canceled, b->n_canceled + 1, sizeof(*b->canceled));
    b->canceled[b->n_canceled++] = spec;
}

/* What to do */

void bisection_finish(struct bisection *b, enum verdict_kind verdict, enum finding finding,
                      const char *why, ...)
{
    if (b->is_finished)
        return;
    b->is_finished = true;
    b->verdict = verdict;
    b->finding = finding;
    if (!why)
        return;
    va_list args;
    char text[1024];
    va_start(args, why);
    vsnprintf(text, sizeof(text), why, args);
    va_end(args);
    b->why = mem_dup(text);
}

/** Too few runs to compare with, and no more to be had. */
static bool is_hopeless(const struct bisection *b, uint32_t v)
{
    uint32_t slot = evidence_find(b->evidence, v);

    return b->standing[v].is_exhausted && slot != UINT32_MAX &&
           b->evidence->sampled[slot].all.n < 2;
}

/** An end that cannot be tested ends it at once, and says which and why. */
static void check_ends(struct bisection *b)
{
    static const char *const names[2][3] = {{"good", "bad", "merge base"}, {"base", "head", ""}};

    for (uint32_t i = 0; i < bisection_n_ends(b); i++) {
        uint32_t v = bisection_end(b, i);
        if (b->standing[v].testable != TESTABLE_NO && !is_hopeless(b, v))
            continue;
        bisection_finish(b, VERDICT_FAILED, FINDING_NONE,
                         "the %s revision %.10s cannot be tested: %s",
                         names[b->is_comparison][i < 2 ? i : 2], b->range->commits[v].id.hex,
                         b->standing[v].reason ? b->standing[v].reason : "its runs fail too often");
    }
}

static bool is_sampled(const struct bisection *b, uint32_t v, uint32_t n_runs)
{
    uint32_t slot = evidence_find(b->evidence, v);

    return slot != UINT32_MAX && b->evidence->sampled[slot].all.n >= n_runs;
}

bool bisection_is_out(const struct bisection *b, uint32_t v)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        for (uint32_t j = 0; j < b->out[i]->n_builds; j++)
            if (revision_equal(&b->out[i]->builds[j].revision, &b->range->commits[v].id))
                return true;
    return false;
}

/** Where runs of the ends stand: all there, or under way, or to be had. */
enum ends_state { ENDS_SAMPLED, ENDS_OUT, ENDS_MISSING };
static enum ends_state ends_state(const struct bisection *b)
{
    enum ends_state state = ENDS_SAMPLED;

    for (uint32_t i = 0; i < bisection_n_ends(b); i++) {
        uint32_t v = bisection_end(b, i);
        if (is_sampled(b, v, end_runs(b)))
            continue;
        if (!bisection_is_out(b, v))
            return ENDS_MISSING;
        state = ENDS_OUT;
    }
    return state;
}

static void cancel(struct bisection *b, uint32_t ordinal, struct effects *out)
{
    out->cancel = mem_resize(out->cancel, out->n_cancel + 1, sizeof(*out->cancel));
    out->cancel[out->n_cancel++] = ordinal;
    bisection_dropped(b, ordinal);
}

void bisection_cancel_all(struct bisection *b, struct effects *out)
{
    while (b->n_out > 0)
        cancel(b, b->out[b->n_out - 1]->ordinal, out);
}

/** Builds alone, whose bytes decide what to measure. */
static bool is_settling_out(const struct bisection *b)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (b->out[i]->n_runs == 0)
            return true;
    return false;
}

static bool is_verification_out(const struct bisection *b)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (b->out[i]->is_verification)
            return true;
    return false;
}

/** The next task, or NULL when there is nothing (more) to start now. */
static struct task_spec *next_task(struct bisection *b, struct effects *out)
{
    uint32_t suspect;

    if (b->is_comparison)
        return comparison_next(b);
    enum ends_state ends = ends_state(b);
    if (ends != ENDS_SAMPLED)
        return ends == ENDS_OUT ? plan_search(b, true) : plan_ends(b, end_runs(b));
    if (is_verification_out(b))
        return NULL;
    bisection_refresh(b);
    enum judgement j = bisection_judge(b, &suspect);
    if (j == JUDGE_FINISHED)
        return confirm_next(b, out);
    if (j == JUDGE_ENDS)
        return b->n_out > 0 ? NULL : plan_none_check(b);
    if (j == JUDGE_ONE)
        return b->n_out > 0 ? NULL : plan_one(b, suspect);
    if (j == JUDGE_REPEAT)
        return b->n_out > 0 ? NULL : plan_repeat(b, suspect);
    if (j == JUDGE_VERIFY && is_settling_out(b))
        return NULL;
    if (j == JUDGE_VERIFY) {
        bisection_cancel_all(b, out);
        struct task_spec *first = plan_settling_first(b, suspect);
        return first ? first : plan_verification(b, suspect);
    }
    struct task_spec *spec = plan_search(b, false);
    return spec || b->n_out > 0 ? spec : plan_last_resort(b);
}

static bool issue_next(struct bisection *b, struct effects *out)
{
    struct task_spec *spec = next_task(b, out);

    if (!spec)
        return false;
    if (b->n_runs_issued + spec->n_runs > b->budget_runs && b->budget_runs > 0) {
        task_spec_free(spec);
        if (b->n_out == 0)
            bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                             "the budget of %lld runs is used up", (long long)b->budget_runs);
        return false;
    }
    bisection_issued(b, spec);
    out->issue = mem_resize(out->issue, out->n_issue + 1, sizeof(struct task_spec *));
    out->issue[out->n_issue++] = spec;
    return true;
}

/** With all workers taken, what became useless makes room for what is worth more. It takes more
 *  than a little to be replaced, and what comes after the replacement is worth less than it: so
 *  nothing is canceled and issued again at once. */
static void replace_useless(struct bisection *b, struct effects *out)
{
    while (!b->is_finished && b->n_out > 1 && b->n_out == b->capacity) {
        uint32_t ordinal = plan_useless(b);
        if (ordinal == UINT32_MAX)
            return;
        cancel(b, ordinal, out);
        if (!issue_next(b, out))
            return;
    }
}

void bisection_decide(struct bisection *b, struct effects *out)
{
    b->last_rate = INFINITY;
    if (b->is_canceled)
        bisection_finish(b, VERDICT_NONE, FINDING_NONE, "canceled");
    check_ends(b);
    if (b->is_out_of_time && !b->is_finished) {
        bisection_refresh(b);
        if (!confirm_abandon(b, "the time budget is used up"))
            bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE, "the time budget is used up");
    }
    while (!b->is_finished && b->n_out < b->capacity && issue_next(b, out))
        ;
    replace_useless(b, out);
    if (!b->is_finished && b->n_out == 0)
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                         "no further run is expected to tell the candidates apart");
    if (b->is_finished)
        bisection_cancel_all(b, out);
    out->is_finished = b->is_finished;
}

void bisection_step(struct bisection *b, const struct event *event, struct effects *out)
{
    bisection_absorb(b, event);
    bisection_decide(b, out);
}
