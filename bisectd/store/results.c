/* SPDX-License-Identifier: Apache-2.0 */
#include "store/results.h"

#include "base/mem.h"
#include "model/bisection.h"
#include "store/artifacts.h"
#include "store/chain.h"
#include "store/db.h"
#include "store/rows.h"
#include "store/samples.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void accepted_fini(struct accepted *a)
{
    mem_free(a->reason);
    *a = (struct accepted){0};
}

/* ---- what the rows are made of ---- */

/** A build as its evidence is filed: the revision as it is, or with something done to it. */
struct variant {
    struct digest build_key, measure_key;
    char *reverted; /* NULL: none, here and below */
    char *fixups;
};

/** The task as its evidence is filed. */
struct filing {
    struct id bisection, task;
    char *project, *metric, *platform;
    struct task_spec *spec;
    struct variant *variants; /* of each build of the spec */
    const struct task_result *result;
    struct utc now;
};

static void filing_fini(struct filing *f)
{
    mem_free(f->project);
    mem_free(f->metric);
    mem_free(f->platform);
    for (uint32_t i = 0; f->variants && i < f->spec->n_builds; i++) {
        mem_free(f->variants[i].reverted);
        mem_free(f->variants[i].fixups);
    }
    mem_free(f->variants);
    task_spec_free(f->spec);
}
DEFINE_AUTO_FINI(struct filing, filing_fini)

static bool is_plain(const struct task_build *b)
{
    return !b->fixups && !revision_is_set(&b->revert);
}

static enum err_code load_project(struct store *s, const char *bisection, struct request **out,
                                  struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(json_free) json *v = NULL;
    enum err_code code = db_first(s, &q, "SELECT request FROM bisections WHERE id = ?1",
                                  CELLS(cell_text(bisection)), e);
    if (!code)
        code = json_of_column(query_text(&q, 0), &v, e);
    return code ? code : request_from_json(v, out, e);
}

static void fill_variant(const struct project *p, const struct task_build *b, struct variant *v)
{
    AUTO(buf_fini) struct buf names = {0};

    v->build_key = project_variant_key(p, &v->build_key, b->fixups, &b->revert);
    v->measure_key = project_variant_key(p, &v->measure_key, b->fixups, &b->revert);
    v->reverted = revision_is_set(&b->revert) ? mem_dup(b->revert.hex) : NULL;
    project_fixup_names(p, b->fixups, &names);
    v->fixups = names.len ? buf_take(&names) : NULL;
}

static enum err_code load_variants(struct store *s, struct filing *f, const struct variant *plain,
                                   struct err *e)
{
    AUTO(request_free) struct request *r = NULL;

    f->variants = mem_array(f->spec->n_builds + 1, sizeof(*f->variants));
    for (uint32_t i = 0; i < f->spec->n_builds; i++) {
        f->variants[i] = *plain;
        if (is_plain(&f->spec->builds[i]))
            continue;
        if (!r && load_project(s, f->bisection.text, &r, e))
            return e->code;
        fill_variant(r->project, &f->spec->builds[i], &f->variants[i]);
    }
    return ERR_OK;
}

static enum err_code load_filing(struct store *s, const struct id *task, struct filing *f,
                                 struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(json_free) json *spec = NULL;
    enum err_code code =
        db_first(s, &q,
                 "SELECT b.id, b.project, b.metric, b.platform, b.build_key, b.measure_key, t.spec"
                 " FROM tasks AS t JOIN bisections AS b ON b.id = t.bisection WHERE t.id = ?1",
                 CELLS(cell_text(task->text)), e);
    if (code)
        return code;
    f->task = *task;
    f->bisection = query_id(&q, 0);
    f->project = query_dup(&q, 1);
    f->metric = query_dup(&q, 2);
    f->platform = query_dup(&q, 3);
    struct variant plain = {0};
    snprintf(plain.build_key.hex, sizeof(plain.build_key.hex), "%s", query_text(&q, 4));
    snprintf(plain.measure_key.hex, sizeof(plain.measure_key.hex), "%s", query_text(&q, 5));
    code = json_of_column(query_text(&q, 6), &spec, e);
    if (!code)
        code = task_spec_from_json(spec, &f->spec, e);
    if (!code)
        code = load_variants(s, f, &plain, e);
    return code ? err_wrap(e, "task %s", task->text) : ERR_OK;
}

