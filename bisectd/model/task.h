/* SPDX-License-Identifier: Apache-2.0 */
/** One unit for a worker, and what it brings back. */
#ifndef MODEL_TASK_H
#define MODEL_TASK_H

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "model/inspection.h"
#include "model/project.h"
#include "model/revision.h"

enum { TASK_MAX_BUILDS = 1000, TASK_MAX_RUNS = 10000, TASK_MAX_KNOWN = 64, RUN_MAX_VALUES = 10000 };

/** Building one revision. */
struct task_build {
    struct revision revision;
    bool fresh;             /* build it even if an artifact is known (verification) */
    char artifact[65];      /* SHA-256 of a known artifact, or empty */
    uint64_t fixups;        /* of the project, applied after checkout: bit i is the i-th */
    struct revision revert; /* a commit to be reverted on top of it; unset: none */
};

/** One run of one revision; runs are taken in the order given. */
struct task_run {
    uint32_t build;  /* index into builds */
    uint32_t number; /* $BISECTD_RUN: counted over the revision's runs */
    uint64_t seed;   /* $BISECTD_SEED */
};

/** An artifact that is known, and a revision that builds to it. */
struct task_known {
    struct revision revision;
    char artifact[65];
};

/** What the search asks for: pure, and the same again on replay. */
struct task_spec {
    uint32_t ordinal; /* counted within the bisection, from 0 */
    uint32_t n_builds;
    struct task_build *builds;
    uint32_t n_runs;
    struct task_run *runs; /* may be none: a build alone */
    uint32_t n_known;
    struct task_known *known; /* runs of a build that turns out to be the same bytes as one of these,
                                 of another revision, are skipped: they would tell nothing. At most
                                 TASK_MAX_KNOWN; builds that are fresh or at hand are run anyhow */
    bool is_verification;
    bool is_inspection; /* of a parent and a culprit, its two builds: gives no samples */
};
void task_spec_free(struct task_spec *t);
DEFINE_AUTO(struct task_spec, task_spec_free)
struct task_spec *task_spec_copy(const struct task_spec *t);
json *task_spec_to_json(const struct task_spec *t);
MUST_CHECK enum err_code task_spec_from_json(const json *v, struct task_spec **out, struct err *e);

/** A worker's time-limited, fenced right to a task: the answer to POST /leases. */
struct lease {
    char *id;
    int64_t fence;
    char *task;      /* id */
    char *bisection; /* id */
    struct project
        *project; /* environment, steps, limits; repository as this worker is to fetch it */
    char *metric; /* name */
    char *platform;
    struct task_spec *spec;
    int64_t expires_ns; /* from now: a duration, renewed by PUT */
    int64_t renew_ns;
};
void lease_free(struct lease *l);
DEFINE_AUTO(struct lease, lease_free)
json *lease_to_json(const struct lease *l);
MUST_CHECK enum err_code lease_from_json(const json *v, struct lease **out, struct err *e);

enum build_status {
    BUILD_OK,
    BUILD_REUSED,  /* an artifact was at hand: no build step was begun */
    BUILD_FAILED,  /* the steps say no: untestable */
    BUILD_TIMEOUT, /* untestable */
    BUILD_LIMIT,   /* disk, memory or process limit: untestable */
    BUILD_FAULT    /* ours (disk full, no network, no object): the task is tried again elsewhere */
};
enum run_status {
    RUN_OK,
    RUN_CANNOT,  /* crash, no number, nan, exit status, 125: counted as begun, never a value */
    RUN_TIMEOUT, /* killed at its limit */
    RUN_ABORT,   /* exit metric, status >= 128: ends the bisection */
    RUN_SKIPPED, /* not begun: its build failed or is the same bytes as a known artifact, or its
                    revision already could not be measured */
    RUN_FAULT    /* ours */
};
const char *build_status_name(enum build_status s);
const char *run_status_name(enum run_status s);
MUST_CHECK enum err_code build_status_parse(const char *s, enum build_status *out, struct err *e);
MUST_CHECK enum err_code run_status_parse(const char *s, enum run_status *out, struct err *e);

struct build_result {
    struct revision revision;
    struct revision revert; /* as in the task's build */
    enum build_status status;
    char *reason;      /* for people, NULL if ok: "step 2 of 3 exited 1: make: *** …" */
    char artifact[65]; /* hash of the artifact's plain tar; empty unless ok or reused */
    double seconds;
};

struct run_result {
    uint32_t run;     /* index into spec.runs */
    uint32_t attempt; /* 0, or which retry of "cannot measure" this is */
    enum run_status status;
    char *reason;
    size_t n_values;
    double *values; /* all numbers of the run, at most 10,000 */
    double value;   /* the one, reduced; nan unless ok */
    struct utc at;  /* the worker's clock; may lie */
    double seconds;
};

/** Where samples were taken. */
struct environment {
    char *host, *worker, *platform, *kernel, *cpu;
    uint32_t n_cpus;
    double load;     /* 1-minute load average before the first run */
    char *sandbox;   /* "plain" or "bubblewrap" */
    char *isolation; /* "exclusive", "cpus" or "none" */
};
void environment_fini(struct environment *v);
DEFINE_AUTO_FINI(struct environment, environment_fini)
json *environment_to_json(const struct environment *v);
MUST_CHECK enum err_code environment_from_json(const json *v, struct environment *out,
                                               struct err *e);

/** The body of POST /leases/:id/result. */
struct task_result {
    int64_t fence;
    struct environment environment;
    size_t n_builds;
    struct build_result *builds;
    size_t n_runs; /* several for one spec run when it was retried */
    struct run_result *runs;
    struct inspection *inspection; /* of such a task, unless a fault ended it; else NULL */
    char *fault; /* an infrastructure fault that ended the task, or NULL */
};
void task_result_free(struct task_result *r);
DEFINE_AUTO(struct task_result, task_result_free)
/** A fresh one at the end, zero but for the value, which is nan. Good until the next is added. */
struct build_result *task_result_add_build(struct task_result *r);
struct run_result *task_result_add_run(struct task_result *r);
json *task_result_to_json(const struct task_result *r);
/** Keys it does not know are passed over, so that a worker may be newer than its coordinator. */
MUST_CHECK enum err_code task_result_from_json(const json *v, struct task_result **out,
                                               struct err *e);
/** Whether it tells of this build: the same revision, with the same commit reverted. */
bool build_result_is_of(const struct build_result *r, const struct task_build *b);
/** Whether it answers `spec`: builds and runs of the task only, runs in order, attempts rising. */
MUST_CHECK enum err_code task_result_check(const struct task_result *r,
                                           const struct task_spec *spec, struct err *e);

#endif
