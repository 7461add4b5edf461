/* SPDX-License-Identifier: Apache-2.0 */
#include "api/route.h"
#include "base/auto.h"

/* clang-format off */
const struct route routes[] = {
/*   method  path                               handler            who may call    body       limit          query parameters   help */
    {"POST", "/api/v1/bisections",               bisection_create,  ROLE_DEVELOPER, BODY_JSON, LIMIT_BODY,     "",               "start a bisection, or join an unfinished one of the same question"},
    {"GET",  "/api/v1/bisections",               bisection_list,    ROLE_READER,    BODY_NONE, LIMIT_NONE,     "limit after",    "list bisections, newest first"},
    {"GET",  "/api/v1/bisections/:id",           bisection_show,    ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "show where a bisection stands, or its verdict"},
    {"POST", "/api/v1/bisections/:id/cancel",    bisection_cancel,  ROLE_DEVELOPER, BODY_NONE, LIMIT_NONE,     "",               "stop a bisection; what was measured is kept"},
    {"GET",  "/api/v1/bisections/:id/samples",   bisection_samples, ROLE_READER,    BODY_NONE, LIMIT_NONE,     "limit after",    "list every run a bisection took"},
    {"GET",  "/api/v1/bisections/:id/tasks",     bisection_tasks,   ROLE_READER,    BODY_NONE, LIMIT_NONE,     "limit after",    "list a bisection's tasks with their builds"},
    {"GET",  "/api/v1/bisections/:id/events",    bisection_events,  ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "follow a bisection as server-sent events"},
    {"GET",  "/api/v1/bisections/:id/explain",   bisection_explain, ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "show what changed between the culprit and its parent, and how much of the metric's change that is"},
    {"GET",  "/api/v1/bisections/:id/replay",    bisection_replay,  ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "decide everything again from the samples and compare"},
    {"POST", "/api/v1/comparisons",              comparison_create, ROLE_DEVELOPER, BODY_JSON, LIMIT_BODY,     "",               "compare head with base, or join an unfinished comparison of the same question"},
    {"GET",  "/api/v1/comparisons",              comparison_list,   ROLE_READER,    BODY_NONE, LIMIT_NONE,     "limit after",    "list comparisons, newest first"},
    {"GET",  "/api/v1/comparisons/:id",          comparison_show,   ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "show where a comparison stands, or its verdict; what hangs below a bisection hangs below /bisections/ID here too"},
    {"GET",  "/api/v1/tasks/:id",                task_show,         ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "show a task"},
    {"GET",  "/api/v1/tasks/:id/log",            task_log,          ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "what a task's commands printed"},
    {"POST", "/api/v1/leases",                   lease_take,        ROLE_WORKER,    BODY_JSON, LIMIT_BODY,     "wait",           "take the next task"},
    {"PUT",  "/api/v1/leases/:id",               lease_renew,       ROLE_WORKER,    BODY_JSON, LIMIT_BODY,     "",               "keep a task, and tell what is being done"},
    {"PUT",  "/api/v1/leases/:id/log",           lease_log,         ROLE_WORKER,    BODY_TEXT, LIMIT_LOG,      "fence",          "store a task's log"},
    {"POST", "/api/v1/leases/:id/result",        lease_result,      ROLE_WORKER,    BODY_JSON, LIMIT_RESULT,   "",               "store a task's builds and samples"},
    {"GET",  "/api/v1/artifacts/:sha256",        artifact_get,      ROLE_WORKER,    BODY_NONE, LIMIT_NONE,     "",               "fetch a build's files, packed"},
    {"PUT",  "/api/v1/artifacts/:sha256",        artifact_put,      ROLE_WORKER,    BODY_FILE, LIMIT_ARTIFACT, "",               "store a build's files, packed; named by the SHA-256 of the plain archive"},
    {"GET",  "/api/v1/samples",                  sample_list,       ROLE_READER,    BODY_NONE, LIMIT_NONE,     "project metric revision platform limit after", "query the run history"},
    {"POST", "/api/v1/points",                   point_create,      ROLE_CI,        BODY_JSON, LIMIT_BODY,     "",               "add up to 5,000 points of a time series to the run history; those that are there already stay as they are"},
    {"GET",  "/api/v1/calibration",              calibration_show,  ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "how often stated confidences were right, of the newest 10,000 verdicts"},
    {"GET",  "/api/v1/calibration/checks",       calibration_count, ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "count the checks of verdicts by where they stand"},
    {"POST", "/api/v1/calibration/checks",       calibration_ask,   ROLE_DEVELOPER, BODY_JSON, LIMIT_BODY,     "",               "put {\"count\": N} verdicts, or {\"all\": true}, to the test when there is no other work"},
    {"GET",  "/api/v1/projects",                 project_list,      ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "list configured projects"},
    {"GET",  "/api/v1/workers",                  worker_list,       ROLE_READER,    BODY_NONE, LIMIT_NONE,     "",               "list workers"},
    {"GET",  "/api/v1/openapi.json",             description_show,  ROLE_NONE,      BODY_NONE, LIMIT_NONE,     "",               "this description"},
    {"GET",  "/healthz",                         health_show,       ROLE_NONE,      BODY_NONE, LIMIT_NONE,     "",               "is the daemon alive"},
    {"GET",  "/metrics",                         metrics_show,      ROLE_NONE,      BODY_NONE, LIMIT_NONE,     "",               "counters as Prometheus text"},
};
/* clang-format on */

const size_t n_routes = LEN(routes);
