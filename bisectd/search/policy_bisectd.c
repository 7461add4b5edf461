/* SPDX-License-Identifier: Apache-2.0 */
/* The real search: struct bisection issues tasks, and a made-up pool of workers carries them out
 * in simulated time. */
#include "base/mem.h"
#include "search/bisection.h"
#include "search/dice.h"
#include "search/history.h"
#include "search/policy.h"
#include "search/recording.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BISECTION = 201, KEY_VALUES, TASKS_MOST = 100000 };

struct question {
    struct range *range;
    struct request *request;
};

/** A worker's place: a task at work, or none. */
struct place {
    struct task_spec *task; /* NULL: idle */
    double begin, end;
    uint32_t host;
    char worker[16], host_name[16];
};

struct game {
    const struct question *question;
    struct scene *scene;
    struct bisection *search;
    struct task_spec **queue; /* issued and not begun, oldest first */
    uint32_t n_queue;
    struct place places[NOISE_MAX_WORKERS];
    bool is_finished;
};

static void *prepare(const struct setting *setting)
{
    struct question *q = mem_alloc(sizeof(*q));
    struct request *r = mem_alloc(sizeof(*r));
    struct metric *m = metric_new("m", METRIC_VALUE);

    m->worse = WORSE_UP;
    m->command = mem_dup("true"); /* so that the request is one that a service takes */
    r->project = project_new("simulated", "/nowhere");
    project_add_metric(r->project, m);
    r->metric = mem_dup("m");
    r->good = mem_dup("good");
    r->bad = mem_dup("bad");
    r->platform = mem_dup(REQUEST_PLATFORM);
    r->confidence = setting->confidence;
    r->min_effect_percent = -1;
    r->budget_runs = setting->budget_runs;
    q->request = r;
    q->range = history_line(setting->n_commits);
    for (uint32_t v = 0; setting->revisions && v < q->range->n; v++)
        q->range->commits[v].id = setting->revisions[v];
    return q;
}

static void release(void *shared)
{
    struct question *q = shared;

    range_free(q->range);
    request_free(q->request);
    mem_free(q);
}

static uint32_t revision_of(const struct game *g, const struct task_build *b)
{
    return range_find(g->question->range, &b->revision);
}

static bool is_end(const struct game *g, uint32_t revision)
{
    return revision == 0 || revision == g->scene->n;
}

/** Ends are at hand when the clock starts, except where verification wants them fresh. */
static bool is_counted(const struct game *g, const struct task_spec *t, uint32_t build)
{
    const struct task_build *b = &t->builds[build];

    if (b->fresh)
        return true;
    return !b->artifact[0] && !is_end(g, revision_of(g, b));
}

static bool is_run_possible(const struct game *g, const struct task_spec *t, uint32_t run)
{
    return !scene_is_broken(g->scene, revision_of(g, &t->builds[t->runs[run].build]));
}

/** Adds to the bill what of the task is begun after `elapsed` run lengths; returns how long all of
 *  it takes. */
static double bill(struct game *g, const struct task_spec *t, double elapsed)
{
    double at = 0;

    for (uint32_t i = 0; i < t->n_builds; i++) {
        if (!is_counted(g, t, i))
            continue;
        g->scene->n_builds += at < elapsed;
        at += g->scene->setting->build_cost;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        if (!is_run_possible(g, t, i))
            continue;
        g->scene->n_runs += at < elapsed;
        at += 1;
    }
    return at;
}

static void begin_tasks(struct game *g)
{
    for (uint32_t w = 0; w < g->scene->setting->n_workers && g->n_queue > 0; w++) {
        struct place *p = &g->places[w];
        if (p->task)
            continue;
        *p = (struct place){.task = g->queue[0], .begin = g->scene->now};
        p->end = p->begin + bill(g, p->task, -1);
        p->host = scene_host(g->scene, w);
        snprintf(p->worker, sizeof(p->worker), "worker-%u", w);
        snprintf(p->host_name, sizeof(p->host_name), "host-%u", p->host);
        if (g->scene->record)
            recording_begin(g->scene->record, p->task, p->worker, p->host_name);
        memmove(g->queue, g->queue + 1, --g->n_queue * sizeof(*g->queue));
    }
}

