/* SPDX-License-Identifier: Apache-2.0 */
/** A repository plus how to build it and its metrics. */
#ifndef MODEL_PROJECT_H
#define MODEL_PROJECT_H

#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "model/metric.h"

/** NULL-terminated lists of strings and of pairs. */
struct pair {
    char *key;
    char *value;
};
struct strings {
    size_t n;
    char **items;
};
struct pairs {
    size_t n;
    struct pair *items;
};

enum sandbox_kind { SANDBOX_PLAIN, SANDBOX_BUBBLEWRAP };
enum submodules { SUBMODULES_RECURSIVE, SUBMODULES_NONE };

struct sandbox_limits {
    enum sandbox_kind kind;
    bool is_kind_set;      /* the user named it; else the worker's default, and it says which */
    bool has_network;
    int64_t memory_bytes;  /* 0: no limit, here and below */
    int64_t n_processes;
    int64_t disk_bytes;    /* what a job may write below its folders */
    int64_t output_bytes;  /* stdout and stderr together; more is cut, first and last half kept */
};

struct project {
    char *name;
    char *repository; /* URL or absolute path */
    enum submodules submodules;
    struct pairs submodule_urls; /* path -> URL overrides */
    struct strings platforms;
    struct strings paths;        /* what the build reads; empty: everything */
    struct pairs environment;
    struct strings build_steps;
    struct strings artifacts;    /* globs below the source folder; empty: the whole tree */
    int64_t build_timeout_ns;
    struct sandbox_limits sandbox;
    enum isolation isolation;
    int64_t budget_runs;         /* 0: the default of limits */
    int64_t budget_ns;
    size_t n_metrics;
    struct metric **metrics;
};

void project_free(struct project *p);
DEFINE_AUTO(struct project, project_free)
struct project *project_new(const char *name, const char *repository); /* with all defaults */
const struct metric *project_metric(const struct project *p, const char *name);
MUST_CHECK enum err_code project_check(const struct project *p, struct err *e);
json *project_to_json(const struct project *p);
MUST_CHECK enum err_code project_from_json(const json *v, struct project **out, struct err *e);

/** Names a way of building: two projects with one key build a revision to the same artifact.
 *  Covers repository, submodules, environment, steps, artifacts, sandbox kind. */
struct digest project_build_key(const struct project *p);
/** Names a way of measuring one build: build key, the metric's command, kind and parsing keys,
 *  environment. Samples with one key (and platform) may be pooled. */
struct digest project_measure_key(const struct project *p, const struct metric *m);

void strings_add(struct strings *s, const char *item);
void strings_fini(struct strings *s);
void pairs_add(struct pairs *p, const char *key, const char *value);
const char *pairs_get(const struct pairs *p, const char *key);
void pairs_fini(struct pairs *p);

#endif
