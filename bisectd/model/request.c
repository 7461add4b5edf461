/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/bisection.h"
#include "model/fields.h"
#include <string.h>

enum { MAX_REVISION = 1024, MAX_BUDGET_RUNS = 1000000 };
#define MAX_BUDGET_S (366 * 24 * 3600.0)

/* clang-format off */
#define AT(member) offsetof(struct request, member)
static const struct field fields[] = {
    {"metric",       FIELD_STRING,   AT(metric),             0,            1, 64, NULL},
    {"comparison",   FIELD_BOOL,     AT(is_comparison),      FIELD_SKIP_ZERO, 0, 0, NULL},
    {"platform",     FIELD_STRING,   AT(platform),           0, 1, 64, NULL},
    {"confidence",   FIELD_NUM,      AT(confidence),         0, 0, 1, NULL},
    {"min_effect",   FIELD_PERCENT,  AT(min_effect_percent), 0, 0, 1e6, NULL},
    {"first_parent", FIELD_BOOL,     AT(first_parent),       0, 0, 0, NULL},
    {"no_inside",    FIELD_BOOL,     AT(no_inside),          0, 0, 0, NULL},
    {"fresh",        FIELD_BOOL,     AT(fresh),              0, 0, 0, NULL},
    {"no_explain",   FIELD_BOOL,     AT(no_explain),         FIELD_SKIP_ZERO, 0, 0, NULL},
    {"budget_runs",  FIELD_I64,      AT(budget_runs),        0, 1, MAX_BUDGET_RUNS, NULL},
    {"budget_time",  FIELD_DURATION, AT(budget_ns),          FIELD_SKIP_ZERO, 0, MAX_BUDGET_S, NULL},
};
/* What the ends are called: of a bisection, of a comparison. */
static const struct field end_fields[2][2] = {
    {{"good",        FIELD_STRING,   AT(good),               FIELD_NEEDED, 1, MAX_REVISION, NULL},
     {"bad",         FIELD_STRING,   AT(bad),                FIELD_NEEDED, 1, MAX_REVISION, NULL}},
    {{"base",        FIELD_STRING,   AT(good),               FIELD_NEEDED, 1, MAX_REVISION, NULL},
     {"head",        FIELD_STRING,   AT(bad),                FIELD_NEEDED, 1, MAX_REVISION, NULL}},
};
static const struct field seed_field =
    {"seed",         FIELD_SEED,     AT(seed),               0, 0, 9007199254740991.0, NULL};
static const char *const keys[] = {
    "project", "metric", "good", "bad", "platform", "confidence", "min_effect", "first_parent",
    "no_inside", "fresh", "no_explain", "seed", "budget_runs", "budget_time", "comparison",
};
static const char *const comparison_keys[] = {
    "project", "metric", "base", "head", "platform", "confidence", "min_effect", "first_parent",
    "no_inside", "fresh", "seed", "budget_runs", "budget_time", "comparison",
};

static const struct choice states[] = {
    {"queued", BISECTION_QUEUED, false}, {"resolving", BISECTION_RESOLVING, false},
    {"running", BISECTION_RUNNING, false}, {"done", BISECTION_DONE, false},
    {"canceled", BISECTION_CANCELED, false}, {0}};
/* clang-format on */

const char *bisection_state_name(enum bisection_state s)
{
    return choice_name(states, s);
}

enum err_code bisection_state_parse(const char *s, enum bisection_state *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(states, s, &value, e))
        return err_wrap(e, "state");
    *out = (enum bisection_state)value;
    return ERR_OK;
}

void request_free(struct request *r)
{
    if (!r)
        return;
    fields_fini(fields, LEN(fields), r);
    fields_fini(end_fields[0], LEN(end_fields[0]), r);
    project_free(r->project);
    mem_free(r);
}

struct request *request_new(struct project *project)
{
    struct request *r = mem_alloc(sizeof(*r));
    const bool has_platform = project && project->platforms.n > 0;

    r->project = project;
    r->platform = mem_dup(has_platform ? project->platforms.items[0] : REQUEST_PLATFORM);
    r->confidence = REQUEST_CONFIDENCE;
    r->min_effect_percent = -1;
    r->budget_runs =
        project && project->budget_runs > 0 ? project->budget_runs : REQUEST_BUDGET_RUNS;
    r->budget_ns = project ? project->budget_ns : 0;
    if (project && project->n_metrics == 1)
        r->metric = mem_dup(project->metrics[0]->name);
    return r;
}

const struct metric *request_metric(const struct request *r)
{
    return r->project && r->metric ? project_metric(r->project, r->metric) : NULL;
}

/* ---- checks ---- */

static enum err_code check_metric(const struct request *r, struct err *e)
{
    AUTO(buf_fini) struct buf list = {0};
    AUTO(mem_free) char *owned = mem_array(r->project->n_metrics, sizeof(const char *));
    const char **names = (const char **)owned;

    if (request_metric(r))
        return ERR_OK;
    for (size_t i = 0; i < r->project->n_metrics; i++) {
        names[i] = r->project->metrics[i]->name;
        buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    }
    if (!r->metric)
        return err_set(e, ERR_INVALID, "metric: missing: the project has %s", buf_str(&list));
    const char *nearest = text_nearest(r->metric, names, r->project->n_metrics);
    err_set(e, ERR_INVALID, "metric: the project %s has no metric %s%s%s%s", r->project->name,
            r->metric, nearest ? "; did you mean " : "", nearest ? nearest : "",
            nearest ? "?" : "");
    return err_hint(e, "Metrics there: %s.", buf_str(&list));
}

