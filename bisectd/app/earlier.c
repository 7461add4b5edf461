/* SPDX-License-Identifier: Apache-2.0 */
#include "app/earlier.h"
#include "app/imported.h"
#include "base/mem.h"
#include "store/results.h"
#include "store/tasks.h"

/* What is stored of a way of building is of use to revisions that are built that way. */
struct search {
    struct store *store;
    const struct request *request;
    const struct range *range;
    const struct range_index *known;
};

static bool is_built_with(const struct search *q, const struct revision *revision, uint64_t fixups)
{
    uint32_t v = range_index_find(q->known, revision);

    return v != UINT32_MAX && q->range->commits[v].fixups == fixups;
}

static void move_samples(const struct search *q, uint64_t fixups, struct sample_list *from,
                         struct sample_list *to)
{
    to->items = mem_resize(to->items, to->n + from->n + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->n; i++) {
        if (!is_built_with(q, &from->items[i].revision, fixups))
            continue;
        to->items[to->n++] = from->items[i];
        from->items[i] = (struct sample_row){0};
    }
}

static void move_builds(const struct search *q, uint64_t fixups, struct build_list *from,
                        struct build_list *to)
{
    to->items = mem_resize(to->items, to->n + from->n + 1, sizeof(*to->items));
    for (size_t i = 0; i < from->n; i++) {
        if (!is_built_with(q, &from->items[i].build.revision, fixups))
            continue;
        to->items[to->n++] = from->items[i];
        from->items[i] = (struct build_row){0};
    }
}

static enum err_code read_variant(const struct search *q, uint64_t fixups, struct earlier *out,
                                  struct err *e)
{
    static const struct revision none = {{0}};
    AUTO(earlier_fini) struct earlier some = {0};
    const struct project *p = q->request->project;
    struct digest build_key = project_build_key(p);
    struct digest measure_key = project_measure_key(p, request_metric(q->request));
    const char *platform = q->request->platform;
    struct sample_filter sf = {.measure_key = &measure_key, .platform = platform};
    struct build_filter bf = {.build_key = &build_key, .platform = platform, .only_usable = true};
    struct build_filter ff = {.build_key = &build_key, .platform = platform, .only_failed = true};

    build_key = project_variant_key(p, &build_key, fixups, &none);
    measure_key = project_variant_key(p, &measure_key, fixups, &none);
    if (store_sample_list(q->store, &sf, &some.samples, e) ||
        store_build_list(q->store, &bf, &some.builds, e) ||
        store_build_list(q->store, &ff, &some.failed, e))
        return e->code;
    move_samples(q, fixups, &some.samples, &out->samples);
    move_builds(q, fixups, &some.builds, &out->builds);
    move_builds(q, fixups, &some.failed, &out->failed);
    return ERR_OK;
}

/* Each set of fixups that revisions of the range have; returns how many. Caller frees. */
static size_t fixup_sets(const struct range *r, uint64_t **out)
{
    uint64_t *sets = mem_array(1, sizeof(*sets));
    size_t n = 0;

    for (uint32_t v = 0; v < r->n; v++) {
        size_t i = 0;
        while (i < n && sets[i] != r->commits[v].fixups)
            i++;
        if (i < n)
            continue;
        sets = mem_resize(sets, n + 1, sizeof(*sets));
        sets[n++] = r->commits[v].fixups;
    }
    *out = sets;
    return n;
}

static enum err_code read_variants(const struct search *q, struct earlier *out, struct err *e)
{
    uint64_t *sets;
    size_t n = fixup_sets(q->range, &sets);
    enum err_code code = ERR_OK;

    for (size_t i = 0; !code && i < n; i++)
        code = read_variant(q, sets[i], out, e);
    mem_free(sets);
    return code;
}

/* Then as now, every build is of a revision as it is. */
static bool is_plain(const struct search *q, const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->n_builds; i++) {
        const struct task_build *b = &spec->builds[i];
        uint32_t v = range_index_find(q->known, &b->revision);
        if (b->fixups || revision_is_set(&b->revert) ||
            (v != UINT32_MAX && q->range->commits[v].fixups))
            return false;
    }
    return true;
}

static enum err_code read_verifications(const struct search *q, struct verification_list *out,
                                        struct err *e)
{
    AUTO(task_list_fini) struct task_list tasks = {0};
    const struct request *r = q->request;
    struct digest measure_key = project_measure_key(r->project, request_metric(r));

    if (store_task_verifications(q->store, &measure_key, r->platform, &tasks, e))
        return e->code;
    out->items = mem_array(tasks.n + 1, sizeof(*out->items));
    for (size_t i = 0; i < tasks.n; i++) {
        struct task_row *t = tasks.items[i];
        struct verification *v = &out->items[out->n];
        if (!t->spec->n_builds || !is_plain(q, t->spec) ||
            range_index_find(q->known, &t->spec->builds[0].revision) == UINT32_MAX)
            continue;
        if (store_result_load(q->store, t->id.text, &v->result, e))
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
    const struct search q = {.store = s, .request = r, .range = range, .known = known};

    if (!r->fresh &&
        (read_variants(&q, &found, e) || read_verifications(&q, &found.verifications, e)))
        return e->code;
    /* A comparison believes none but its own, interleaved runs. */
    if (!r->fresh && !r->is_comparison && imported_evidence(s, r, range, known, &found.samples, e))
        return e->code;
    *out = record_started(known, &found);
    return ERR_OK;
}
