/* SPDX-License-Identifier: Apache-2.0 */
#include "app/explainer.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/explain.h"
#include "search/dice.h"
#include "store/explanations.h"
#include "store/samples.h"
#include "store/tasks.h"
#include <math.h>
#include <stdio.h>

/* Of runs; a worker takes fewer where they are long. */
enum { PAIRS = 27, PAIRS_WITHOUT_SHARES = 7 };
static const uint64_t purpose_seed = 0x6578706c61696e; /* "explain" */

/** Of several culprits, the one that changed most. */
static const struct culprit *chosen(const struct verdict *v)
{
    const struct culprit *best = NULL;

    for (size_t i = 0; i < v->n_culprits; i++)
        if (!best || fabs(v->culprits[i].delta) > fabs(best->delta))
            best = &v->culprits[i];
    return best;
}

/** The first parent, or the one before it that it only repeats to those who build; UINT32_MAX:
 * there is nothing to compare with. */
static uint32_t parent_of(const struct range *range, const struct culprit *c)
{
    uint32_t at = range_find(range, &c->revision);

    if (at == UINT32_MAX || range->commits[at].n_parents == 0)
        return UINT32_MAX;
    at = range->commits[at].parents[0];
    while (range->commits[at].is_candidate && range->commits[at].n_parents > 0 &&
           (!range->commits[at].matters || range->commits[at].is_prose))
        at = range->commits[at].parents[0];
    return at;
}

static bool is_wanted(const struct explained *x)
{
    const struct metric *m = request_metric(x->request);

    return !x->request->no_explain && !x->request->is_comparison && m &&
           !metric_kinds[m->kind].is_rate;
}

/** What this bisection built of it, newest first in the list's end; left empty if nothing. */
static enum err_code find_artifact(const struct explained *x, struct task_build *b, struct err *e)
{
    AUTO(build_list_fini) struct build_list list = {0};
    const struct build_filter filter = {.bisection = x->bisection, .revision = b->revision.hex};

    if (store_build_list(x->store, &filter, &list, e))
        return e->code;
    for (size_t i = 0; i < list.n; i++) {
        const struct build_result *r = &list.items[i].build;
        if (r->artifact[0] && !revision_is_set(&r->revert))
            snprintf(b->artifact, sizeof(b->artifact), "%s", r->artifact);
    }
    return ERR_OK;
}

/** Pairs of runs, the parent and the culprit by turns first, each pair on one seed: what a program
 *  does by chance, both do. */
static void plan_runs(uint64_t seed, uint32_t n_pairs, struct task_spec *spec)
{
    spec->n_runs = INSPECTION_BUILDS * n_pairs;
    spec->runs = mem_array(spec->n_runs, sizeof(*spec->runs));
    for (uint32_t i = 0; i < spec->n_runs; i++) {
        uint32_t pair = i / INSPECTION_BUILDS;
        spec->runs[i] = (struct task_run){
            .build = (i + pair) % INSPECTION_BUILDS,
            .number = pair,
            .seed = dice_key(dice_key(seed, purpose_seed), pair),
        };
    }
}

static enum err_code plan(const struct explained *x, const struct culprit *c, uint32_t ordinal,
                          struct task_spec **out, struct err *e)
{
    AUTO(task_spec_free) struct task_spec *spec = mem_alloc(sizeof(*spec));
    const uint32_t at[INSPECTION_BUILDS] = {parent_of(x->range, c),
                                            range_find(x->range, &c->revision)};

    spec->ordinal = ordinal;
    spec->is_inspection = true;
    spec->n_builds = INSPECTION_BUILDS;
    spec->builds = mem_array(INSPECTION_BUILDS, sizeof(*spec->builds));
    for (int i = 0; i < INSPECTION_BUILDS; i++) {
        const struct commit *commit = &x->range->commits[at[i]];
        spec->builds[i] = (struct task_build){.revision = commit->id, .fixups = commit->fixups};
        if (find_artifact(x, &spec->builds[i], e))
            return e->code;
    }
    plan_runs(x->request->seed,
              explain_has_shares(request_metric(x->request)) ? PAIRS : PAIRS_WITHOUT_SHARES, spec);
    *out = TAKE(spec);
    return ERR_OK;
}

static enum err_code queue(const struct explained *x, const struct culprit *c, uint32_t *task,
                           struct err *e)
{
    AUTO(task_spec_free) struct task_spec *spec = NULL;
    struct id id;

    if (store_task_next(x->store, x->bisection, task, e) || plan(x, c, *task, &spec, e))
        return e->code;
    /* 0: no event's step issued it. */
    const struct task_new t = {.bisection = x->bisection, .after_seq = 0, .spec = spec};
    if (store_task_insert(x->store, &t, utc_now(), &id, e) ||
        store_explanation_open(x->store, x->bisection, id.text, utc_now(), e))
        return e->code;
    LOG(LOG_INFO, "culprit to be explained", "bisection=%s task=%s culprit=%.10s parent=%.10s",
        x->bisection, id.text, spec->builds[1].revision.hex, spec->builds[0].revision.hex);
    return ERR_OK;
}

enum err_code explainer_begin(const struct explained *x, bool *has_begun, uint32_t *task,
                              struct err *e)
{
    AUTO(verdict_free) struct verdict *v = NULL;

    *has_begun = false;
    if (!is_wanted(x))
        return ERR_OK;
    if (verdict_from_json(x->document, &v, e))
        return e->code;
    const struct culprit *c = v->kind == VERDICT_CULPRIT ? chosen(v) : NULL;
    if (!c || parent_of(x->range, c) == UINT32_MAX)
        return ERR_OK;
    if (queue(x, c, task, e))
        return err_wrap(e, "explain");
    *has_begun = true;
    return ERR_OK;
}

/** Says what was seen, or why nothing was. */
static enum err_code conclude(const struct explained *x, const struct inspection *seen,
                              struct err *e)
{
    AUTO(verdict_free) struct verdict *v = NULL;

    if (verdict_from_json(x->document, &v, e))
        return e->code;
    const struct culprit *c = chosen(v);
    const struct explain_terms terms = {
        .metric = request_metric(x->request),
        .culprit = c,
        .parent = x->range->commits[parent_of(x->range, c)].id,
    };
    AUTO(explanation_free) struct explanation *found = explain(&terms, seen);
    AUTO(json_free) json *document = explanation_to_json(found);
    LOG(LOG_INFO, "culprit explained", "bisection=%s explained=%.3f differences=%zu failed=%d",
        x->bisection, found->explained, found->n_differences, found->error != NULL);
    return store_explanation_close(x->store, x->bisection, document, utc_now(), e);
}

enum err_code explainer_settle(const struct explained *x, struct err *e)
{
    AUTO(explanation_row_fini) struct explanation_row row = {0};
    AUTO(inspection_free) struct inspection *seen = NULL;

    if (store_explanation_find(x->store, x->bisection, &row, e))
        return e->code;
    if (!row.has_inspection)
        return explainer_fail(x, "the worker did not trace them", e);
    if (store_inspection_get(x->store, row.task.text, &seen, e))
        return e->code;
    return conclude(x, seen, e);
}

enum err_code explainer_fail(const struct explained *x, const char *why, struct err *e)
{
    AUTO(inspection_free) struct inspection *nothing = mem_alloc(sizeof(*nothing));

    nothing->error = mem_dup(why);
    return conclude(x, nothing, e);
}
