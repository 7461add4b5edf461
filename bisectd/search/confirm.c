/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does reverting a culprit on top of the bad end bring the metric back?
 *
 *     a verified culprit ──> trial: bad against bad without it ──> confirmed, refuted or neither
 *
 * A trial is a comparison (comparison.h): interleaved runs, looked at after each batch. Its base is
 * no commit of the range, so inside the trial it goes by a name of its own, and outside, in tasks
 * and results, by the bad end's with the culprit as what is to be reverted. None of the trial's
 * runs is evidence for the search.
 */
#include "base/hash.h"
#include "base/mem.h"
#include "search/state.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WITHOUT, WITH };    /* the commits of a trial's range */
enum { LEAST_BUDGET = 8 }; /* runs: fewer decide nothing */

static const struct commit *bad_end(const struct bisection *b)
{
    return &b->range->commits[b->range->bad];
}

/* ---- trials ---- */

/** What bad without the culprit is called inside a trial. */
static struct revision name_without(const struct bisection *b, uint32_t culprit)
{
    AUTO(mem_free)
    char *text = mem_printf("%s without %s", bad_end(b)->id.hex, b->range->commits[culprit].id.hex);
    struct digest d = hash_of(text, strlen(text));
    struct revision out;

    snprintf(out.hex, sizeof(out.hex), "%.40s", d.hex);
    return out;
}

/** Bad and its parent, which is bad without the culprit. */
static struct range *range_of(const struct bisection *b, uint32_t culprit)
{
    struct range *r = mem_alloc(sizeof(*r));

    r->n = 2;
    r->n_candidates = 1;
    r->good = WITHOUT;
    r->bad = WITH;
    r->good_is_ancestor = true;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t i = 0; i < r->n; i++) {
        struct commit *c = &r->commits[i];
        c->id = c->tree = i == WITH ? bad_end(b)->id : name_without(b, culprit);
        c->subject = mem_dup("");
        c->author = mem_dup("");
        c->parents = mem_array(1, sizeof(*c->parents));
        c->n_parents = i;
        c->is_candidate = i == WITH;
        c->is_mainline = c->matters = true;
    }
    return r;
}

/** The direction the culprit took is the one that counts. */
static struct request *question_of(const struct bisection *b, uint32_t culprit)
{
    struct request *r = mem_alloc(sizeof(*r));
    struct metric *m = metric_copy(b->metric);
    struct culprit levels = {0};

    fill_levels(b, culprit, &levels);
    m->worse = levels.delta < 0 ? WORSE_DOWN : WORSE_UP;
    r->project = project_new("", "");
    project_add_metric(r->project, m);
    r->metric = mem_dup(m->name);
    r->platform = mem_dup(b->platform);
    r->is_comparison = true;
    r->confidence = b->confidence;
    r->min_effect_percent = b->min_effect_percent;
    r->seed = b->seed;
    r->budget_runs = b->budget_runs > 0 ? b->budget_runs - b->n_runs_issued : 0;
    return r;
}

static struct trial *find(const struct bisection *b, uint32_t culprit)
{
    for (uint32_t i = 0; i < b->n_trials; i++)
        if (b->trials[i].culprit == culprit)
            return &b->trials[i];
    return NULL;
}

static struct trial *find_or_begin(struct bisection *b, uint32_t culprit)
{
    struct trial *known = find(b, culprit);
    struct trial t = {.culprit = culprit};

    if (known)
        return known;
    bisection_refresh(b);
    AUTO(range_free) struct range *range = range_of(b, culprit);
    AUTO(request_free) struct request *question = question_of(b, culprit);
    enum err_code code = bisection_new(question, range, &t.comparison, NULL);
    assert(code == ERR_OK);
    t.comparison->standing[WITH].next_number = b->standing[b->range->bad].next_number;
    b->trials = mem_resize(b->trials, b->n_trials + 1, sizeof(*b->trials));
    b->trials[b->n_trials] = t;
    return &b->trials[b->n_trials++];
}

