/* SPDX-License-Identifier: Apache-2.0 */
/* /points: time series that others measured, into the run history. */
#include "store/points.h"
#include "api/route.h"
#include <string.h>

/* The configured project of that name; NULL: none. */
static const json *find_project(const json *projects, const char *name)
{
    for (size_t i = 0; i < json_len(projects); i++)
        if (strcmp(json_str(json_at(json_item(projects, i), "id"), ""), name) == 0)
            return json_item(projects, i);
    return NULL;
}

static bool has_metric(const json *project, const char *name)
{
    const json *metrics = json_at(project, "metrics");

    for (size_t i = 0; i < json_len(metrics); i++)
        if (strcmp(json_str(json_at(json_item(metrics, i), "name"), ""), name) == 0)
            return true;
    return false;
}

/* Points stay for good and count by the names they have: those of no project are an administrator's
 * business, who may ask about projects that are not configured. */
static enum err_code check_names(const struct points *p, const struct exchange *x,
                                 const struct service *s, struct err *e)
{
    AUTO(json_free) json *projects = s->project_list(s->self);
    const json *project = find_project(projects, p->project);

    if (!project && x->role == ROLE_ADMIN)
        return ERR_OK;
    if (!project) {
        err_set(e, ERR_INVALID, "project: none is called \"%.64s\"", p->project);
        return err_hint(e, "GET /api/v1/projects lists them");
    }
    if (has_metric(project, p->metric))
        return ERR_OK;
    err_set(e, ERR_INVALID, "metric: project %.64s has none called \"%.64s\"", p->project,
            p->metric);
    return err_hint(e, "GET /api/v1/projects lists the metrics of each");
}

void point_create(struct exchange *x, const struct service *s)
{
    AUTO(points_free) struct points *p = NULL;
    struct points_added added = {0};
    struct err e = {0};

    if (points_from_json(x->json, &p, &e) || check_names(p, x, s, &e) ||
        store_points_add(s->store, p, utc_now(), &added, &e)) {
        answer_error(x, &e);
        return;
    }
    json *o = json_put(json_new_object(), "added", json_new_int((int64_t)added.n_added));
    answer_json(x, 200, json_put(o, "known", json_new_int((int64_t)added.n_known)));
}
