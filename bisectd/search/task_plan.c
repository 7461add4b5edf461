/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/mem.h"
#include "search/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    VERIFY_RUNS_NOISY = 3,     /* of each side; the posterior asks for more if it does not hold */
    VERIFY_RUNS_EXACT = 5,     /* values without spread: enough to see a count that flickers */
    RUNS_OF_LAST_RESORT = 500, /* of either end */
    RUNS_AHEAD = 8, /* of a revision being built so many are counted on: it is for them */
    RUNS_ALONE = 4  /* of the only revision measured on a host */
};
static const double task_seconds = .1;      /* what a task costs beside builds and runs */
static const double useless_part = .2;      /* of what else could start: worth breaking off */
static const double least_rate_bits = 1e-5; /* per run: below this nothing is left to learn */

static struct task_spec *spec_new(const struct bisection *b)
{
    struct task_spec *t = mem_alloc(sizeof(*t));

    t->ordinal = b->next_ordinal;
    return t;
}

static uint32_t spec_add_build(struct task_spec *t, const struct bisection *b, uint32_t v,
                               bool is_fresh)
{
    t->builds = mem_resize(t->builds, t->n_builds + 1, sizeof(*t->builds));
    struct task_build *build = &t->builds[t->n_builds];
    *build = (struct task_build){.revision = b->range->commits[v].id,
                                 .fresh = is_fresh,
                                 .fixups = b->range->commits[v].fixups};
    memcpy(build->artifact, b->standing[v].artifact, sizeof(build->artifact));
    return t->n_builds++;
}

/** The seed of a run depends on the bisection's seed, the revision and the run's number alone. It
 *  fits 31 bits: awk's srand saturates there and a shell's arithmetic at 63. */
static uint64_t seed_of(const struct bisection *b, uint32_t v, uint32_t number)
{
    char head[17] = {0};

    memcpy(head, b->range->commits[v].id.hex, 16);
    uint64_t x = mix64(b->seed + UINT64_C(0x9e3779b97f4a7c15));
    x = mix64(x ^ strtoull(head, NULL, 16));
    return mix64(x + number) & 0x7fffffff;
}

static void spec_add_run(struct task_spec *t, const struct bisection *b, uint32_t build, uint32_t v)
{
    uint32_t number = b->standing[v].next_number;

    for (uint32_t i = 0; i < t->n_runs; i++)
        number += t->runs[i].build == build;
    t->runs = mem_resize(t->runs, t->n_runs + 1, sizeof(*t->runs));
    t->runs[t->n_runs++] = (struct task_run){build, number, seed_of(b, v, number)};
}

/** Runs of one revision in a task. */
struct turn {
    uint32_t v, build, n_runs;
};

/** One run of each in turn while it has some left, every second round backwards, so that a drift
 *  falls on all alike. */
static void spec_add_turns(struct task_spec *t, const struct bisection *b, const struct turn *turns,
                           uint32_t n)
{
    uint32_t rounds = 0;

    for (uint32_t i = 0; i < n; i++)
        rounds = turns[i].n_runs > rounds ? turns[i].n_runs : rounds;
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t i = 0; i < n; i++) {
            const struct turn *turn = &turns[round % 2 == 0 ? i : n - 1 - i];
            if (turn->n_runs > round)
                spec_add_run(t, b, turn->build, turn->v);
        }
}

static void spec_add_rounds(struct task_spec *t, const struct bisection *b,
                            const uint32_t *revisions, uint32_t n, uint32_t rounds, bool is_fresh)
{
    struct turn turns[1 + MAX_PARTNERS];

    for (uint32_t i = 0; i < n; i++)
        turns[i] =
            (struct turn){revisions[i], spec_add_build(t, b, revisions[i], is_fresh), rounds};
    spec_add_turns(t, b, turns, n);
}

struct task_spec *plan_ends(struct bisection *b, uint32_t n_runs)
{
    struct task_spec *t = spec_new(b);
    uint32_t n = bisection_n_ends(b);
    struct turn *turns = mem_array(n, sizeof(*turns));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = bisection_end(b, i), slot = evidence_find(b->evidence, v);
        uint32_t have = slot == UINT32_MAX ? 0 : (uint32_t)b->evidence->sampled[slot].all.n;
        turns[i] =
            (struct turn){v, spec_add_build(t, b, v, false), have < n_runs ? n_runs - have : 0};
    }
    spec_add_turns(t, b, turns, n);
    mem_free(turns);
    return t;
}

struct task_spec *plan_none_check(struct bisection *b)
{
    struct task_spec *t = spec_new(b);
    uint32_t ends[2] = {b->range->good, b->bad_end};