static enum err_code check_platform(const struct request *r, struct err *e)
{
    const struct strings *known = &r->project->platforms;
    AUTO(buf_fini) struct buf list = {0};

    if (name_check("platform", r->platform, e))
        return ERR_INVALID;
    if (known->n == 0 || strings_has(known, r->platform))
        return ERR_OK;
    for (size_t i = 0; i < known->n; i++)
        buf_printf(&list, "%s%s", i ? ", " : "", known->items[i]);
    return err_set(e, ERR_INVALID, "platform: expected one of the project's (%s), got %s",
                   buf_str(&list), r->platform);
}

/* Revisions go to libgit2 and into messages, never to a shell. */
static enum err_code check_revision(const char *key, const char *revision, struct err *e)
{
    if (!revision || !*revision)
        return err_set(e, ERR_INVALID, "%s: missing: a revision as git takes it", key);
    for (const char *s = revision; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return err_set(e, ERR_INVALID, "%s: holds a control character", key);
    }
    return ERR_OK;
}

enum err_code request_check(const struct request *r, struct err *e)
{
    if (!r->project)
        return err_set(e, ERR_INVALID, "project: missing");
    if (project_check(r->project, e))
        return err_under(e, "project");
    if (check_metric(r, e) || check_revision(end_fields[r->is_comparison][0].key, r->good, e) ||
        check_revision(end_fields[r->is_comparison][1].key, r->bad, e) || check_platform(r, e))
        return ERR_INVALID;
    if (!(r->confidence > 0.5 && r->confidence < 1))
        return err_set(e, ERR_INVALID,
                       "confidence: expected a probability above 0.5 and below 1, got %g",
                       r->confidence);
    if (r->seed > REQUEST_MAX_SEED)
        return err_set(e, ERR_INVALID, "seed: expected at most 2^53 - 1");
    if (r->budget_runs < 1 || r->budget_runs > MAX_BUDGET_RUNS)
        return err_set(e, ERR_INVALID, "budget_runs: expected 1 to %d", MAX_BUDGET_RUNS);
    if (r->is_comparison && r->first_parent)
        return err_set(e, ERR_INVALID, "first_parent: a comparison searches nothing");
    if (r->no_inside && !r->first_parent)
        return err_set(e, ERR_INVALID, "no_inside: only together with first_parent");
    return ERR_OK;
}

/* ---- JSON ---- */

json *request_to_json(const struct request *r)
{
    json *o = json_new_object();

    json_put(o, "project", project_to_json(r->project));
    fields_write(end_fields[r->is_comparison], LEN(end_fields[0]), r, o);
    fields_write(fields, LEN(fields), r, o);
    if (r->is_seed_set || r->seed > 0)
        json_put(o, "seed", json_new_int((int64_t)r->seed));
    return o;
}

static enum err_code refuse_unknown(const json *v, const char *const *known, size_t n,
                                    struct err *e)
{
    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        bool is_known = false;

        for (size_t i = 0; i < n && !is_known; i++)
            is_known = strcmp(known[i], k) == 0;
        if (!is_known)
            return err_unknown_key(e, k, known, n);
    }
    return ERR_OK;
}

enum err_code request_from_json(const json *v, struct request **out, struct err *e)
{
    AUTO(request_free) struct request *r = NULL;
    struct project *project = NULL;

    if (!json_is_object(v))
        return err_set(e, ERR_INVALID, "expected a request object");
    const bool is_comparison = json_bool(json_at(v, "comparison"), false);
    if (is_comparison ? refuse_unknown(v, comparison_keys, LEN(comparison_keys), e)
                      : refuse_unknown(v, keys, LEN(keys), e))
        return ERR_INVALID;
    if (!json_is_object(json_at(v, "project")))
        return err_expected(e, "project", "a project object", json_at(v, "project"));
    if (project_from_json(json_at(v, "project"), &project, e))
        return err_under(e, "project");
    r = request_new(project);
    if (fields_read(end_fields[is_comparison], LEN(end_fields[0]), v, UNKNOWN_IGNORED, r, e) ||
        fields_read(fields, LEN(fields), v, UNKNOWN_IGNORED, r, e))
        return ERR_INVALID;
    r->is_seed_set = !json_is_null(json_at(v, "seed"));
    if (r->is_seed_set && field_read(&seed_field, json_at(v, "seed"), r, e))
        return ERR_INVALID;
    if (request_check(r, e))
        return ERR_INVALID;
    *out = TAKE(r);
    return ERR_OK;
}

struct digest request_key(const struct request *r)
{
    static const char *const irrelevant[] = {"seed", "budget_runs", "budget_time", "no_explain"};
    AUTO(json_free) json *o = request_to_json(r);
    AUTO(buf_fini) struct buf text = {0};

    for (size_t i = 0; i < LEN(irrelevant); i++)
        json_remove(o, irrelevant[i]);
    json_remove(json_at(o, "project"), "budget");
    json_dump(o, JSON_SORTED, &text);
    return hash_of(text.data, text.len);
}
