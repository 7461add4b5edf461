/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rehearsal.h"
#include "base/hash.h"
#include "base/mem.h"
#include "search/bisection.h"
#include <string.h>

enum { TASKS_MOST = 10000 };
static const double level_good = 100, level_bad = 200;
static const double build_seconds = 10, run_seconds = 1;

struct stage {
    const struct range *range;
    struct bisection *search;
    uint8_t *is_bad;          /* by index: contains the culprit */
    struct task_spec **queue; /* issued and not done yet, oldest first */
    size_t n_queue;
    struct rehearsed *score;
    bool is_finished;
};

static void stage_fini(struct stage *s)
{
    for (size_t i = 0; i < s->n_queue; i++)
        task_spec_free(s->queue[i]);
    mem_free(s->queue);
    mem_free(s->is_bad);
    bisection_free(s->search);
}
DEFINE_AUTO_FINI(struct stage, stage_fini)

static void mark_bad(struct stage *s, uint32_t culprit)
{
    s->is_bad = mem_array(s->range->n, 1);
    s->is_bad[culprit] = 1;
    for (uint32_t i = culprit + 1; i < s->range->n; i++)
        for (uint32_t k = 0; k < s->range->commits[i].n_parents; k++)
            s->is_bad[i] |= s->is_bad[s->range->commits[i].parents[k]];
}

static bool is_end(const struct range *r, const struct revision *id)
{
    bool found =
        revision_equal(id, &r->commits[r->good].id) || revision_equal(id, &r->commits[r->bad].id);

    for (uint32_t i = 0; i < r->n_merge_bases && !found; i++)
        found = revision_equal(id, &r->commits[r->merge_bases[i]].id);
    return found;
}

static void note_next(struct stage *s, const struct task_spec *t)
{
    struct rehearsed *score = s->score;

    for (uint32_t i = 0; i < t->n_builds && score->n_next < REHEARSAL_NEXT_MOST; i++)
        if (!t->is_verification && t->ordinal > 0 && !is_end(s->range, &t->builds[i].revision))
            score->next[score->n_next++] = t->builds[i].revision;
}

static void forget(struct stage *s, size_t at)
{
    memmove(s->queue + at, s->queue + at + 1, (s->n_queue - at - 1) * sizeof(*s->queue));
    s->n_queue--;
}

static void apply(struct stage *s, struct effects *f)
{
    bool is_opening = s->score->n_next == 0;

    for (size_t i = 0; i < f->n_cancel; i++)
        for (size_t k = s->n_queue; k-- > 0;)
            if (s->queue[k]->ordinal == f->cancel[i]) {
                task_spec_free(s->queue[k]);
                forget(s, k);
            }
    s->queue = mem_resize(s->queue, s->n_queue + f->n_issue + 1, sizeof(*s->queue));
    for (size_t i = 0; i < f->n_issue; i++) {
        if (is_opening)
            note_next(s, f->issue[i]);
        s->queue[s->n_queue++] = f->issue[i];
        f->issue[i] = NULL;
    }
    f->n_issue = 0; /* ours now */
    s->is_finished = f->is_finished;
}

static void step(struct stage *s, const struct event *event)
{
    AUTO(effects_fini) struct effects f = {0};

    bisection_step(s->search, event, &f);
    apply(s, &f);
}

/* All builds of a revision are the same bytes, and no two revisions are. */
static void build(const struct task_build *b, struct build_result *out)
{
    struct digest name = hash_of(b->revision.hex, strlen(b->revision.hex));

    out->revision = b->revision;
    out->status = b->artifact[0] && !b->fresh ? BUILD_REUSED : BUILD_OK;
    out->seconds = out->status == BUILD_OK ? build_seconds : 0;
    memcpy(out->artifact, name.hex, sizeof(out->artifact));
}

static struct task_result *play(struct stage *s, const struct task_spec *t)
{
    struct task_result *r = mem_alloc(sizeof(*r));

    r->environment.host = mem_dup("rehearsal");
    r->environment.worker = mem_dup("rehearsal");
    r->n_builds = t->n_builds;
    r->builds = mem_array(t->n_builds + 1, sizeof(*r->builds));
    r->n_runs = t->n_runs;
    r->runs = mem_array(t->n_runs + 1, sizeof(*r->runs));
    for (uint32_t i = 0; i < t->n_builds; i++) {
        build(&t->builds[i], &r->builds[i]);
        s->score->n_builds += r->builds[i].status == BUILD_OK;
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        uint32_t at = range_find(s->range, &t->builds[t->runs[i].build].revision);
        double value = s->is_bad[at] ? level_bad : level_good;
        r->runs[i] =
            (struct run_result){.run = i, .value = value, .n_values = 1, .seconds = run_seconds};
        r->runs[i].values = mem_array(1, sizeof(double));
        r->runs[i].values[0] = value;
    }
    s->score->n_runs += t->n_runs;
    return r;
}

static void play_oldest(struct stage *s)
{
    AUTO(task_spec_free) struct task_spec *t = s->queue[0];

    forget(s, 0);
    AUTO(task_result_free) struct task_result *r = play(s, t);
    step(s, &(struct event){.kind = EVENT_RESULT, .ordinal = t->ordinal, .result = r});
    s->score->n_steps++;
}

enum err_code rehearse(const struct request *request, const struct range *range,
                       const struct rehearsal *r, struct rehearsed *out, struct err *e)
{
    struct rehearsed score = {0};
    AUTO(stage_fini) struct stage s = {.range = range, .score = &score};

    if (bisection_new(request, range, &s.search, e))
        return e->code;
    mark_bad(&s, r->culprit);
    step(&s, &(struct event){.kind = EVENT_STARTED});
    if (r->n_workers > 1)
        step(&s, &(struct event){.kind = EVENT_CAPACITY, .n_workers = r->n_workers});
    while (!s.is_finished && s.n_queue > 0 && score.n_steps < TASKS_MOST) {
        if (r->only_opening && score.n_next > 0)
            break;
        play_oldest(&s);
    }
    if (score.n_steps == TASKS_MOST)
        return err_set(e, ERR_LIMIT, "the search does not end after %d tasks", TASKS_MOST);
    *out = score;
    return ERR_OK;
}