/** Beyond what task_result_check sees: the search waits for a word on every build. */
static enum err_code check_builds(const struct task_result *r, const struct task_spec *spec,
                                  struct err *e)
{
    for (uint32_t i = 0; i < spec->n_builds; i++) {
        bool is_told = false;
        for (size_t k = 0; k < r->n_builds && !is_told; k++)
            is_told = build_result_is_of(&r->builds[k], &spec->builds[i]);
        if (!is_told)
            return err_set(e, ERR_INVALID, "builds: nothing about %s",
                           spec->builds[i].revision.hex);
    }
    return ERR_OK;
}

/** Which of the spec's it is. Pre: task_result_check. */
static uint32_t build_of(const struct task_spec *spec, const struct build_result *r)
{
    uint32_t i = 0;

    while (i + 1 < spec->n_builds && !build_result_is_of(r, &spec->builds[i]))
        i++;
    return i;
}

/* ---- writing ---- */

static enum err_code add_result(struct store *s, const struct filing *f, struct err *e)
{
    const struct environment *v = &f->result->environment;
    struct chain chain;
    enum err_code code = chain_begin(s, CHAIN_RESULTS, f->bisection.text, &chain, e);
    if (!code)
        code = chain_add(s, &chain,
                         CELLS(cell_text(f->bisection.text), cell_text(f->task.text),
                               cell_int(f->result->fence), cell_text(v->host), cell_text(v->worker),
                               cell_text(v->platform), cell_text(v->kernel), cell_text(v->cpu),
                               cell_int(v->n_cpus), cell_real(v->load), cell_text(v->sandbox),
                               cell_text(v->isolation), cell_int(f->now.ns)),
                         e);
    return code ? code : chain_end(s, &chain, e);
}

/** A file that another program has removed meanwhile is no fault of this result. */
static enum err_code note_artifact(struct store *s, const struct filing *f, const char *artifact,
                                   struct err *e)
{
    enum err_code code = store_artifact_note(s, artifact, f->now, e);
    return code == ERR_NOT_FOUND ? ERR_OK : code;
}

static enum err_code add_builds(struct store *s, const struct filing *f, struct err *e)
{
    struct chain chain;
    enum err_code code = chain_begin(s, CHAIN_BUILDS, f->bisection.text, &chain, e);
    for (size_t i = 0; !code && i < f->result->n_builds; i++) {
        const struct build_result *b = &f->result->builds[i];
        const char *artifact = b->artifact[0] ? b->artifact : NULL;
        const uint32_t of = build_of(f->spec, b);
        const struct variant *v = &f->variants[of];
        code = chain_add(s, &chain,
                         CELLS(cell_text(f->bisection.text), cell_text(f->task.text),
                               cell_text(b->revision.hex), cell_text(v->build_key.hex),
                               cell_text(f->platform), cell_int(f->spec->builds[of].fresh),
                               cell_text(build_status_name(b->status)), cell_text(b->reason),
                               cell_text(artifact), cell_real(b->seconds), cell_int(f->now.ns),
                               cell_text(v->reverted), cell_text(v->fixups)),
                         e);
        if (!code && artifact)
            code = note_artifact(s, f, artifact, e);
    }
    return code ? code : chain_end(s, &chain, e);
}

static char *column_of_values(const struct run_result *run)
{
    AUTO(json_free) json *list = json_new_array();
    for (size_t i = 0; i < run->n_values; i++)
        json_push(list, json_new_real(run->values[i]));
    return column_of_json(list);
}

