/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "base/hash.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double uniform_of(uint64_t x)
{
    return ((double)(mix64(x) >> 11) + .5) / 9007199254740992.0;
}

double normal_of(uint64_t x)
{
    double u = uniform_of(x), v = uniform_of(mix64(x) + 1);

    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

enum { MAX_HEADS = 4 };

/** Grows a commit on one head, or forks an older commit, or merges two heads; the last takes all.
 */
static void grow(const struct world *w, struct commit *c, uint32_t v, uint32_t *heads,
                 uint32_t *n_heads)
{
    uint64_t dice = mix64(w->seed * 7919 + v);
    uint32_t at = (uint32_t)(uniform_of(dice) * *n_heads);
    double what = uniform_of(dice + 1);

    if (v == w->n) {
        while (*n_heads > 0)
            c->parents[c->n_parents++] = heads[--*n_heads];
    } else if (what < w->p_merge && *n_heads < MAX_HEADS) {
        c->parents[c->n_parents++] = (uint32_t)(uniform_of(dice + 2) * v);
        at = (*n_heads)++;
        for (uint32_t i = 0; i < at; i++) /* growing a head is not forking it */
            if (heads[i] == c->parents[0])
                at = i, --*n_heads, i = at;
    } else if (what<2 * w->p_merge && * n_heads> 1) {
        c->parents[c->n_parents++] = heads[at];
        heads[at] = heads[--*n_heads];
        at = at < *n_heads ? at : 0;
        c->parents[c->n_parents++] = heads[at];
    } else {
        c->parents[c->n_parents++] = heads[at];
    }
    heads[at < MAX_HEADS ? at : 0] = v;
}

bool world_is_docs(const struct world *w, uint32_t c)
{
    return w->docs_every > 0 && c % w->docs_every == w->docs_every / 2;
}

/** What it builds to: as its parent where it changes documentation alone. */
static uint32_t content_of(const struct world *w, const struct range *r, uint32_t v)
{
    while (v > 0 && world_is_docs(w, v - 1) && r->commits[v].n_parents == 1)
        v = r->commits[v].parents[0];
    return v;
}

/** Commit 0 is good; candidates are 1..n. */
struct range *world_range(const struct world *w)
{
    struct range *r = mem_alloc(sizeof(*r));
    uint32_t heads[MAX_HEADS] = {0}, n_heads = 1;

    r->n = w->n + 1;
    r->n_candidates = w->n;
    r->good = 0;
    r->bad = w->n;
    r->good_is_ancestor = true;
    r->commits = mem_array(r->n, sizeof(*r->commits));
    for (uint32_t v = 0; v < r->n; v++) {
        struct commit *c = &r->commits[v];
        snprintf(c->id.hex, sizeof(c->id.hex), "%016llx%024x",
                 (unsigned long long)mix64(w->seed * 1000003 + v), v);
        snprintf(c->tree.hex, sizeof(c->tree.hex), "%040x", v + 1);
        c->subject = mem_printf("commit %u", v);
        c->author = mem_dup("A <a@example.org>");
        c->is_candidate = v > 0;
        c->matters = true;
        c->parents = mem_array(MAX_HEADS, sizeof(uint32_t));
        if (v > 0)
            grow(w, c, v, heads, &n_heads);
        bool is_docs = v > 0 && world_is_docs(w, v - 1) && c->n_parents == 1;
        c->is_prose = is_docs && w->docs == DOCS_PROSE;
        c->matters = !is_docs || w->docs != DOCS_UNTOUCHED;
    }
    for (uint32_t v = w->n; r->commits[v].n_parents > 0; v = r->commits[v].parents[0])
        r->commits[v].is_mainline = true;
    r->commits[0].is_mainline = true;
    return r;
}

struct request *world_request(const struct world *w)
{
    struct request *r = mem_alloc(sizeof(*r));
    struct metric *m = metric_new("m", w->is_rate ? METRIC_EXIT : METRIC_VALUE);

    m->worse = w->worse;
    r->project = project_new("world", "/nowhere");
    project_add_metric(r->project, m);
    r->metric = mem_dup("m");
    r->good = mem_dup("good");
    r->bad = mem_dup("bad");
    r->platform = mem_dup("linux-x64");
    r->confidence = w->confidence;
    r->is_comparison = w->is_comparison;
    r->min_effect_percent = w->min_effect_percent > 0 ? w->min_effect_percent : -1;
    r->seed = w->seed;
    r->budget_runs = w->budget_runs > 0 ? w->budget_runs : 2000;
    r->project->confirm = w->is_confirming ? CONFIRM_REVERT : CONFIRM_NONE;
    return r;
}

struct play {
    const struct world *w;
    const struct range *range;
    uint8_t *is_bad;
    uint32_t *n_runs; /* of each commit, without verification */
    uint32_t turn;
    int64_t now_ns; /* 0 for ever, unless it is asked again */
};

static double value_of(const struct play *p, uint32_t v, bool is_reverted, uint64_t seed,
                       bool is_second_host)
{
    const struct world *w = p->w;
    double effect = w->effect * (is_reverted ? 1 - w->revert_share : 1);
    double level = w->level + (p->is_bad[v] ? effect : 0) + w->slope * v;

    if (w->is_rate)
        return uniform_of(seed) < level;
    if (w->flicker > 0)
        return level + (uniform_of(seed) < w->flicker);
    double out = level + w->sd * normal_of(seed);
    return is_second_host ? out * w->host_factor : out;
}

static bool is_broken(const struct world *w, uint32_t v)
{
    return v > 0 && v - 1 >= w->broken_from && v - 1 < w->broken_to;
}

static bool is_build_broken(const struct play *p, const struct task_build *b)
{
    return is_broken(p->w, range_find(p->range, &b->revision)) ||
           (revision_is_set(&b->revert) && p->w->is_revert_broken);
}

/** As a worker does. */
static bool is_known(const struct task_spec *t, const struct build_result *b)
{
    for (uint32_t i = 0; i < t->n_known; i++)
        if (!strcmp(t->known[i].artifact, b->artifact))
            return !revision_equal(&t->known[i].revision, &b->revision);
    return false;
}

static bool is_spared(const struct play *p, const struct task_spec *t, const struct build_result *b)
{
    return b->status == BUILD_OK && !p->w->is_worker_old && is_known(t, b);
}

static void play_task(struct play *p, const struct task_spec *t, struct outcome *out,
                      struct task_result *r)
{
    bool is_second_host = p->w->host_factor > 0 && p->turn++ % 2 == 1;

    r->environment.host = mem_dup(is_second_host ? "slow" : "fast");
    r->builds = mem_array(t->n_builds + 1, sizeof(*r->builds));
    r->runs = mem_array(t->n_runs + 1, sizeof(*r->runs));
    if (p->w->is_asked_again)
        p->now_ns += (int64_t)(100 * uniform_of(p->w->seed * 131 + t->ordinal)) * NS_PER_S;
    for (uint32_t i = 0; i < t->n_builds; i++) {
        struct build_result *b = &r->builds[r->n_builds++];
        uint32_t v = range_find(p->range, &t->builds[i].revision);
        bool is_reverted = revision_is_set(&t->builds[i].revert);
        b->revision = t->builds[i].revision;
        b->revert = t->builds[i].revert;
        b->seconds = 1;
        bool is_reused = t->builds[i].artifact[0] && !t->builds[i].fresh;
        b->status = is_build_broken(p, &t->builds[i]) ? BUILD_FAILED
                    : is_reused                       ? BUILD_REUSED
                                                      : BUILD_OK;
        if (b->status == BUILD_FAILED)
            b->reason =
                mem_dup(is_reverted ? "check out: reverting conflicts in f" : "make: error");
        else
            snprintf(b->artifact, sizeof(b->artifact), "%s%063x", is_reverted ? "f" : "0",
                     content_of(p->w, p->range, v) + 1);
        out->n_docs_builds += b->status == BUILD_OK && v > 0 && content_of(p->w, p->range, v) != v;
        out->n_search_builds += !is_reused && !t->is_verification && t->ordinal > 0;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        struct run_result *run = &r->runs[r->n_runs++];
        const struct task_build *build = &t->builds[t->runs[i].build];
        uint32_t v = range_find(p->range, &build->revision);
        run->run = i;
        run->seconds = 1;
        bool is_skipped =
            is_build_broken(p, build) ||
            (!t->builds[t->runs[i].build].fresh && is_spared(p, t, &r->builds[t->runs[i].build]));
        run->status = is_skipped ? RUN_SKIPPED : RUN_OK;
        if (is_skipped)
            continue;
        out->n_docs_runs += v > 0 && content_of(p->w, p->range, v) != v;
        run->at.ns = p->now_ns;
        p->now_ns += p->w->is_asked_again ? NS_PER_S : 0;
        run->value =
            value_of(p, v, revision_is_set(&build->revert), t->runs[i].seed, is_second_host);
        if (!t->is_verification && ++p->n_runs[v] > out->max_runs)
            out->max_runs = p->n_runs[v];
    }
}

static void mark_bad(const struct world *w, const struct range *range, uint8_t *is_bad)
{
    for (uint32_t v = 1; v < range->n && w->culprit != UINT32_MAX; v++) {
        is_bad[v] = v == w->culprit + 1;
        for (uint32_t i = 0; i < range->commits[v].n_parents; i++)
            is_bad[v] |= is_bad[range->commits[v].parents[i]];
    }
}

static struct stored_build *artifacts_of(const struct range *r)
{
    struct stored_build *out = mem_array(r->n, sizeof(*out));

    for (uint32_t v = 0; v < r->n; v++) {
        out[v].revision = r->commits[v].id;
        memset(out[v].artifact, 'a', 64);
        memcpy(out[v].artifact, r->commits[v].id.hex, 40);
    }
    return out;
}

/** All that happened, to tell it once more. */
struct diary {
    size_t n;
    struct task_spec **specs;
    struct task_result **results;
};

static void diary_add(struct diary *d, struct task_spec *spec, struct task_result *result)
{
    d->specs = mem_resize(d->specs, d->n + 1, sizeof(struct task_spec *));
    d->results = mem_resize(d->results, d->n + 1, sizeof(struct task_result *));
    d->specs[d->n] = spec;
    d->results[d->n++] = result;
}

static void diary_fini(struct diary *d)
{
    for (size_t i = 0; i < d->n; i++) {
        task_spec_free(d->specs[i]);
        task_result_free(d->results[i]);
    }
    mem_free(d->specs);
    mem_free(d->results);
}

static struct event result_event(const struct diary *d, size_t i)
{
    return (struct event){
        .kind = EVENT_RESULT, .ordinal = d->specs[i]->ordinal, .result = d->results[i]};
}

static struct bisection *begin(const struct request *request, const struct range *range)
{
    struct bisection *b = NULL;
    struct err e = {0};

    if (bisection_new(request, range, &b, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    return b;
}

/** As after a restart: absorbed, not decided, but for the last event. */
static struct bisection *remember(const struct request *request, const struct range *range,
                                  const struct event *started, const struct diary *d)
{
    struct bisection *b = begin(request, range);

    bisection_absorb(b, started);
    for (size_t i = 0; i + 1 < d->n; i++) {
        struct event event = result_event(d, i);
        bisection_issued(b, d->specs[i]);
        bisection_absorb(b, &event);
    }
    bisection_issued(b, d->specs[d->n - 1]);
    return b;
}

/** One value of each commit. */
static struct stored_sample *series_of(const struct play *p)
{
    struct stored_sample *out = mem_array(p->range->n, sizeof(*out));

    for (uint32_t v = 0; v < p->range->n; v++)
        out[v] = (struct stored_sample){
            .revision = p->range->commits[v].id,
            .value = p->w->series_factor * value_of(p, v, false, mix64(p->w->seed * 31 + v), false),
            .host = p->w->series_factor == 1 ? "fast" : "ci"};
    return out;
}

static bool is_confirmation(const struct task_spec *t)
{
    for (uint32_t i = 0; i < t->n_builds; i++)
        if (revision_is_set(&t->builds[i].revert))
            return true;
    return false;
}

/** What a store has of it all. */
struct stored {
    size_t n_samples, n_verifications;
    struct stored_sample *samples;
    struct stored_verification *verifications;
};

static void store(struct stored *s, const struct task_spec *t, const struct task_result *r)
{
    s->samples = mem_resize(s->samples, s->n_samples + t->n_runs + 1, sizeof(*s->samples));
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].status == RUN_OK)
            s->samples[s->n_samples++] = (struct stored_sample){
                .revision = t->builds[t->runs[i].build].revision,
                .value = r->runs[i].value,
                .host = r->environment.host,
                .at = r->runs[i].at,
                .seconds = r->runs[i].seconds,
                .number = t->runs[i].number,
            };
    if (!t->is_verification)
        return;
    struct stored_build *builds = mem_array(t->n_builds, sizeof(*builds));
    for (uint32_t i = 0; i < t->n_builds; i++) {
        builds[i].revision = t->builds[i].revision;
        memcpy(builds[i].artifact, r->builds[i].artifact, sizeof(builds[i].artifact));
    }
    s->verifications =
        mem_resize(s->verifications, s->n_verifications + 1, sizeof(*s->verifications));
    s->verifications[s->n_verifications++] =
        (struct stored_verification){.bisection = "b1",
                                     .is_fresh = t->builds[0].fresh,
                                     .n_builds = t->n_builds,
                                     .builds = builds};
}

static void ask_again(const struct request *request, const struct range *range,
                      const struct diary *d, struct outcome *out)
{
    AUTO(bisection_free) struct bisection *b = begin(request, range);
    AUTO(effects_fini) struct effects effects = {0};
    AUTO(verdict_fini) struct verdict v = {0};
    struct stored s = {0};

    for (size_t i = 0; i < d->n; i++)
        store(&s, d->specs[i], d->results[i]);
    struct event started = {.kind = EVENT_STARTED,
                            .n_samples = s.n_samples,
                            .samples = s.samples,
                            .n_verifications = s.n_verifications,
                            .verifications = s.verifications};
    bisection_step(b, &started, &effects);
    for (size_t i = 0; i < s.n_verifications; i++)
        mem_free(s.verifications[i].builds);
    mem_free(s.verifications);
    mem_free(s.samples);
    bisection_verdict(b, &v);
    out->again_p_none = v.p_no_change;
    out->n_again = (uint32_t)effects.n_issue;
}

void world_search(const struct world *w, struct outcome *out)
{
    AUTO(range_free) struct range *range = world_range(w);
    AUTO(request_free) struct request *request = world_request(w);
    AUTO(bisection_free) struct bisection *b = begin(request, range);
    struct play play = {w, range, mem_array(range->n, 1), mem_array(range->n, sizeof(uint32_t)),
                        0, 0};
    struct diary diary = {0};

    *out = (struct outcome){.named = UINT32_MAX};
    mark_bad(w, range, play.is_bad);
    struct stored_build *artifacts = artifacts_of(range);
    struct stored_sample *series = series_of(&play);
    struct event started = {.kind = EVENT_STARTED,
                            .n_builds = w->has_artifacts ? range->n : 0,
                            .builds = artifacts,
                            .n_samples = w->series_factor > 0 ? range->n : 0,
                            .samples = series};
    struct event event = started;
    for (;;) {
        AUTO(effects_fini) struct effects effects = {0};
        bisection_step(b, &event, &effects);
        if (effects.is_finished)
            break;
        struct task_result *result = mem_alloc(sizeof(*result));
        play_task(&play, effects.issue[0], out, result);
        diary_add(&diary, task_spec_copy(effects.issue[0]), result);
        out->n_tasks++;
        event = result_event(&diary, diary.n - 1);
        if (w->interruption && is_confirmation(effects.issue[0]))
            event = (struct event){.kind = w->interruption,
                                   .ordinal = effects.issue[0]->ordinal,
                                   .reason = "disk full"};
        if (!w->is_forgetful)
            continue;
        bisection_free(b);
        b = remember(request, range, &started, &diary);
    }
    bisection_verdict(b, &out->verdict);
    if (w->is_asked_again)
        ask_again(request, range, &diary, out);
    out->n_builds = out->verdict.cost.n_builds;
    out->n_runs = out->verdict.cost.n_runs;
    if (out->verdict.n_culprits > 0)
        out->named = range_find(range, &out->verdict.culprits[0].revision) - 1;
    diary_fini(&diary);
    mem_free(artifacts);
    mem_free(series);
    mem_free(play.is_bad);
    mem_free(play.n_runs);
}

void outcome_fini(struct outcome *o)
{
    struct verdict *v = mem_alloc(sizeof(*v));

    *v = o->verdict;
    verdict_free(v);
    *o = (struct outcome){.named = UINT32_MAX};
}

uint32_t seeds_of(uint32_t n, uint32_t few)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return n < few ? n : few;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return n < few ? n : few;
#endif
#endif
    (void)few;
    return n;
}