static void cancel(struct game *g, uint32_t ordinal)
{
    for (uint32_t i = g->n_queue; i-- > 0;)
        if (g->queue[i]->ordinal == ordinal) {
            task_spec_free(g->queue[i]);
            memmove(g->queue + i, g->queue + i + 1, (--g->n_queue - i) * sizeof(*g->queue));
        }
    for (uint32_t w = 0; w < NOISE_MAX_WORKERS; w++) {
        struct place *p = &g->places[w];
        if (!p->task || p->task->ordinal != ordinal)
            continue;
        bill(g, p->task, g->scene->now - p->begin);
        task_spec_free(TAKE(p->task));
    }
}

static void step(struct game *g, const struct event *event)
{
    AUTO(effects_fini) struct effects f = {0};

    bisection_step(g->search, event, &f);
    g->scene->n_decisions++;
    if (g->scene->record)
        recording_event(g->scene->record, g->search, event, &f);
    for (size_t i = 0; i < f.n_cancel; i++)
        cancel(g, f.cancel[i]);
    g->queue = mem_resize(g->queue, g->n_queue + f.n_issue + 1, sizeof(*g->queue));
    for (size_t i = 0; i < f.n_issue; i++)
        g->queue[g->n_queue++] = TAKE(f.issue[i]);
    f.n_issue = 0;
    g->is_finished = f.is_finished;
}

static void start(struct game *g)
{
    uint32_t n_stored = g->scene->setting->n_stored, n = 0;
    struct stored_sample *stored = mem_array(2 * (size_t)n_stored + 1, sizeof(*stored));
    char(*hosts)[16] = mem_array(2 * (size_t)n_stored + 1, sizeof(*hosts));

    for (uint32_t i = 0; i < n_stored; i++)
        for (uint32_t end = 0; end < 2; end++, n++) {
            uint32_t host, v = end == 0 ? 0 : g->scene->n;
            stored[n].revision = g->question->range->commits[v].id;
            stored[n].value = scene_stored(g->scene, v, i, &host);
            stored[n].number = i;
            stored[n].at.ns = (int64_t)n * NS_PER_S;
            stored[n].seconds = 1;
            snprintf(hosts[n], sizeof(hosts[n]), "host-%u", host);
            stored[n].host = hosts[n];
        }
    step(g, &(struct event){.kind = EVENT_STARTED, .n_samples = n, .samples = stored});
    if (g->scene->setting->n_workers > 1 && !g->is_finished)
        step(g, &(struct event){.kind = EVENT_CAPACITY, .n_workers = g->scene->setting->n_workers});
    mem_free(stored);
    mem_free(hosts);
}

/** All builds of a revision are the same bytes, and no two revisions are. */
static void report_build(struct game *g, const struct task_build *b, struct build_result *out)
{
    uint32_t v = revision_of(g, b);

    out->revision = b->revision;
    if (scene_is_broken(g->scene, v)) {
        out->status = BUILD_FAILED;
        out->reason = mem_dup("make: error");
    } else {
        out->status = b->artifact[0] && !b->fresh ? BUILD_REUSED : BUILD_OK;
        snprintf(out->artifact, sizeof(out->artifact), "%064x", v + 1);
    }
    out->seconds = out->status == BUILD_REUSED ? 0 : g->scene->setting->build_cost;
}

static void report_run(struct game *g, const struct place *p, uint32_t run, double time,
                       struct run_result *out)
{
    const struct task_run *r = &p->task->runs[run];
    uint32_t v = revision_of(g, &p->task->builds[r->build]);

    out->run = run;
    out->status = is_run_possible(g, p->task, run) ? RUN_OK : RUN_SKIPPED;
    if (out->status == RUN_SKIPPED)
        return;
    uint64_t key = dice_key(dice_key(g->scene->key, KEY_VALUES), r->seed);
    out->value = noise_value(
        &g->scene->noise,
        &(struct noise_run){
            .change = scene_change(g->scene, v), .time = time, .key = key, .worker = p->host});
    out->at.ns = (int64_t)llround(time * (double)NS_PER_S);
    out->seconds = 1;
}

static struct task_result *report(struct game *g, const struct place *p)
{
    struct task_result *r = mem_alloc(sizeof(*r));
    const struct task_spec *t = p->task;
    double time = g->scene->start + p->begin;

