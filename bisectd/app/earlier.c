/* SPDX-License-Identifier: Apache-2.0 */
#include "app/earlier.h"
#include "base/mem.h"
#include "store/results.h"
#include "store/tasks.h"

static enum err_code read_verifications(struct store *s, const struct range_index *range,
                                        const struct sample_filter *of,
                                        struct verification_list *out, struct err *e)
{
    AUTO(task_list_fini) struct task_list tasks = {0};

    if (store_task_verifications(s, of->measure_key, of->platform, &tasks, e))
        return e->code;
    out->items = mem_array(tasks.n + 1, sizeof(*out->items));
    for (size_t i = 0; i < tasks.n; i++) {
        struct task_row *t = tasks.items[i];
        struct verification *v = &out->items[out->n];
        if (!t->spec->n_builds ||
            range_index_find(range, &t->spec->builds[0].revision) == UINT32_MAX)
            continue;
        if (store_result_load(s, t->id.text, &v->result, e))
            return e->code;
        v->bisection = t->bisection;
        v->spec = TAKE(t->spec);
        out->n++;
    }
    return ERR_OK;
}

enum err_code earlier_evidence(struct store *s, const struct request *r, const struct range *range,
                               struct record **out, struct err *e)
{
    AUTO(earlier_fini) struct earlier found = {0};
    AUTO(range_index_free) struct range_index *known = range_index_new(range);
    struct digest build_key = project_build_key(r->project);
    struct digest measure_key = project_measure_key(r->project, request_metric(r));
    struct sample_filter sf = {.measure_key = &measure_key, .platform = r->platform};
    struct build_filter bf = {
        .build_key = &build_key, .platform = r->platform, .only_usable = true};
    struct build_filter ff = {
        .build_key = &build_key, .platform = r->platform, .only_failed = true};

    if (!r->fresh &&
        (store_sample_list(s, &sf, &found.samples, e) ||
         store_build_list(s, &bf, &found.builds, e) || store_build_list(s, &ff, &found.failed, e) ||
         read_verifications(s, known, &sf, &found.verifications, e)))
        return e->code;
    *out = record_started(known, &found);
    return ERR_OK;
}
