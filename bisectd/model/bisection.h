/* SPDX-License-Identifier: Apache-2.0 */
/** One search: what was asked, where it stands, and at last a verdict. */
#ifndef MODEL_BISECTION_H
#define MODEL_BISECTION_H

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "model/project.h"
#include "model/revision.h"

/** What was asked. Complete by the time it is stored: defaults filled in, so that replay needs
 * nothing else. */
struct request {
    struct project *project; /* with its metrics */
    char *metric;            /* name of one of them */
    bool is_comparison;      /* bad against good, no search: keys base and head, no first_parent */
    char *good, *bad;        /* as typed; resolved in the range */
    char *platform;
    double confidence;         /* .5 < c < 1 */
    double min_effect_percent; /* < 0: not set (then the metric's, then the automatic rule) */
    bool first_parent;         /* test main-line merges only, then inside the merge found */
    bool no_inside;            /* with first_parent: a merge is an answer */
    bool fresh;                /* ignore stored samples and artifacts */
    bool no_explain;           /* leave it at the culprit, without tracing it */
    bool is_seed_set; /* else whoever takes the request draws one, at most REQUEST_MAX_SEED */
    uint64_t seed;
    int64_t budget_runs;
    int64_t budget_ns; /* wall time over all sittings; 0: none */
};

#define REQUEST_CONFIDENCE  0.99
#define REQUEST_BUDGET_RUNS 2000
#define REQUEST_PLATFORM    "linux-x64"
#define REQUEST_MAX_SEED    UINT64_C(9007199254740991) /* exact in every JSON reader */

void request_free(struct request *r);
DEFINE_AUTO(struct request, request_free)
/** Takes the project over (may be NULL for now); defaults filled in from it, then from above. */
struct request *request_new(struct project *project);
const struct metric *request_metric(const struct request *r); /* NULL: no such metric */
/** Complete and consistent, project and metric included. Errors begin with the key at fault. */
MUST_CHECK enum err_code request_check(const struct request *r, struct err *e);
/**
 * {"project": {…}, "metric", "good", "bad", "platform", "confidence", "min_effect" (percent),
 *  "first_parent", "no_inside", "fresh", "no_explain", "seed", "budget_runs", "budget_time"}.
 * Needed are project (an object here: a name is looked up before), good, bad, and metric unless
 * the project has just one. Unknown keys are errors. Checked too. A comparison has "comparison":
 * true, and base and head instead of good and bad.
 */
json *request_to_json(const struct request *r);
MUST_CHECK enum err_code request_from_json(const json *v, struct request **out, struct err *e);
/** Same key: the same question; a second one joins the first while that is not finished.
 *  Seed, budgets and no_explain are not part of it. */
struct digest request_key(const struct request *r);

/**
 * queued -> resolving -> running -> done
 *    \          \           \-> canceled
 *     \----------\-> done (verdict failed)
 */
enum bisection_state {
    BISECTION_QUEUED,
    BISECTION_RESOLVING,
    BISECTION_RUNNING,
    BISECTION_DONE,
    BISECTION_CANCELED
};
const char *bisection_state_name(enum bisection_state s);
MUST_CHECK enum err_code bisection_state_parse(const char *s, enum bisection_state *out,
                                               struct err *e);

enum verdict_kind {
    VERDICT_NONE,
    VERDICT_CULPRIT,
    VERDICT_RANGE,
    VERDICT_NOT_REPRODUCED,
    VERDICT_INCONCLUSIVE, /* of comparisons too, like the next */
    VERDICT_FAILED,
    VERDICT_REGRESSED, /* of comparisons alone, like the rest */
    VERDICT_IMPROVED,
    VERDICT_SAME,
    VERDICT_COUNT
};
enum finding {
    FINDING_NONE,
    FINDING_REVERSED,
    FINDING_HUMP,
    FINDING_BAD_MERGE_BASE,
    FINDING_DRIFT,
    FINDING_CULPRIT_NOT_BUILT
};
const char *verdict_name(enum verdict_kind v); /* NULL for none */
const char *finding_name(enum finding f);      /* NULL for none */
MUST_CHECK enum err_code verdict_parse(const char *s, enum verdict_kind *out, struct err *e);

struct level {
    double mean;
    uint32_t n_runs;
};

struct culprit {
    struct revision revision;
    char *subject, *author;
    double probability;
    struct level good, bad; /* over all runs on either side of the step */
    double delta, ratio;    /* ratio is nan where good is 0 */
    double interval[2];     /* 95 % credible, of delta */
    double share;           /* of the total change */
};

struct candidate {
    struct revision revision;
    double probability;
};

/** A revision that was not built as it is. */
struct fixed {
    struct revision revision;
    struct strings applied; /* fixups by name; none where a neighbour had some */
};

/** What came of reverting a culprit on top of the bad end. */
enum confirmation_outcome {
    CONFIRMATION_OPEN,      /* under way */
    CONFIRMATION_CONFIRMED, /* the metric comes back, at least in part */
    CONFIRMATION_REFUTED,   /* it does not */
    CONFIRMATION_UNDECIDED  /* it conflicts, does not build, or a budget ended first */
};
struct confirmation {
    struct revision revision; /* the culprit */
    enum confirmation_outcome outcome;
    struct level head, reverted; /* the bad end, and it without the culprit; interleaved runs */
    char *message;               /* one clause */
};

struct cost {
    uint32_t n_builds, n_builds_reused, n_runs, n_runs_reused;
    double seconds;
};

/** Candidates that no run was spent on. The first two kinds cannot be the culprit. */
struct excluded {
    uint32_t n_untouched;  /* touch nothing the build reads */
    uint32_t n_same_bytes; /* lie between revisions that build to the same bytes */
    uint32_t n_prose;      /* look like documentation, and were not measured for that */
};

/** The document that run, show and watch print with --json, while running too. */
struct verdict {
    char *id; /* of the bisection */
    enum bisection_state state;
    enum verdict_kind kind;
    bool is_comparison;     /* good is its base, bad its head, p_no_change that of "same" */
    struct culprit *change; /* of a comparison: head against base; NULL: not measured yet */
    size_t n_culprits;
    struct culprit *culprits;
    size_t n_candidates;
    struct candidate *candidates;
    size_t n_untestable;
    struct revision *untestable;
    size_t n_fixed; /* culprits, their parents, the ends: where the project's fixups apply */
    struct fixed *fixed;
    size_t n_confirmations; /* none unless the project asks for them */
    struct confirmation *confirmations;
    double p_no_change;
    enum finding finding;
    double min_effect_percent, min_effect_value; /* nan while unknown */
    char *metric_name, *metric_unit;
    enum worse worse;
    char *platform;
    struct revision good, bad, merge_base;
    uint32_t range_size;
    struct excluded excluded;
    struct cost cost;
    double confidence;
    uint64_t seed;
    char *message; /* one sentence a person can read; may end in what to type next */
    /* beyond the contract, for the live line; absent when done */
    double expected_runs; /* to go; nan if unknown */
    char *activity;       /* "building 1a2b3c4", "measuring 1a2b3c4 3/8"; may be NULL */
};

void verdict_free(struct verdict *v);
DEFINE_AUTO(struct verdict, verdict_free)
/** Leaves it empty; for a verdict that is not on the heap. */
void verdict_fini(struct verdict *v);
DEFINE_AUTO_FINI(struct verdict, verdict_fini)
json *verdict_to_json(const struct verdict *v);
/** Of a comparison: what `compare --json` prints. */
json *comparison_to_json(const struct verdict *v);
MUST_CHECK enum err_code verdict_from_json(const json *v, struct verdict **out, struct err *e);

#endif