void confirm_free(struct bisection *b)
{
    for (uint32_t i = 0; i < b->n_trials; i++)
        bisection_free(b->trials[i].comparison);
    mem_free(b->trials);
    mem_free(b->unconfirmed);
}

/* ---- between the trial's names and the world's ---- */

bool confirm_is_of(const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_builds; i++)
        if (revision_is_set(&spec->builds[i].revert))
            return true;
    return false;
}

static struct task_spec *outward(const struct bisection *b, const struct trial *t,
                                 const struct task_spec *inner)
{
    struct task_spec *spec = task_spec_copy(inner);
    const struct revision *without = &t->comparison->range->commits[WITHOUT].id;

    for (uint32_t i = 0; i < spec->n_builds; i++) {
        struct task_build *build = &spec->builds[i];
        if (revision_equal(&build->revision, without))
            build->revert = b->range->commits[t->culprit].id;
        build->revision = bad_end(b)->id;
        build->fixups = bad_end(b)->fixups;
        build->fresh = !build->artifact[0];
    }
    return spec;
}

static struct task_spec *inward(const struct trial *t, const struct task_spec *outer)
{
    struct task_spec *spec = task_spec_copy(outer);

    for (uint32_t i = 0; i < spec->n_builds; i++) {
        struct task_build *build = &spec->builds[i];
        if (revision_is_set(&build->revert))
            build->revision = t->comparison->range->commits[WITHOUT].id;
        build->revert = (struct revision){{0}};
    }
    return spec;
}

/** The trial of a task that was issued, maybe in another life. */
static struct trial *trial_of(struct bisection *b, const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_builds; i++) {
        uint32_t v = range_index_find(b->index, &spec->builds[i].revert);
        if (revision_is_set(&spec->builds[i].revert) && v != UINT32_MAX)
            return find_or_begin(b, v);
    }
    return NULL;
}

static bool is_out(const struct bisection *b, uint32_t ordinal)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (b->out[i]->ordinal == ordinal)
            return true;
    return false;
}

void confirm_issued(struct bisection *b, const struct task_spec *spec)
{
    struct trial *t = trial_of(b, spec);

    if (!t || is_out(t->comparison, spec->ordinal))
        return; /* the trial itself has just issued it */
    AUTO(task_spec_free) struct task_spec *inner = inward(t, spec);
    bisection_issued(t->comparison, inner);
}

void confirm_dropped(struct bisection *b, uint32_t ordinal)
{
    for (uint32_t i = 0; i < b->n_trials; i++)
        bisection_dropped(b->trials[i].comparison, ordinal);
}

void confirm_absorb(struct bisection *b, const struct task_spec *spec, const struct task_result *r)
{
    struct trial *t = trial_of(b, spec);
    struct task_result inner = *r;

    if (!t)
        return;
    inner.builds = mem_array(r->n_builds + 1, sizeof(*inner.builds));
    for (size_t i = 0; i < r->n_builds; i++) {
        inner.builds[i] = r->builds[i];
        if (revision_is_set(&r->builds[i].revert))
            inner.builds[i].revision = t->comparison->range->commits[WITHOUT].id;
    }
    bisection_absorb(
        t->comparison,
        &(struct event){.kind = EVENT_RESULT, .ordinal = spec->ordinal, .result = &inner});
    mem_free(inner.builds);
}

/* ---- what it means ---- */

static enum confirmation_outcome outcome_of(const struct trial *t)
{
    const struct bisection *c = t->comparison;

    if (!c->is_finished)
        return CONFIRMATION_OPEN;
    if (c->verdict == VERDICT_REGRESSED)
        return CONFIRMATION_CONFIRMED;
    return c->verdict == VERDICT_SAME || c->verdict == VERDICT_IMPROVED ? CONFIRMATION_REFUTED
                                                                        : CONFIRMATION_UNDECIDED;
}