    r->environment.host = mem_dup(p->host_name);
    r->environment.worker = mem_dup(p->worker);
    r->environment.platform = mem_dup(g->question->request->platform);
    r->n_builds = t->n_builds;
    r->builds = mem_array(t->n_builds + 1, sizeof(*r->builds));
    r->n_runs = t->n_runs;
    r->runs = mem_array(t->n_runs + 1, sizeof(*r->runs));
    for (uint32_t i = 0; i < t->n_builds; i++) {
        report_build(g, &t->builds[i], &r->builds[i]);
        time += is_counted(g, t, i) ? g->scene->setting->build_cost : 0;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        report_run(g, p, i, time, &r->runs[i]);
        time += r->runs[i].status == RUN_OK;
    }
    return r;
}

/** Of those at work the first to end; NULL if all are idle. */
static struct place *next_to_end(struct game *g)
{
    struct place *best = NULL;

    for (uint32_t w = 0; w < g->scene->setting->n_workers; w++)
        if (g->places[w].task && (!best || g->places[w].end < best->end))
            best = &g->places[w];
    return best;
}

static void finish(struct game *g, struct place *p)
{
    AUTO(task_result_free) struct task_result *r = report(g, p);
    AUTO(task_spec_free) struct task_spec *t = TAKE(p->task);

    bill(g, t, INFINITY);
    g->scene->now = p->end;
    step(g, &(struct event){.kind = EVENT_RESULT, .ordinal = t->ordinal, .result = r});
}

static void take_answer(const struct game *g, struct answer *out)
{
    AUTO(verdict_fini) struct verdict v = {0};
    const struct range *range = g->question->range;

    bisection_verdict(g->search, &v);
    if (v.kind == VERDICT_NOT_REPRODUCED)
        out->kind = ANSWER_NOT_REPRODUCED;
    if (v.kind == VERDICT_RANGE)
        out->kind = ANSWER_RANGE;
    for (size_t i = 0; v.kind == VERDICT_RANGE && i < v.n_candidates; i++)
        answer_add(out, range_find(range, &v.candidates[i].revision));
    if (v.kind != VERDICT_CULPRIT)
        return;
    out->kind = ANSWER_CULPRITS;
    out->shares = mem_array(v.n_culprits, sizeof(*out->shares));
    for (size_t i = 0; i < v.n_culprits; i++)
        answer_add(out, range_find(range, &v.culprits[i].revision));
    for (size_t i = 0; i < v.n_culprits; i++)
        for (uint32_t k = 0; k < out->n; k++)
            if (out->revisions[k] == range_find(range, &v.culprits[i].revision))
                out->shares[k] = v.culprits[i].share;
}

static void game_fini(struct game *g)
{
    for (uint32_t i = 0; i < g->n_queue; i++)
        task_spec_free(g->queue[i]);
    for (uint32_t w = 0; w < NOISE_MAX_WORKERS; w++)
        task_spec_free(g->places[w].task);
    mem_free(g->queue);
    bisection_free(g->search);
}
DEFINE_AUTO_FINI(struct game, game_fini)

static void play(const void *shared, struct scene *s, struct answer *out)
{
    AUTO(game_fini) struct game g = {.question = shared, .scene = s};
    struct request request = *g.question->request;
    struct err e = {0};

    request.seed = dice_key(s->key, KEY_BISECTION) & REQUEST_MAX_SEED;
    request.is_seed_set = true;
    enum err_code code = bisection_new(&request, g.question->range, &g.search, &e);
    assert(code == ERR_OK); /* question and range are ours */
    if (!s->setting->has_verification)
        bisection_skip_verification(g.search);
    if (s->record)
        recording_question(s->record, &request, g.question->range, s->setting->n_workers,
                           s->setting->has_verification);
    start(&g);
    for (uint32_t i = 0; !g.is_finished && i < TASKS_MOST; i++) {
        begin_tasks(&g);
        struct place *p = next_to_end(&g);
        if (!p)
            break;
        finish(&g, p);
    }
    if (s->record)
        recording_verdict(s->record, g.search);
    take_answer(&g, out);
}

const struct policy policy_bisectd = {"bisectd", prepare, release, play};
