/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/fields.h"
#include "model/task.h"
#include <math.h>

/* clang-format off */
#define AT(member) offsetof(struct lease, member)
static const struct field fields[] = {
    {"id",        FIELD_STRING, AT(id),        FIELD_NEEDED, 1, 128, NULL},
    {"fence",     FIELD_I64,    AT(fence),     FIELD_NEEDED, 0, 0, NULL},
    {"task",      FIELD_STRING, AT(task),      FIELD_NEEDED, 1, 128, NULL},
    {"bisection", FIELD_STRING, AT(bisection), FIELD_NEEDED, 1, 128, NULL},
    {"metric",    FIELD_STRING, AT(metric),    FIELD_NEEDED, 1, 64, NULL},
    {"platform",  FIELD_STRING, AT(platform),  FIELD_NEEDED, 1, 64, NULL},
};
/* clang-format on */

void lease_free(struct lease *l)
{
    if (!l)
        return;
    fields_fini(fields, LEN(fields), l);
    project_free(l->project);
    task_spec_free(l->spec);
    mem_free(l);
}

json *lease_to_json(const struct lease *l)
{
    json *o = json_new_object();

    fields_write(fields, LEN(fields), l, o);
    json_put(o, "expires_s", json_new_real((double)l->expires_ns / NS_PER_S));
    json_put(o, "renew_s", json_new_real((double)l->renew_ns / NS_PER_S));
    json_put(o, "project", project_to_json(l->project));
    return json_put(o, "spec", task_spec_to_json(l->spec));
}

static enum err_code read_seconds(const json *v, const char *key, int64_t *ns, struct err *e)
{
    const double seconds = json_num(json_at(v, key), NAN);

    if (!(seconds > 0 && seconds < 1e6))
        return err_expected(e, key, "a number of seconds above 0", json_at(v, key));
    *ns = (int64_t)(seconds * NS_PER_S);
    return ERR_OK;
}

enum err_code lease_from_json(const json *v, struct lease **out, struct err *e)
{
    AUTO(lease_free) struct lease *l = mem_alloc(sizeof(*l));

    if (fields_read(fields, LEN(fields), v, UNKNOWN_IGNORED, l, e) ||
        read_seconds(v, "expires_s", &l->expires_ns, e) ||
        read_seconds(v, "renew_s", &l->renew_ns, e))
        return ERR_INVALID;
    if (!json_is_object(json_at(v, "project")))
        return err_expected(e, "project", "an object", json_at(v, "project"));
    if (project_from_json(json_at(v, "project"), &l->project, e))
        return err_under(e, "project");
    if (!project_metric(l->project, l->metric))
        return err_set(e, ERR_INVALID, "metric: the project has none of the name %s", l->metric);
    if (!json_is_object(json_at(v, "spec")))
        return err_expected(e, "spec", "an object", json_at(v, "spec"));
    if (task_spec_from_json(json_at(v, "spec"), &l->spec, e))
        return err_under(e, "spec");
    for (uint32_t i = 0; i < l->spec->n_builds; i++) {
        const uint64_t fixups = l->spec->builds[i].fixups;

        if (l->project->n_fixups < FIXUP_MAX && fixups >> l->project->n_fixups)
            return err_set(e, ERR_INVALID, "spec.builds[%u].fixups: the project has %zu", i,
                           l->project->n_fixups);
    }
    *out = TAKE(l);
    return ERR_OK;
}