/** A trial under way when all were given up on has no answer. */
static enum confirmation_outcome settled_outcome(const struct bisection *b, const struct trial *t)
{
    enum confirmation_outcome outcome = outcome_of(t);

    return outcome == CONFIRMATION_OPEN && b->unconfirmed ? CONFIRMATION_UNDECIDED : outcome;
}

static void say_levels(const struct bisection *b, const struct culprit *levels, struct buf *out)
{
    say_change(b, levels->bad.mean, levels->good.mean, out);
}

/** Why there is no answer; for people. */
static void say_undecided(const struct bisection *b, const struct trial *t, struct buf *out)
{
    static const char stage[] = "check out: ";
    const struct bisection *c = t->comparison;
    const struct standing *without = &c->standing[WITHOUT];

    buf_adds(out, "not confirmed by reverting it on head: ");
    if (without->testable == TESTABLE_NO && without->reason) {
        bool is_revert = strncmp(without->reason, stage, strlen(stage)) == 0;
        buf_adds(out, is_revert ? "" : "head without it cannot be tested: ");
        buf_adds(out, without->reason + (is_revert ? strlen(stage) : 0));
    } else if (c->is_finished && c->verdict == VERDICT_FAILED) {
        buf_adds(out, c->why ? c->why : "it failed");
    } else if (b->unconfirmed) {
        buf_adds(out, b->unconfirmed);
    } else {
        buf_printf(out, "the budget of %lld runs is used up", (long long)b->budget_runs);
    }
}

static void say_outcome(const struct bisection *b, const struct trial *t, struct buf *out)
{
    struct culprit trial = {0}, search = {0};
    enum confirmation_outcome outcome = settled_outcome(b, t);

    if (outcome == CONFIRMATION_UNDECIDED) {
        say_undecided(b, t, out);
        return;
    }
    if (outcome == CONFIRMATION_OPEN) {
        buf_printf(out, "reverting %.10s on head %.10s", b->range->commits[t->culprit].id.hex,
                   bad_end(b)->id.hex);
        return;
    }
    fill_levels(t->comparison, WITH, &trial);
    fill_levels(b, t->culprit, &search);
    bool is_part = fabs(trial.delta) < fabs(search.delta) / 2;
    buf_printf(out, "reverting it on head %s %s ",
               outcome == CONFIRMATION_REFUTED ? "does not bring back" : "brings back",
               b->metric->name);
    if (outcome == CONFIRMATION_CONFIRMED && is_part)
        buf_adds(out, "in part, ");
    buf_adds(out, outcome == CONFIRMATION_REFUTED ? "(" : "from ");
    say_levels(b, &trial, out);
    buf_adds(out, outcome == CONFIRMATION_REFUTED ? ")" : "");
}

/** A culprit that can be reverted without effect is none that the verdict may rest on. */
static void refute(struct bisection *b, const struct trial *t)
{
    AUTO(buf_fini) struct buf words = {0};
    struct culprit search = {0};
    const struct commit *c = &b->range->commits[t->culprit];

    fill_levels(b, t->culprit, &search);
    buf_printf(&words, "%.10s \"%.200s\" changed %s from ", c->id.hex, c->subject, b->metric->name);
    say_change(b, search.good.mean, search.bad.mean, &words);
    buf_adds(&words, ", but ");
    say_outcome(b, t, &words);
    buf_adds(&words, ": it may have brought out what other commits cause");
    mem_free(b->why);
    b->why = buf_take(&words);
    b->verdict = VERDICT_INCONCLUSIVE;
}

/* ---- the stage ---- */

static bool is_confirmation_out(const struct bisection *b)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (confirm_is_of(b->out[i]))
            return true;
    return false;
}

static void give_up(struct bisection *b, const char *why)
{
    mem_free(b->unconfirmed);
    b->unconfirmed = mem_dup(why);
}

/** The judge is to be asked again; it will say the same, since no evidence comes in. */
static void reopen(struct bisection *b)
{
    b->is_finished = false;
    b->verdict = VERDICT_NONE;
    b->finding = FINDING_NONE;
    b->n_culprits = 0;
}

