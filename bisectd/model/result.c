/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/fields.h"
#include "model/quantity.h"
#include "model/task.h"
#include <assert.h>
#include <math.h>

enum { MAX_TEXT = 256, MAX_REASON = 64 * KIB, MAX_ATTEMPT = 1000 };

/* clang-format off */
static const struct choice build_statuses[] = {
    {"ok", BUILD_OK, false}, {"reused", BUILD_REUSED, false}, {"failed", BUILD_FAILED, false},
    {"timeout", BUILD_TIMEOUT, false}, {"limit", BUILD_LIMIT, false}, {"fault", BUILD_FAULT, false}, {0}};
static const struct choice run_statuses[] = {
    {"ok", RUN_OK, false}, {"cannot", RUN_CANNOT, false}, {"timeout", RUN_TIMEOUT, false},
    {"abort", RUN_ABORT, false}, {"skipped", RUN_SKIPPED, false}, {"fault", RUN_FAULT, false}, {0}};

#define RESULT(member) offsetof(struct task_result, member)
static const struct field result_fields[] = {
    {"fence", FIELD_I64,    RESULT(fence), FIELD_NEEDED, 0, 0, NULL},
    {"fault", FIELD_STRING, RESULT(fault), 0, 0, MAX_REASON, NULL},
};
#define ENV(member) offsetof(struct environment, member)
static const struct field environment_fields[] = {
    {"host",      FIELD_STRING, ENV(host),      FIELD_NEEDED, 1, MAX_TEXT, NULL},
    {"worker",    FIELD_STRING, ENV(worker),    FIELD_NEEDED, 1, MAX_TEXT, NULL},
    {"platform",  FIELD_STRING, ENV(platform),  FIELD_NEEDED, 1, MAX_TEXT, NULL},
    {"kernel",    FIELD_STRING, ENV(kernel),    0, 0, MAX_TEXT, NULL},
    {"cpu",       FIELD_STRING, ENV(cpu),       0, 0, MAX_TEXT, NULL},
    {"cpus",      FIELD_U32,    ENV(n_cpus),    0, 0, 0, NULL},
    {"load",      FIELD_NUM,    ENV(load),      0, 0, 0, NULL},
    {"sandbox",   FIELD_STRING, ENV(sandbox),   0, 0, MAX_TEXT, NULL},
    {"isolation", FIELD_STRING, ENV(isolation), 0, 0, MAX_TEXT, NULL},
};
#define BUILD(member) offsetof(struct build_result, member)
static const struct field build_fields[] = {
    {"revision", FIELD_REVISION, BUILD(revision), FIELD_NEEDED, 0, 0, NULL},
    {"revert",   FIELD_REVISION, BUILD(revert),   FIELD_SKIP_ZERO, 0, 0, NULL},
    {"status",   FIELD_CHOICE,   BUILD(status),   FIELD_NEEDED, 0, 0, build_statuses},
    {"reason",   FIELD_STRING,   BUILD(reason),   0, 0, MAX_REASON, NULL},
    {"artifact", FIELD_DIGEST,   BUILD(artifact), 0, 0, 0, NULL},
    {"seconds",  FIELD_NUM,      BUILD(seconds),  0, 0, 1e9, NULL},
};
#define RUN(member) offsetof(struct run_result, member)
static const struct field run_fields[] = {
    {"run",     FIELD_U32,    RUN(run),     FIELD_NEEDED, 0, 0, NULL},
    {"attempt", FIELD_U32,    RUN(attempt), 0, 0, MAX_ATTEMPT, NULL},
    {"status",  FIELD_CHOICE, RUN(status),  FIELD_NEEDED, 0, 0, run_statuses},
    {"reason",  FIELD_STRING, RUN(reason),  0, 0, MAX_REASON, NULL},
    {"value",   FIELD_NUM,    RUN(value),   0, 0, 0, NULL},
    {"at_ns",   FIELD_SEED,   RUN(at.ns),   0, 0, 0, NULL}, /* above 2^53: a string */
    {"seconds", FIELD_NUM,    RUN(seconds), 0, 0, 1e9, NULL},
};
/* clang-format on */

const char *build_status_name(enum build_status s)
{
    return choice_name(build_statuses, s);
}

const char *run_status_name(enum run_status s)
{
    return choice_name(run_statuses, s);
}

