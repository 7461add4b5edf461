/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task.h"
#include "base/mem.h"
#include "model/fields.h"

/* clang-format off */
#define SPEC(member) offsetof(struct task_spec, member)
static const struct field spec_fields[] = {
    {"ordinal",      FIELD_U32,  SPEC(ordinal),         FIELD_NEEDED, 0, 0, NULL},
    {"verification", FIELD_BOOL, SPEC(is_verification), 0, 0, 0, NULL},
    {"inspection",   FIELD_BOOL, SPEC(is_inspection),   FIELD_SKIP_ZERO, 0, 0, NULL},
};
static const struct field build_fields[] = {
    {"revision", FIELD_REVISION, offsetof(struct task_build, revision), FIELD_NEEDED, 0, 0, NULL},
    {"fresh",    FIELD_BOOL,     offsetof(struct task_build, fresh),    FIELD_SKIP_ZERO, 0, 0, NULL},
    {"artifact", FIELD_DIGEST,   offsetof(struct task_build, artifact), 0, 0, 0, NULL},
    {"revert",   FIELD_REVISION, offsetof(struct task_build, revert),   FIELD_SKIP_ZERO, 0, 0, NULL},
};
static const struct field known_fields[] = {
    {"revision", FIELD_REVISION, offsetof(struct task_known, revision), FIELD_NEEDED, 0, 0, NULL},
    {"artifact", FIELD_DIGEST,   offsetof(struct task_known, artifact), FIELD_NEEDED, 0, 0, NULL},
};
static const struct field run_fields[] = {
    {"build",  FIELD_U32,  offsetof(struct task_run, build),  FIELD_NEEDED, 0, 0, NULL},
    {"number", FIELD_U32,  offsetof(struct task_run, number), FIELD_NEEDED, 0, 0, NULL},
    {"seed",   FIELD_SEED, offsetof(struct task_run, seed),   FIELD_NEEDED, 0, 0, NULL},
};
/* clang-format on */

void task_spec_free(struct task_spec *t)
{
    if (!t)
        return;
    mem_free(t->builds);
    mem_free(t->runs);
    mem_free(t->known);
    mem_free(t);
}

struct task_spec *task_spec_copy(const struct task_spec *t)
{
    struct task_spec *copy = mem_alloc(sizeof(*copy));

    *copy = *t;
    copy->builds = mem_array(t->n_builds, sizeof(*t->builds));
    copy->runs = mem_array(t->n_runs, sizeof(*t->runs));
    for (uint32_t i = 0; i < t->n_builds; i++)
        copy->builds[i] = t->builds[i];
    for (uint32_t i = 0; i < t->n_runs; i++)
        copy->runs[i] = t->runs[i];
    copy->known = mem_array(t->n_known, sizeof(*t->known));
    for (uint32_t i = 0; i < t->n_known; i++)
        copy->known[i] = t->known[i];
    return copy;
}

static json *known_to_json(const struct task_spec *t)
{
    json *known = json_new_array();

    for (uint32_t i = 0; i < t->n_known; i++) {
        json *row = json_new_object();

        fields_write(known_fields, LEN(known_fields), &t->known[i], row);
        json_push(known, row);
    }
    return known;
}

json *task_spec_to_json(const struct task_spec *t)
{
    json *o = json_new_object();
    json *builds = json_new_array();
    json *runs = json_new_array();

    fields_write(spec_fields, LEN(spec_fields), t, o);
    for (uint32_t i = 0; i < t->n_builds; i++) {
        json *row = json_new_object();

        fields_write(build_fields, LEN(build_fields), &t->builds[i], row);
        if (t->builds[i].fixups)
            json_put(row, "fixups", fixup_set_to_json(t->builds[i].fixups));
        json_push(builds, row);
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        json *row = json_new_object();

        fields_write(run_fields, LEN(run_fields), &t->runs[i], row);
        json_push(runs, row);
    }
    json_put(json_put(o, "builds", builds), "runs", runs);
    if (t->n_known > 0)
        json_put(o, "known", known_to_json(t));
    return o;
}

static enum err_code read_builds(const json *v, struct task_spec *t, struct err *e)
{
    if (!json_is_array(v) || json_len(v) == 0 || json_len(v) > TASK_MAX_BUILDS)
        return err_set(e, ERR_INVALID, "builds: expected a list of 1 to %d builds",
                       TASK_MAX_BUILDS);
    t->builds = mem_array(json_len(v), sizeof(*t->builds));
    for (; t->n_builds < json_len(v); t->n_builds++) {
        const json *row = json_item(v, t->n_builds);
        struct task_build *b = &t->builds[t->n_builds];

        if (fields_read(build_fields, LEN(build_fields), row, UNKNOWN_IGNORED, b, e) ||
            fixup_set_from_json(json_at(row, "fixups"), "fixups", &b->fixups, e))
            return err_under(e, "builds[%u]", t->n_builds);
    }
    return ERR_OK;
}

static enum err_code read_runs(const json *v, struct task_spec *t, struct err *e)
{
    if (!json_is_array(v) || json_len(v) > TASK_MAX_RUNS)
        return err_set(e, ERR_INVALID, "runs: expected a list of at most %d runs", TASK_MAX_RUNS);
    t->runs = mem_array(json_len(v), sizeof(*t->runs));
    for (; t->n_runs < json_len(v); t->n_runs++) {
        struct task_run *run = &t->runs[t->n_runs];
        const json *row = json_item(v, t->n_runs);

        if (fields_read(run_fields, LEN(run_fields), row, UNKNOWN_IGNORED, run, e))
            return err_under(e, "runs[%u]", t->n_runs);
        if (run->build >= t->n_builds) {
            err_expected(e, "build", "the index of one of the builds", json_at(row, "build"));
            return err_under(e, "runs[%u]", t->n_runs);
        }
    }
    return ERR_OK;
}

/** Absent from a coordinator that knows nothing of it. */
static enum err_code read_known(const json *v, struct task_spec *t, struct err *e)
{
    if (json_is_null(v))
        return ERR_OK;
    if (!json_is_array(v) || json_len(v) > TASK_MAX_KNOWN)
        return err_set(e, ERR_INVALID, "known: expected a list of at most %d artifacts",
                       TASK_MAX_KNOWN);
    t->known = mem_array(json_len(v), sizeof(*t->known));
    for (; t->n_known < json_len(v); t->n_known++) {
        if (fields_read(known_fields, LEN(known_fields), json_item(v, t->n_known), UNKNOWN_IGNORED,
                        &t->known[t->n_known], e))
            return err_under(e, "known[%u]", t->n_known);
    }
    return ERR_OK;
}

enum err_code task_spec_from_json(const json *v, struct task_spec **out, struct err *e)
{
    AUTO(task_spec_free) struct task_spec *t = mem_alloc(sizeof(*t));

    if (fields_read(spec_fields, LEN(spec_fields), v, UNKNOWN_IGNORED, t, e) ||
        read_builds(json_at(v, "builds"), t, e) || read_runs(json_at(v, "runs"), t, e) ||
        read_known(json_at(v, "known"), t, e))
        return ERR_INVALID;
    *out = TAKE(t);
    return ERR_OK;
}