static enum err_code add_sample(struct store *s, struct chain *chain, const struct filing *f,
                                const struct run_result *run, struct err *e)
{
    const struct task_run *asked = &f->spec->runs[run->run];
    const struct environment *v = &f->result->environment;
    const struct variant *variant = &f->variants[asked->build];
    AUTO(mem_free) char *values = column_of_values(run);
    char seed[24];
    snprintf(seed, sizeof(seed), "%" PRIu64, asked->seed);

    return chain_add(s, chain,
                     CELLS(cell_text(f->bisection.text), cell_text(f->task.text),
                           cell_int(run->run), cell_int(run->attempt), cell_text(f->project),
                           cell_text(f->metric), cell_text(variant->measure_key.hex),
                           cell_text(f->spec->builds[asked->build].revision.hex),
                           cell_text(f->platform), cell_int(asked->number), cell_text(seed),
                           cell_text(run_status_name(run->status)), cell_text(run->reason),
                           cell_real(run->value), cell_text(values), cell_int(run->at.ns),
                           cell_real(run->seconds), cell_text(v->host), cell_text(v->worker),
                           cell_int(f->now.ns), cell_text(variant->reverted),
                           cell_text(variant->fixups)),
                     e);
}

static enum err_code add_samples(struct store *s, const struct filing *f, struct err *e)
{
    struct chain chain;
    enum err_code code = chain_begin(s, CHAIN_SAMPLES, f->bisection.text, &chain, e);
    for (size_t i = 0; !code && i < f->result->n_runs; i++)
        code = add_sample(s, &chain, f, &f->result->runs[i], e);
    return code ? code : chain_end(s, &chain, e);
}

static enum err_code take_in(struct store *s, const struct lease_row *l,
                             const struct task_result *r, struct utc now, struct err *e)
{
    AUTO(filing_fini) struct filing f = {.result = r, .now = now};
    enum err_code code = load_filing(s, &l->task, &f, e);
    if (!code)
        code = task_result_check(r, f.spec, e);
    if (!code)
        code = check_builds(r, f.spec, e);
    if (!code)
        code = add_result(s, &f, e);
    if (!code)
        code = add_builds(s, &f, e);
    if (!code && r->inspection)
        code = inspection_put(s, l->task.text, r->inspection, e);
    return code ? code : add_samples(s, &f, e);
}

static enum err_code finish_task(struct store *s, const struct lease_row *l, int64_t n_samples,
                                 struct utc now, struct err *e)
{
    struct life life;
    enum err_code code = task_life(s, l->task.text, &life, e);
    if (!code)
        code = life_finish(&life, e);
    if (!code)
        code = task_save(s, l->task.text, &life, now, e);
    return code ? code
                : lease_close(s, l->id.text, TENURE_FINISHED, n_samples, life.state, NULL, now, e);
}

/** The first answer again. ERR_NOT_FOUND: none was given. */
static enum err_code recall(struct store *s, const struct lease_row *l, struct accepted *out,
                            struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT accepted, outcome, reason FROM leases"
                                  " WHERE id = ?1 AND accepted IS NOT NULL",
                                  CELLS(cell_text(l->id.text)), e);
    if (code)
        return code;
    struct accepted a = {
        .task = l->task,
        .bisection = l->bisection,
        .ordinal = l->ordinal,
        .n_samples = (uint32_t)query_int(&q, 0),
        .is_repeat = true,
    };
    code = task_state_parse(query_text(&q, 1), &a.state, e);
    if (code)
        return code;
    a.reason = query_dup(&q, 2);
    *out = a;
    return ERR_OK;
}

static enum err_code accept_fault(struct store *s, const struct lease_row *l, const char *fault,
                                  struct utc now, struct accepted *out, struct err *e)
{
    AUTO(returned_fini) struct returned back = {0};
    enum err_code code = lease_give_back(s, l, RETURN_FAULT, fault, now, &back, e);
    if (code)
        return code;
    *out = (struct accepted){.task = l->task,
                             .bisection = l->bisection,
                             .ordinal = l->ordinal,
                             .state = back.state,
                             .reason = TAKE(back.reason)};
    return ERR_OK;
}

static enum err_code accept_new(struct store *s, const struct lease_row *l,
                                const struct task_result *r, struct utc now, struct accepted *out,
                                struct err *e)
{
    const char *fault = result_fault(r);
    if (fault)
        return accept_fault(s, l, fault, now, out, e);

