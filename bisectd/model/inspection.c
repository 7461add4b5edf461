/* SPDX-License-Identifier: Apache-2.0 */
#include "model/inspection.h"
#include "base/mem.h"
#include "model/fields.h"
#include <math.h>

enum { MAX_ERROR = 4 * KIB, MAX_TIMED = 4 * KIB, MAX_CALL = 256, MAX_PATH = 4 * KIB };

/* clang-format off */
static const struct choice hows[] = {
    {"plain", INSPECTED_PLAIN, false}, {"counts", INSPECTED_COUNTS, false},
    {"times", INSPECTED_TIMES, false},  {"symbols", INSPECTED_SYMBOLS, false},
    {"instructions", INSPECTED_INSTRUCTIONS, false}, {0}};

#define AT(member) offsetof(struct inspection, member)
static const struct field fields[] = {
    {"error",   FIELD_STRING, AT(error),     0, 0, MAX_ERROR, NULL},
    {"timed",   FIELD_STRING, AT(timed),     0, 0, MAX_TIMED, NULL},
    {"pinned",  FIELD_BOOL,   AT(is_pinned), 0, 0, 0, NULL},
    {"cost_us", FIELD_NUM,    AT(cost_us),   0, 0, 1e9, NULL},
};
#define RUN(member) offsetof(struct inspected_run, member)
static const struct field run_fields[] = {
    {"build",   FIELD_U32,    RUN(build),    FIELD_NEEDED, 0, 1, NULL},
    {"how",     FIELD_CHOICE, RUN(how),      FIELD_NEEDED, 0, 0, hows},
    {"seconds", FIELD_NUM,    RUN(seconds),  FIELD_NEEDED, -1e9, 1e9, NULL},
    {"count",   FIELD_NUM,    RUN(count),    FIELD_SKIP_ZERO, 0, 1e18, NULL},
    {"by",      FIELD_STRING, RUN(by),       0, 0, MAX_CALL, NULL},
};
#define CALL(member) offsetof(struct inspected_call, member)
static const struct field call_fields[] = {
    {"call",      FIELD_STRING, CALL(call),         FIELD_NEEDED, 1, MAX_CALL, NULL},
    {"path",      FIELD_STRING, CALL(path),         FIELD_NEEDED, 0, MAX_PATH, NULL},
    {"directory", FIELD_BOOL,   CALL(is_directory), FIELD_SKIP_ZERO, 0, 0, NULL},
    {"count",     FIELD_SEED,   CALL(n),            FIELD_NEEDED, 0, 0, NULL},
    {"errors",    FIELD_SEED,   CALL(n_errors),     0, 0, 0, NULL},
    {"seconds",   FIELD_NUM,    CALL(seconds),      FIELD_NEEDED, 0, 1e9, NULL},
};
#define USAGE(member) offsetof(struct usage, member)
static const struct field usage_fields[] = {
    {"user_s",        FIELD_NUM, USAGE(user_s),        0, 0, 1e9, NULL},
    {"system_s",      FIELD_NUM, USAGE(system_s),      0, 0, 1e9, NULL},
    {"minor_faults",  FIELD_I64, USAGE(minor_faults),  0, 0, 1e15, NULL},
    {"major_faults",  FIELD_I64, USAGE(major_faults),  0, 0, 1e15, NULL},
    {"waits",         FIELD_I64, USAGE(waits),         0, 0, 1e15, NULL},
    {"preemptions",   FIELD_I64, USAGE(preemptions),   0, 0, 1e15, NULL},
    {"read_bytes",    FIELD_I64, USAGE(read_bytes),    0, 0, 9e15, NULL},
    {"written_bytes", FIELD_I64, USAGE(written_bytes), 0, 0, 9e15, NULL},
};
/* clang-format on */

void inspection_drop_run(struct inspection *v)
{
    struct inspected_run *r = &v->runs[--v->n_runs];

    for (size_t k = 0; k < r->n_calls; k++)
        fields_fini(call_fields, LEN(call_fields), &r->calls[k]);
    mem_free(r->calls);
    fields_fini(run_fields, LEN(run_fields), r);
}

