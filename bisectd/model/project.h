/* SPDX-License-Identifier: Apache-2.0 */
/** A repository plus how to build it and its metrics. */
#ifndef MODEL_PROJECT_H
#define MODEL_PROJECT_H

#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "model/fixup.h"
#include "model/metric.h"
#include "model/strings.h"

enum sandbox_kind { SANDBOX_PLAIN, SANDBOX_BUBBLEWRAP };
enum submodules { SUBMODULES_RECURSIVE, SUBMODULES_NONE };

/** By its name in project files. */
MUST_CHECK enum err_code sandbox_kind_parse(const char *s, enum sandbox_kind *out, struct err *e);

/** What is done about a culprit beyond verifying it. */
enum confirm {
    CONFIRM_NONE,
    CONFIRM_REVERT /* bad is measured against bad with the culprit reverted */
};
MUST_CHECK enum err_code confirm_parse(const char *s, enum confirm *out, struct err *e);

struct sandbox_limits {
    enum sandbox_kind kind;
    bool is_kind_set; /* else plain */
    bool has_network;
    struct strings read;  /* what of the machine a job within walls also sees, read-only */
    int64_t memory_bytes; /* of the job's process tree; 0: nine tenths of the machine's */
    int64_t n_processes;  /* in the job's own tree, not of the user */
    int64_t disk_bytes;   /* what a job may write below its folders */
    int64_t output_bytes; /* stdout and stderr together; more is cut, first and last half kept */
};

/** What project_new() sets: a sandbox that stops what is plainly broken and nothing else. */
#define PROJECT_BUILD_TIMEOUT_NS INT64_C(1200000000000)
#define PROJECT_N_PROCESSES      4096
#define PROJECT_DISK_BYTES       (INT64_C(10) << 30)
#define PROJECT_OUTPUT_BYTES     (INT64_C(16) << 20)

struct project {
    char *name;
    char *repository; /* URL or absolute path */
    enum submodules submodules;
    struct pairs submodule_urls; /* path -> URL overrides; only with SUBMODULES_RECURSIVE */
    struct strings platforms;    /* empty: any */
    struct strings paths;        /* what the build reads; empty: everything */
    struct pairs environment;
    struct strings build_steps;
    struct strings artifacts; /* globs below the source folder; empty: the whole tree */
    int64_t build_timeout_ns;
    struct sandbox_limits sandbox;
    enum isolation isolation; /* ISOLATION_DEFAULT: that of the metric's kind */
    enum confirm confirm;
    int64_t budget_runs; /* 0: the default of a request */
    int64_t budget_ns;   /* 0: none */
    char *revision_map;  /* path of a file (formats/revision_map.h); NULL: none */
    size_t n_fixups;     /* at most FIXUP_MAX */
    struct fixup **fixups;
    size_t n_metrics;
    struct metric **metrics;
};

void project_free(struct project *p);
DEFINE_AUTO(struct project, project_free)
struct project *project_new(const char *name, const char *repository); /* with all defaults */
struct project *project_copy(const struct project *p);
const struct metric *project_metric(const struct project *p, const char *name); /* NULL: none */
/** Takes the metric over. */
void project_add_metric(struct project *p, struct metric *m);
/** Takes the fixup over. */
void project_add_fixup(struct project *p, struct fixup *f);
/** The project's environment, and over it that of a set of fixups, in order. `out` is fresh. */
void project_environment(const struct project *p, uint64_t fixups, struct pairs *out);
/** What a set of fixups is called, with commas between; nothing for the empty set. */
void project_fixup_names(const struct project *p, uint64_t fixups, struct buf *out);
/** The metric's own isolation, else the project's, else that of the metric's kind. */
enum isolation project_isolation(const struct project *p, const struct metric *m);
/** Complete and consistent. Errors begin with the path of the key: "metrics.startup.regex: …". */
MUST_CHECK enum err_code project_check(const struct project *p, struct err *e);
/** Keys and nesting of the project file; durations and sizes as strings. */
json *project_to_json(const struct project *p);
/** The same keys; unknown ones are errors, and keys of later versions say so. Checked too. */
MUST_CHECK enum err_code project_from_json(const json *v, struct project **out, struct err *e);

/** Names a way of building: two projects with one key build a revision to the same artifact.
 *  Covers repository, submodules, environment, steps, artifacts, sandbox kind; not the fixups,
 *  which some revisions have and some have not: see project_variant_key. */
struct digest project_build_key(const struct project *p);
/** Names a way of measuring one build: build key, the metric's command, kind and parsing keys,
 *  environment. Samples with one key (and platform) may be pooled. */
struct digest project_measure_key(const struct project *p, const struct metric *m);
/**
 * The key of a revision that is not built as it is: with a set of fixups, or with a commit reverted
 * (unset: none), or both. `plain` is one of the two keys above, and the answer where neither is.
 */
struct digest project_variant_key(const struct project *p, const struct digest *plain,
                                  uint64_t fixups, const struct revision *reverted);

#endif
