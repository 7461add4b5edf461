/* SPDX-License-Identifier: Apache-2.0 */
/** Every limit of the service; each is a row "limits.…" of the schema, and reaching one is an error
 * that says so. */
#ifndef CONFIG_LIMITS_H
#define CONFIG_LIMITS_H

#include <stdint.h>

struct limits {
    int64_t log_bytes;      /* a task's log; first and last half kept, the cut marked */
    int64_t body_bytes;     /* a request's body, unless it is a log, a result or an artifact */
    int64_t result_bytes;   /* the body of a task's result */
    int64_t artifact_bytes; /* one artifact, packed */
    int64_t lease_ns;       /* how long a worker may be silent */
    int64_t renew_ns;       /* how often it renews */
    int64_t wait_ns;        /* longest wait for a task in one request */
    int64_t n_tries;        /* of a task, for infrastructure faults */
    int64_t n_queued;       /* tasks waiting or leased */
    int64_t n_active;       /* unfinished bisections */
    int64_t n_range;        /* commits of one bisection */
    int64_t n_runs;         /* budget of one bisection, unless it asks for another */
    int64_t n_values;       /* numbers stored of one run */
    int64_t n_watchers;     /* open event streams */
    int64_t n_connections;
    int64_t n_page; /* items of one list answer */
};

/** The defaults of the schema. */
struct limits limits_default(void);

#endif