void inspection_free(struct inspection *v)
{
    if (!v)
        return;
    while (v->n_runs)
        inspection_drop_run(v);
    mem_free(v->runs);
    fields_fini(fields, LEN(fields), v);
    mem_free(v);
}

struct inspected_run *inspection_add_run(struct inspection *v)
{
    v->runs = mem_resize(v->runs, v->n_runs + 1, sizeof(*v->runs));
    v->runs[v->n_runs] = (struct inspected_run){0};
    return &v->runs[v->n_runs++];
}

struct inspected_call *inspected_run_add_call(struct inspected_run *r, const char *call,
                                              const char *path)
{
    r->calls = mem_resize(r->calls, r->n_calls + 1, sizeof(*r->calls));
    struct inspected_call *c = &r->calls[r->n_calls++];
    *c = (struct inspected_call){.call = mem_dup(call), .path = mem_dup(path)};
    return c;
}

static json *run_to_json(const struct inspected_run *r)
{
    json *o = json_new_object();
    json *calls = json_new_array();

    fields_write(run_fields, LEN(run_fields), r, o);
    if (r->has_usage) {
        json *usage = json_new_object();
        fields_write(usage_fields, LEN(usage_fields), &r->usage, usage);
        json_put(o, "usage", usage);
    }
    for (size_t i = 0; i < r->n_calls; i++) {
        json *row = json_new_object();
        fields_write(call_fields, LEN(call_fields), &r->calls[i], row);
        json_push(calls, row);
    }
    return json_put(o, "calls", calls);
}

json *inspection_to_json(const struct inspection *v)
{
    json *o = json_new_object();
    json *runs = json_new_array();

    fields_write(fields, LEN(fields), v, o);
    for (size_t i = 0; i < v->n_runs; i++)
        json_push(runs, run_to_json(&v->runs[i]));
    return json_put(o, "runs", runs);
}

static enum err_code read_calls(const json *v, struct inspected_run *r, struct err *e)
{
    const size_t n = json_len(v);

    if (!json_is_null(v) && !json_is_array(v))
        return err_expected(e, "calls", "a list of calls", v);
    if (n > INSPECTION_CALLS)
        return err_set(e, ERR_LIMIT, "calls: more than the limit of %d a run", INSPECTION_CALLS);
    r->calls = mem_array(n, sizeof(*r->calls));
    for (; r->n_calls < n; r->n_calls++) {
        struct inspected_call *c = &r->calls[r->n_calls];
        if (fields_read(call_fields, LEN(call_fields), json_item(v, r->n_calls), UNKNOWN_IGNORED, c,
                        e)) {
            fields_fini(call_fields, LEN(call_fields), c);
            return err_under(e, "calls[%zu]", r->n_calls);
        }
    }
    return ERR_OK;
}

static enum err_code read_run(const json *v, struct inspected_run *r, struct err *e)
{
    const json *usage = json_at(v, "usage");

    if (fields_read(run_fields, LEN(run_fields), v, UNKNOWN_IGNORED, r, e))
        return ERR_INVALID;
    if (!isfinite(r->seconds))
        return err_expected(e, "seconds", "a number", json_at(v, "seconds"));
    r->has_usage = !json_is_null(usage);
    if (r->has_usage &&
        fields_read(usage_fields, LEN(usage_fields), usage, UNKNOWN_IGNORED, &r->usage, e))
        return err_under(e, "usage");
    return read_calls(json_at(v, "calls"), r, e);
}

enum err_code inspection_from_json(const json *v, struct inspection **out, struct err *e)
{
    AUTO(inspection_free) struct inspection *read = mem_alloc(sizeof(*read));
    const json *runs = json_at(v, "runs");

    if (fields_read(fields, LEN(fields), v, UNKNOWN_IGNORED, read, e))
        return ERR_INVALID;
    if (!json_is_array(runs) || json_len(runs) > INSPECTION_RUNS)
        return err_set(e, ERR_INVALID, "runs: expected a list of at most %d", INSPECTION_RUNS);
    for (size_t i = 0; i < json_len(runs); i++)
        if (read_run(json_item(runs, i), inspection_add_run(read), e))
            return err_under(e, "runs[%zu]", i);
    *out = TAKE(read);
    return ERR_OK;
}