    t->is_verification = true;
    spec_add_rounds(t, b, ends, LEN(ends), VERIFY_RUNS_NOISY, false);
    return t;
}

struct task_spec *plan_repeat(struct bisection *b, uint32_t suspect)
{
    struct task_spec *t = spec_new(b);
    uint32_t all[3 + MAX_PARTNERS] = {suspect};
    uint32_t n_near = 1 + verification_partners(b, suspect, all + 1, MAX_PARTNERS);
    struct turn turns[3 + MAX_PARTNERS] = {{0}};

    all[n_near] = b->range->good;
    all[n_near + 1] = b->bad_end;
    for (uint32_t i = 0; i < n_near + 2; i++) {
        uint32_t missing = runs_missing(b, suspect, all[i], i < n_near);
        /* One that is listed before is counted there, among those near. */
        if (missing > 0 && !is_among(all, i, all[i]))
            turns[i] = (struct turn){all[i], spec_add_build(t, b, all[i], false), missing};
    }
    spec_add_turns(t, b, turns, n_near + 2);
    return t;
}

/** What is being built is not built twice. */
static void bar_out(const struct bisection *b, uint8_t *is_barred)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        for (uint32_t j = 0; j < b->out[i]->n_builds; j++) {
            uint32_t v = range_index_find(b->index, &b->out[i]->builds[j].revision);
            if (v != UINT32_MAX && b->standing[v].testable != TESTABLE_YES)
                is_barred[v] = true;
        }
}

/** On a host where nothing else has runs more of the same cannot tell its level from the host's. */
static void bar_lone(const struct bisection *b, uint8_t *is_barred)
{
    const struct evidence *e = b->evidence;

    for (uint32_t h = 0; h < e->n_hosts && e->n > 1; h++) {
        uint32_t n_here = 0, lone = 0;
        for (uint32_t i = 0; i < e->n; i++)
            if (e->sampled[i].n_runs[h] > 0) {
                n_here++;
                lone = i;
            }
        if (n_here == 1 && e->sampled[lone].n_runs[h] >= RUNS_ALONE)
            is_barred[e->sampled[lone].revision] = true;
    }
}

static int by_revision(const void *a, const void *b)
{
    uint32_t v = ((const struct pending *)a)->revision, w = ((const struct pending *)b)->revision;

    return (v > w) - (v < w);
}

/** Runs in flight of each revision; of one that is being built those that are to follow as well.
 *  With more ends than anybody has, the youngest revisions are left out. */
static uint32_t pending_fill(const struct bisection *b, struct pending *out)
{
    struct pending *all = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < b->n_out; i++)
        for (uint32_t r = 0; r < b->out[i]->n_runs; r++) {
            const struct task_build *build = &b->out[i]->builds[b->out[i]->runs[r].build];
            uint32_t v = range_index_find(b->index, &build->revision), k = 0;
            while (k < n && all[k].revision != v)
                k++;
            if (v == UINT32_MAX)
                continue;
            if (k == n) {
                all = mem_resize(all, n + 1, sizeof(*all));
                all[n++] = (struct pending){.revision = v};
            }
            all[k].n_runs++;
        }
    if (n > 0)
        qsort(all, n, sizeof(*all), by_revision); /* whatever way the tasks came to be listed */
    n = n < OUTLOOK_MAX_PENDING ? n : OUTLOOK_MAX_PENDING;
    for (uint32_t k = 0; k < n; k++) {
        out[k] = all[k];
        if (b->standing[out[k].revision].testable != TESTABLE_YES && out[k].n_runs < RUNS_AHEAD)
            out[k].n_runs = RUNS_AHEAD;
    }
    mem_free(all);
    return n;
}

static double mean_run_seconds(const struct bisection *b)
{
    return b->n_runs_timed > 0 ? fmax(b->run_seconds / b->n_runs_timed, 1e-3) : 1;
}

/** A build's price in runs, from what builds and runs have taken so far. */
static double build_price(const struct bisection *b)
{
    if (b->n_builds_timed == 0)
        return 1;
    return b->build_seconds / b->n_builds_timed / mean_run_seconds(b);
}

/** Lease, checkout and unpacking, in runs; more than one run's worth is not saved by batches. */
static double task_price(const struct bisection *b)
{
    return fmin(task_seconds / mean_run_seconds(b), 1);
}

/** Choosing again after each run is best, unless the tasks would cost more than the runs. */
static uint32_t batch_of(const struct bisection *b, uint32_t n_runs)
{
    uint32_t worth = (uint32_t)ceil(4 * task_price(b));

    return worth < n_runs ? worth : n_runs;
}