static bool has_budget(struct bisection *b)
{
    if (b->budget_runs <= 0 || b->budget_runs - b->n_runs_issued >= LEAST_BUDGET)
        return true;
    AUTO(mem_free)
    char *why = mem_printf("the budget of %lld runs is used up", (long long)b->budget_runs);
    give_up(b, why);
    return false;
}

/** Moves the trial of one culprit on. False: it is over. */
static bool move_on(struct bisection *b, uint32_t culprit, struct effects *out,
                    struct task_spec **next)
{
    AUTO(effects_fini) struct effects step = {0};
    bool may_begin = find(b, culprit) || has_budget(b);
    struct trial *t = find_or_begin(b, culprit);

    if (!may_begin)
        return false;
    t->comparison->next_ordinal = b->next_ordinal;
    bisection_decide(t->comparison, &step);
    if (step.is_finished)
        return false;
    if (!is_confirmation_out(b))
        bisection_cancel_all(b, out);
    reopen(b);
    if (step.n_issue > 0)
        *next = outward(b, t, step.issue[0]);
    return true;
}

struct task_spec *confirm_next(struct bisection *b, struct effects *out)
{
    struct task_spec *next = NULL;

    if (!b->is_confirming || b->is_unverified || b->verdict != VERDICT_CULPRIT)
        return NULL;
    for (uint32_t i = 0; i < b->n_culprits && !b->unconfirmed; i++)
        if (move_on(b, b->culprits[i], out, &next)) /* which reopens: there are none now */
            return next;
    for (uint32_t i = 0; i < b->n_culprits; i++) {
        struct trial *t = find(b, b->culprits[i]);
        if (t && outcome_of(t) == CONFIRMATION_REFUTED) {
            refute(b, t);
            return NULL;
        }
    }
    return NULL;
}

bool confirm_abandon(struct bisection *b, const char *why)
{
    uint32_t unused;

    if (b->n_trials == 0 || b->is_finished)
        return false;
    give_up(b, why);
    bisection_refresh(b);
    (void)bisection_judge(b, &unused);
    return b->is_finished;
}

void confirm_given_up(struct bisection *b, const char *why)
{
    AUTO(mem_free)
    char *words = mem_printf("no worker could carry out a task: %s", why ? why : "no reason given");

    give_up(b, words);
}

static struct level level_of(const struct bisection *c, uint32_t v)
{
    uint32_t slot = evidence_find(c->evidence, v);

    if (slot == UINT32_MAX)
        return (struct level){NAN, 0};
    const struct moments *m = &c->evidence->sampled[slot].all;
    return (struct level){m->mean, (uint32_t)m->n};
}

void confirm_fill(const struct bisection *b, struct verdict *out)
{
    out->confirmations = mem_array(b->n_trials + 1, sizeof(*out->confirmations));
    for (uint32_t i = 0; i < b->n_trials; i++) {
        const struct trial *t = &b->trials[i];
        struct buf message = {0};
        struct confirmation *c = &out->confirmations[out->n_confirmations++];

        say_outcome(b, t, &message);
        *c = (struct confirmation){
            .revision = b->range->commits[t->culprit].id,
            .outcome = settled_outcome(b, t),
            .head = level_of(t->comparison, WITH),
            .reverted = level_of(t->comparison, WITHOUT),
            .message = buf_take(&message),
        };
        out->cost.n_builds += t->comparison->cost.n_builds;
        out->cost.n_runs += t->comparison->cost.n_runs;
        /* A refutation is the message already; else only a culprit is worth a word on its own. */
        bool is_worth_saying =
            !b->is_finished || (out->kind == VERDICT_CULPRIT && is_culprit(b, t->culprit));
        if (!is_worth_saying)
            continue;
        char *whole =
            b->is_finished ? mem_printf("%s; %s", out->message, c->message) : mem_dup(c->message);
        mem_free(out->message);
        out->message = whole;
    }
}