    enum err_code code = take_in(s, l, r, now, e);
    if (!code)
        code = finish_task(s, l, (int64_t)r->n_runs, now, e);
    if (code)
        return code;
    *out = (struct accepted){.task = l->task,
                             .bisection = l->bisection,
                             .ordinal = l->ordinal,
                             .n_samples = (uint32_t)r->n_runs,
                             .state = TASK_DONE};
    return ERR_OK;
}

enum err_code store_result_accept(struct store *s, const char *lease, const struct task_result *r,
                                  struct utc now, struct accepted *out, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    AUTO(lease_row_fini) struct lease_row l = {0};
    AUTO(accepted_fini) struct accepted a = {0};

    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = store_lease_load(s, lease, &l, e);
    if (code)
        return code;
    if (l.tenure.state == TENURE_FINISHED && l.tenure.fence == r->fence)
        return recall(s, &l, out, e);

    code = tenure_check(&l.tenure, r->fence, e);
    if (!code)
        code = accept_new(s, &l, r, now, &a, e);
    if (!code)
        code = unit_keep(&u, e);
    if (code)
        return code;
    *out = a;
    a = (struct accepted){0};
    return ERR_OK;
}

/* ---- reading back ---- */

static enum err_code read_environment(struct store *s, const char *task, struct task_result *r,
                                      struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(
        s, &q,
        "SELECT fence, host, worker, platform, kernel, cpu, n_cpus, load, sandbox, isolation"
        " FROM results WHERE task = ?1",
        CELLS(cell_text(task)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "result of task", task);
    if (code)
        return code;
    r->fence = query_int(&q, 0);
    r->environment = (struct environment){
        .host = query_dup(&q, 1),
        .worker = query_dup(&q, 2),
        .platform = query_dup(&q, 3),
        .kernel = query_dup(&q, 4),
        .cpu = query_dup(&q, 5),
        .n_cpus = (uint32_t)query_int(&q, 6),
        .load = query_real(&q, 7),
        .sandbox = query_dup(&q, 8),
        .isolation = query_dup(&q, 9),
    };
    return ERR_OK;
}

static enum err_code read_builds(struct store *s, const char *task, struct task_result *r,
                                 struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_query(s, &q,
                 "SELECT revision, status, reason, artifact, seconds, reverted FROM builds"
                 " WHERE bisection = (SELECT bisection FROM tasks WHERE id = ?1) AND task = ?1"
                 " ORDER BY seq",
                 CELLS(cell_text(task)), e);
    while (!code && query_next(&q)) {
        struct build_result *b = task_result_add_build(r);
        const char *artifact = query_text(&q, 3);
        b->reason = query_dup(&q, 2);
        b->seconds = query_real(&q, 4);
        snprintf(b->artifact, sizeof(b->artifact), "%s", artifact ? artifact : "");
        code = revision_parse(query_text(&q, 0), &b->revision, e);
        if (!code && !query_is_null(&q, 5))
            code = revision_parse(query_text(&q, 5), &b->revert, e);
        if (!code)
            code = build_status_parse(query_text(&q, 1), &b->status, e);
    }
    return code ? code : query_check(&q, e);
}

static enum err_code read_runs(struct store *s, const char *task, struct task_result *r,
                               struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(
        s, &q,
        "SELECT run, attempt, status, reason, all_values, value, at_ns, seconds FROM samples"
        " WHERE bisection = (SELECT bisection FROM tasks WHERE id = ?1) AND task = ?1"
        " ORDER BY seq",
        CELLS(cell_text(task)), e);
    while (!code && query_next(&q))
        code = read_run_columns(&q, 0, task_result_add_run(r), e);
    return code ? code : query_check(&q, e);
}

enum err_code store_result_load(struct store *s, const char *task, struct task_result **out,
                                struct err *e)
{
    AUTO(task_result_free) struct task_result *r = mem_alloc(sizeof(*r));
    enum err_code code = read_environment(s, task, r, e);
    if (!code)
        code = read_builds(s, task, r, e);
    if (!code)
        code = read_runs(s, task, r, e);
    if (code)
        return code;
    *out = TAKE(r);
    return ERR_OK;
}
