/* SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"
#include "base/auto.h"

#define GIB (INT64_C(1024) * MIB)

/* clang-format off */
const struct route routes[] = {
/*   method  path                               handler            who may call    body       max body   query parameters   help */
    {"POST", "/api/v1/bisections",               bisection_create,  ROLE_DEVELOPER, BODY_JSON, 1 * MIB,   "",                "start a bisection, or join an unfinished one of the same question"},
    {"GET",  "/api/v1/bisections",               bisection_list,    ROLE_READER,    BODY_NONE, 1 * KIB,   "limit after",     "list bisections, newest first"},
    {"GET",  "/api/v1/bisections/:id",           bisection_show,    ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "show where a bisection stands, or its verdict"},
    {"POST", "/api/v1/bisections/:id/cancel",    bisection_cancel,  ROLE_DEVELOPER, BODY_NONE, 1 * KIB,   "",                "stop a bisection; what was measured is kept"},
    {"GET",  "/api/v1/bisections/:id/samples",   bisection_samples, ROLE_READER,    BODY_NONE, 1 * KIB,   "limit after",     "list every run a bisection took"},
    {"GET",  "/api/v1/bisections/:id/tasks",     bisection_tasks,   ROLE_READER,    BODY_NONE, 1 * KIB,   "limit after",     "list a bisection's tasks with their builds"},
    {"GET",  "/api/v1/bisections/:id/events",    bisection_events,  ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "follow a bisection as server-sent events"},
    {"GET",  "/api/v1/bisections/:id/replay",    bisection_replay,  ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "decide everything again from the samples and compare"},
    {"GET",  "/api/v1/tasks/:id",                task_show,         ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "show a task"},
    {"GET",  "/api/v1/tasks/:id/log",            task_log,          ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "what a task's commands printed"},
    {"POST", "/api/v1/leases",                   lease_take,        ROLE_WORKER,    BODY_JSON, 16 * KIB,  "wait",            "take the next task"},
    {"PUT",  "/api/v1/leases/:id",               lease_renew,       ROLE_WORKER,    BODY_JSON, 16 * KIB,  "",                "keep a task, and tell what is being done"},
    {"PUT",  "/api/v1/leases/:id/log",           lease_log,         ROLE_WORKER,    BODY_TEXT, 16 * MIB,  "fence",           "store a task's log"},
    {"POST", "/api/v1/leases/:id/result",        lease_result,      ROLE_WORKER,    BODY_JSON, 16 * MIB,  "",                "store a task's builds and samples"},
    {"GET",  "/api/v1/artifacts/:sha256",        artifact_get,      ROLE_WORKER,    BODY_NONE, 1 * KIB,   "",                "fetch a build's files, packed"},
    {"PUT",  "/api/v1/artifacts/:sha256",        artifact_put,      ROLE_WORKER,    BODY_FILE, 16 * GIB,  "",                "store a build's files, packed; named by the SHA-256 of the plain archive"},
    {"GET",  "/api/v1/samples",                  sample_list,       ROLE_READER,    BODY_NONE, 1 * KIB,   "project metric revision platform limit after", "query the run history"},
    {"GET",  "/api/v1/projects",                 project_list,      ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "list configured projects"},
    {"GET",  "/api/v1/workers",                  worker_list,       ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "list workers"},
    {"GET",  "/api/v1/openapi.json",             description_show,  ROLE_NONE,      BODY_NONE, 1 * KIB,   "",                "this description"},
    {"GET",  "/healthz",                         health_show,       ROLE_NONE,      BODY_NONE, 1 * KIB,   "",                "is the daemon alive"},
    {"GET",  "/metrics",                         metrics_show,      ROLE_READER,    BODY_NONE, 1 * KIB,   "",                "counters as Prometheus text"},
};
/* clang-format on */

const size_t n_routes = LEN(routes);