/** What the planner is to look at; owns the arrays. */
struct view {
    struct planner planner;
    uint8_t *testable, *is_barred;
    double *p_builds;
    struct pending pending[OUTLOOK_MAX_PENDING];
};

static void view_fill(const struct bisection *b, bool is_blind, struct view *out)
{
    uint32_t n = b->range->n, n_pending = pending_fill(b, out->pending);
    bool is_inside = bisection_is_inside(b);

    out->testable = mem_array(n, 1);
    out->is_barred = mem_array(n, 1);
    out->p_builds = mem_array(n, sizeof(*out->p_builds));
    for (uint32_t v = 0; v < n; v++) {
        out->testable[v] = b->standing[v].testable;
        out->is_barred[v] = b->standing[v].is_exhausted || !bisection_may_test(b, v, is_inside);
    }
    bar_out(b, out->is_barred);
    bar_lone(b, out->is_barred);
    same_bar(b, is_inside, out->is_barred);
    planner_p_builds(out->testable, n, out->p_builds);
    out->planner = (struct planner){
        .dag = b->dag,
        .posterior = b->posterior,
        .evidence = b->evidence,
        .testable = out->testable,
        .p_builds = out->p_builds,
        .is_barred = out->is_barred,
        .n_pending = n_pending,
        .pending = out->pending,
        .is_blind = is_blind,
        .good = b->range->good,
        .bad = b->bad_end,
        .last_built = b->last_built,
        .build_price = build_price(b),
        .task_price = task_price(b),
    };
}

static void view_fini(struct view *v)
{
    mem_free(v->testable);
    mem_free(v->is_barred);
    mem_free(v->p_builds);
}
DEFINE_AUTO_FINI(struct view, view_fini)

/** Builds alone, to compare the bytes of two revisions. */
static struct task_spec *plan_settling(struct bisection *b, uint32_t base, uint32_t v)
{
    struct task_spec *t = spec_new(b);

    if (!b->standing[base].artifact[0])
        spec_add_build(t, b, base, false);
    spec_add_build(t, b, v, false);
    return t;
}

struct task_spec *plan_settling_first(struct bisection *b, uint32_t suspect)
{
    const struct commit *c = &b->range->commits[suspect];

    for (uint32_t i = 0; i <= c->n_parents; i++) {
        uint32_t v = i == 0 ? suspect : c->parents[i - 1];
        uint32_t base = same_base(b, v);
        if (base != UINT32_MAX && b->standing[v].testable != TESTABLE_NO)
            return plan_settling(b, base, v);
    }
    return NULL;
}

struct task_spec *plan_one(struct bisection *b, uint32_t v)
{
    struct task_spec *t = spec_new(b);

    spec_add_run(t, b, spec_add_build(t, b, v, false), v);
    return t;
}

/** Where hosts differ or levels drift a run says little without one of the good end beside it. */
static bool wants_reference(const struct bisection *b)
{
    return posterior_wants_reference(b->posterior) && !has_no_spread(b);
}

/** The best revision to test that need not wait for the bytes of another. */
static struct probe choose(const struct bisection *b, struct view *view)
{
    struct probe c = planner_choose(&view->planner);
    uint32_t base = UINT32_MAX;

    while (c.revision != UINT32_MAX && (base = same_base(b, c.revision)) != UINT32_MAX &&
           bisection_is_out(b, base)) {
        view->is_barred[c.revision] = true;
        c = planner_choose(&view->planner);
    }
    /* Of documentation, by its name: what it is likely to repeat tells as much, and comes first. */
    if (base != UINT32_MAX && !view->is_barred[base] && !b->standing[base].artifact[0] &&
        b->posterior->class_of[base] == b->posterior->class_of[c.revision])
        c.revision = base;
    return c;
}

struct task_spec *plan_search(struct bisection *b, bool is_blind)
{
    AUTO(view_fini) struct view view = {0};

    view_fill(b, is_blind, &view);
    struct probe c = choose(b, &view);
    if (c.revision == UINT32_MAX || c.info_bits < least_rate_bits * c.price_runs)
        return NULL;
    b->last_rate = c.info_bits / c.price_runs;
    if (!is_blind)
        b->runs_to_go = c.n_runs * b->posterior->entropy_bits / c.info_bits;

    uint32_t base = same_base(b, c.revision);
    if (base != UINT32_MAX)
        return plan_settling(b, base, c.revision);

    struct task_spec *t = spec_new(b);
    uint32_t main = spec_add_build(t, b, c.revision, false);
    same_tell(b, c.revision, t);
    bool has_reference = wants_reference(b) && c.revision != b->range->good;
    uint32_t reference = has_reference ? spec_add_build(t, b, b->range->good, false) : 0;
    for (uint32_t i = 0; i < batch_of(b, c.n_runs); i++) {
        spec_add_run(t, b, main, c.revision);
        if (has_reference && i % 2 == 0)
            spec_add_run(t, b, reference, b->range->good);
    }
    return t;
}