enum err_code build_status_parse(const char *s, enum build_status *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(build_statuses, s, &value, e))
        return ERR_INVALID;
    *out = (enum build_status)value;
    return ERR_OK;
}

enum err_code run_status_parse(const char *s, enum run_status *out, struct err *e)
{
    unsigned value = 0;

    if (choice_parse(run_statuses, s, &value, e))
        return ERR_INVALID;
    *out = (enum run_status)value;
    return ERR_OK;
}

void environment_fini(struct environment *v)
{
    fields_fini(environment_fields, LEN(environment_fields), v);
}

json *environment_to_json(const struct environment *v)
{
    json *o = json_new_object();

    fields_write(environment_fields, LEN(environment_fields), v, o);
    return o;
}

enum err_code environment_from_json(const json *v, struct environment *out, struct err *e)
{
    struct environment read = {0};

    if (fields_read(environment_fields, LEN(environment_fields), v, UNKNOWN_IGNORED, &read, e)) {
        environment_fini(&read);
        return ERR_INVALID;
    }
    *out = read;
    return ERR_OK;
}

void task_result_free(struct task_result *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_builds; i++)
        fields_fini(build_fields, LEN(build_fields), &r->builds[i]);
    for (size_t i = 0; i < r->n_runs; i++) {
        fields_fini(run_fields, LEN(run_fields), &r->runs[i]);
        mem_free(r->runs[i].values);
    }
    mem_free(r->builds);
    mem_free(r->runs);
    inspection_free(r->inspection);
    environment_fini(&r->environment);
    fields_fini(result_fields, LEN(result_fields), r);
    mem_free(r);
}

struct build_result *task_result_add_build(struct task_result *r)
{
    r->builds = mem_resize(r->builds, r->n_builds + 1, sizeof(*r->builds));
    r->builds[r->n_builds] = (struct build_result){0};
    return &r->builds[r->n_builds++];
}

struct run_result *task_result_add_run(struct task_result *r)
{
    r->runs = mem_resize(r->runs, r->n_runs + 1, sizeof(*r->runs));
    r->runs[r->n_runs] = (struct run_result){.value = NAN};
    return &r->runs[r->n_runs++];
}

json *task_result_to_json(const struct task_result *r)
{
    json *o = json_new_object();
    json *builds = json_new_array();
    json *runs = json_new_array();

    fields_write(result_fields, LEN(result_fields), r, o);
    for (size_t i = 0; i < r->n_builds; i++) {
        json *row = json_new_object();

        fields_write(build_fields, LEN(build_fields), &r->builds[i], row);
        json_push(builds, row);
    }
    for (size_t i = 0; i < r->n_runs; i++) {
        json *row = json_new_object();
        json *values = json_new_array();

        fields_write(run_fields, LEN(run_fields), &r->runs[i], row);
        for (size_t k = 0; k < r->runs[i].n_values; k++)
            json_push(values, json_new_real(r->runs[i].values[k]));
        json_push(runs, json_put(row, "values", values));
    }
    json_put(o, "environment", environment_to_json(&r->environment));
    if (r->inspection)
        json_put(o, "inspection", inspection_to_json(r->inspection));
    return json_put(json_put(o, "builds", builds), "runs", runs);
}

static enum err_code read_values(const json *v, struct run_result *run, struct err *e)
{
    const size_t n = json_len(v);

    if (!json_is_null(v) && !json_is_array(v))
        return err_expected(e, "values", "a list of numbers", v);
    if (n > RUN_MAX_VALUES)
        return err_set(e, ERR_LIMIT, "values: more than the limit of %d numbers a run",
                       RUN_MAX_VALUES);
    run->values = mem_array(n, sizeof(*run->values));
    for (; run->n_values < n; run->n_values++) {
        const json *item = json_item(v, run->n_values);
        const double x = json_is_number(item) ? json_num(item, NAN) : NAN;

        if (!isfinite(x))
            return err_expected(e, "values", "finite numbers", item);
        if (quantity_check(x, e))
            return err_wrap(e, "values");
        run->values[run->n_values] = x;
    }
    return ERR_OK;
}

