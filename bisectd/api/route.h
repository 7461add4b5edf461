/* SPDX-License-Identifier: Apache-2.0 */
/** The routes: one table that the dispatcher loops over and the API description prints. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "api/exchange.h"
#include "api/service.h"

typedef void handler(struct exchange *x, const struct service *s);

enum body_kind {
    BODY_NONE, /* a small one is read and ignored */
    BODY_JSON, /* parsed before the handler runs; empty is fine where the handler says so */
    BODY_TEXT, /* as it is */
    BODY_FILE  /* straight to a file beside the artifacts */
};

struct route {
    const char *method; /* a GET answers HEAD too */
    const char *path;   /* parts that start with ':' are arguments */
    handler *handle;
    enum role role; /* the least that may call it */
    enum body_kind body;
    enum body_limit limit;
    const char *query; /* names of the parameters it takes, blank-separated */
    const char *help;
};

extern const struct route routes[];
extern const size_t n_routes;

enum match { MATCH_NONE, MATCH_PATH /* with another method */, MATCH_ROUTE };

/** Finds the route and fills x->route and x->args, or x->allow_text for MATCH_PATH. */
enum match route_find(struct exchange *x);
/** Does `path` fit `pattern`? Arguments, if wanted, are new strings. */
bool route_fits(const char *pattern, const char *path, char *args[EXCHANGE_MAX_ARGS]);

/** The OpenAPI 3.0 description of the table, with the bodies' limits. Caller frees. */
json *routes_describe(const struct route *table, size_t n, const int64_t max_bytes[LIMIT_COUNT]);

/* The handlers, in the order of the table; each in the file of its resource. */
handler bisection_create, bisection_list, bisection_show, bisection_cancel, bisection_samples,
    bisection_tasks, bisection_events, bisection_explain, bisection_replay;
handler comparison_create, comparison_list, comparison_show;
handler calibration_show, calibration_count, calibration_ask;
handler task_show, task_log;
handler lease_take, lease_renew, lease_log, lease_result;
handler artifact_get, artifact_put;
handler sample_list, point_create, project_list, worker_list;
handler health_show, metrics_show, description_show;

#endif