/** The task that builds it, if that is what the task is for. */
static uint32_t builder_of(const struct bisection *b, uint32_t v)
{
    for (uint32_t i = 0; i < b->n_out; i++)
        if (!b->out[i]->is_verification &&
            revision_equal(&b->out[i]->builds[0].revision, &b->range->commits[v].id))
            return b->out[i]->ordinal;
    return UINT32_MAX;
}

/** The one in flight, among those being built for the search, that the least is to be learned of.
 */
static uint32_t least_useful(const struct bisection *b, const struct view *view, double *rate)
{
    double rates[OUTLOOK_MAX_PENDING];
    uint32_t worst = UINT32_MAX;

    *rate = INFINITY;
    planner_rates(&view->planner, rates);
    for (uint32_t i = 0; i < view->planner.n_pending; i++) {
        uint32_t v = view->pending[i].revision;
        if (b->standing[v].testable != TESTABLE_UNKNOWN || v == b->range->good || v == b->bad_end ||
            rates[i] >= *rate)
            continue;
        uint32_t ordinal = builder_of(b, v);
        worst = ordinal == UINT32_MAX ? worst : ordinal;
        *rate = ordinal == UINT32_MAX ? *rate : rates[i];
    }
    return worst;
}

uint32_t plan_useless(const struct bisection *b)
{
    AUTO(view_fini) struct view view = {0};
    double rate;

    if (b->is_comparison || b->is_stale)
        return UINT32_MAX;
    view_fill(b, false, &view);
    uint32_t ordinal = least_useful(b, &view, &rate);
    /* A choice beside more in flight is worth less than the last one was. */
    if (ordinal == UINT32_MAX || rate >= useless_part * b->last_rate)
        return UINT32_MAX;
    struct probe c = planner_choose(&view.planner);
    bool is_worth_it = c.revision != UINT32_MAX && rate < useless_part * c.info_bits / c.price_runs;
    return is_worth_it ? ordinal : UINT32_MAX;
}

/** The newest revision measured good that `v` stands on. */
static uint32_t good_below(const struct bisection *b, uint32_t v)
{
    uint8_t *mark = mem_array(b->range->n, 1);
    uint32_t best = b->range->good;
    bool has_best = false;

    dag_mark_ancestors(b->dag, v, mark);
    for (uint32_t i = 0; i < b->evidence->n; i++) {
        uint32_t s = b->evidence->sampled[i].revision;
        if (s != v && mark[s] && (!has_best || s > best)) {
            best = s;
            has_best = true;
        }
    }
    mem_free(mark);
    return best;
}

uint32_t verification_partners(const struct bisection *b, uint32_t v, uint32_t *out, uint32_t max)
{
    const struct commit *c = &b->range->commits[v];
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_parents && n < max; i++) {
        uint32_t parent = same_stand_in(b, c->parents[i], v);
        if (b->standing[parent].testable != TESTABLE_NO && !is_among(out, n, parent))
            out[n++] = parent;
    }
    if (n == 0)
        out[n++] = good_below(b, v);
    return n;
}

struct task_spec *plan_verification(struct bisection *b, uint32_t suspect)
{
    struct task_spec *t = spec_new(b);
    uint32_t revisions[1 + MAX_PARTNERS] = {suspect};
    uint32_t n = 1 + verification_partners(b, suspect, revisions + 1, MAX_PARTNERS);
    double dof, sd = evidence_within_sd(b->evidence, &dof);
    uint32_t rounds =
        !is_rate(b) && sd <= b->posterior->scale.floor ? VERIFY_RUNS_EXACT : VERIFY_RUNS_NOISY;

    t->is_verification = true;
    spec_add_rounds(t, b, revisions, n, rounds, true);
    return t;
}

struct task_spec *plan_last_resort(struct bisection *b)
{
    const struct posterior *p = b->posterior;
    uint32_t most = 0;

    if (p->p_none + p->p_reversed + p->p_hump + p->p_merge_base < .5)
        return NULL;
    for (uint32_t i = 0; i < bisection_n_ends(b); i++) {
        uint32_t v = bisection_end(b, i), slot = evidence_find(b->evidence, v);
        if (slot == UINT32_MAX || b->standing[v].is_exhausted ||
            b->standing[v].testable == TESTABLE_NO)
            return NULL;
        most = (uint32_t)fmax(most, b->evidence->sampled[slot].all.n);
    }
    return most < RUNS_OF_LAST_RESORT ? plan_ends(b, most + 2) : NULL;
}