static enum err_code read_run(const json *v, struct run_result *run, struct err *e)
{
    if (fields_read(run_fields, LEN(run_fields), v, UNKNOWN_IGNORED, run, e) ||
        read_values(json_at(v, "values"), run, e))
        return e ? e->code : ERR_INVALID;
    if (run->status == RUN_OK && !isfinite(run->value))
        return err_expected(e, "value", "a finite number where the status is ok",
                            json_at(v, "value"));
    if (run->status == RUN_OK && quantity_check(run->value, e))
        return err_wrap(e, "value");
    if (run->status != RUN_OK && !isnan(run->value))
        return err_expected(e, "value", "null where the status is not ok", json_at(v, "value"));
    return ERR_OK;
}

static enum err_code read_build(const json *v, struct build_result *build, struct err *e)
{
    if (fields_read(build_fields, LEN(build_fields), v, UNKNOWN_IGNORED, build, e))
        return ERR_INVALID;
    const bool has_artifact = build->status == BUILD_OK || build->status == BUILD_REUSED;
    if (has_artifact != (build->artifact[0] != '\0'))
        return err_set(e, ERR_INVALID, "artifact: %s where the status is %s",
                       has_artifact ? "missing" : "not expected", build_status_name(build->status));
    return ERR_OK;
}

static enum err_code read_lists(const json *v, struct task_result *r, struct err *e)
{
    const json *builds = json_at(v, "builds"), *runs = json_at(v, "runs");

    if (!json_is_array(builds) || json_len(builds) > TASK_MAX_BUILDS)
        return err_set(e, ERR_INVALID, "builds: expected a list of at most %d", TASK_MAX_BUILDS);
    if (!json_is_array(runs) || json_len(runs) > 3 * TASK_MAX_RUNS)
        return err_set(e, ERR_INVALID, "runs: expected a list of at most %d", 3 * TASK_MAX_RUNS);
    for (size_t i = 0; i < json_len(builds); i++) {
        if (read_build(json_item(builds, i), task_result_add_build(r), e))
            return err_under(e, "builds[%zu]", i);
    }
    for (size_t i = 0; i < json_len(runs); i++) {
        if (read_run(json_item(runs, i), task_result_add_run(r), e))
            return err_under(e, "runs[%zu]", i);
    }
    return ERR_OK;
}

enum err_code task_result_from_json(const json *v, struct task_result **out, struct err *e)
{
    AUTO(task_result_free) struct task_result *r = mem_alloc(sizeof(*r));
    struct err own = {0};

    e = e ? e : &own;
    if (fields_read(result_fields, LEN(result_fields), v, UNKNOWN_IGNORED, r, e))
        return ERR_INVALID;
    if (environment_from_json(json_at(v, "environment"), &r->environment, e))
        return err_under(e, "environment");
    if (read_lists(v, r, e))
        return e->code;
    if (json_at(v, "inspection") &&
        inspection_from_json(json_at(v, "inspection"), &r->inspection, e))
        return err_under(e, "inspection");
    *out = TAKE(r);
    return ERR_OK;
}

/* ---- against the spec ---- */

bool build_result_is_of(const struct build_result *r, const struct task_build *b)
{
    return revision_equal(&r->revision, &b->revision) && revision_equal(&r->revert, &b->revert);
}

enum err_code task_result_check(const struct task_result *r, const struct task_spec *spec,
                                struct err *e)
{
    if (!spec->is_inspection && r->inspection)
        return err_set(e, ERR_INVALID, "inspection: the task asks for none");
    if (spec->is_inspection && r->n_runs)
        return err_set(e, ERR_INVALID, "runs: an inspection has no samples");
    for (size_t i = 0; i < r->n_builds; i++) {
        bool is_known = false;

        for (uint32_t k = 0; k < spec->n_builds && !is_known; k++)
            is_known = build_result_is_of(&r->builds[i], &spec->builds[k]);
        if (!is_known)
            return err_set(e, ERR_INVALID, "builds[%zu]: the task has no build of %s", i,
                           r->builds[i].revision.hex);
    }
    for (size_t i = 0; i < r->n_runs; i++) {
        if (r->runs[i].run >= spec->n_runs)
            return err_set(e, ERR_INVALID, "runs[%zu]: the task has no run %u", i, r->runs[i].run);
        if (i > 0 &&
            (r->runs[i].run < r->runs[i - 1].run || (r->runs[i].run == r->runs[i - 1].run &&
                                                     r->runs[i].attempt <= r->runs[i - 1].attempt)))
            return err_set(e, ERR_INVALID, "runs[%zu]: not after the one before it", i);
    }
    return ERR_OK;
}
