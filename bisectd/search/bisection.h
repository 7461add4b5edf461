/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The search as a value: fold events in, get decisions out.
 *
 *     bisection_step(state, event) -> new state + effects
 *
 * Pure: no clock, I/O, globals or hidden randomness; the same events give the same effects. The
 * driver loads, steps and applies; replay folds the same events again and compares; simulate and
 * plan call the same functions.
 *
 * Method: Bayesian search with noisy answers (Ben-Or & Hassidim, FOCS 2008, arXiv:quant-ph/0703231;
 * Jedynak, Frazier & Sznitman, "Twenty questions with noise", 2012), with levels and noise
 * integrated out (fit.h) and choices by expected information for their price (planner.h).
 */
#ifndef SEARCH_BISECTION_H
#define SEARCH_BISECTION_H

#include "base/err.h"
#include "model/bisection.h"
#include "model/revision.h"
#include "model/task.h"

struct bisection;

/** A sample of an earlier bisection that may be pooled with ours (same measure key and platform).
 */
struct stored_sample {
    struct revision revision;
    double value;
    const char *host;
    struct utc at;
    double seconds;  /* it took; 0: not known */
    uint32_t number; /* $BISECTD_RUN it had; ours continue after the largest */
};
/** A build of an earlier bisection (same build key) whose artifact is still at hand. */
struct stored_build {
    struct revision revision;
    char artifact[65];
};

/**
 * A task of an earlier bisection (same measure key and platform) that measured revisions in turn to
 * be sure of an answer: of a suspect, first, and its partners, all built afresh; or, not afresh, of
 * both ends, for "no change". Its samples are among the stored ones.
 */
struct stored_verification {
    const char *bisection;
    bool is_fresh;
    size_t n_builds;
    struct stored_build *builds; /* artifacts may be gone, or "" */
};

/** A revision of which earlier bisections have nothing but failures of its own: build steps that
 *  failed, or runs without a value. */
struct stored_failure {
    struct revision revision;
    const char *bisection, *reason;
};

enum event_kind {
    EVENT_STARTED,  /* always first; carries stored evidence (none if request.fresh) */
    EVENT_CAPACITY, /* how many workers of the platform could be at work; 1 until told */
    EVENT_RESULT,   /* a task's accepted result */
    EVENT_GIVEN_UP, /* a task failed for infrastructure reasons as often as the limit allows */
    EVENT_BUDGET,   /* budget_ns is used up */
    EVENT_CANCEL
};
extern const char *const event_names[]; /* as stored */

struct event {
    enum event_kind kind;
    /* EVENT_STARTED */
    size_t n_samples;
    const struct stored_sample *samples;
    size_t n_builds;
    const struct stored_build *builds;
    size_t n_verifications;
    const struct stored_verification *verifications;
    size_t n_failures;
    const struct stored_failure *failures;
    /* EVENT_CAPACITY */
    uint32_t n_workers;
    /* EVENT_RESULT, EVENT_GIVEN_UP */
    uint32_t ordinal; /* of the task */
    const struct task_result *result;
    const char *reason;
};

struct effects {
    size_t n_issue;
    struct task_spec **issue; /* owned; to be queued */
    size_t n_cancel;
    uint32_t *cancel; /* ordinals of tasks that became useless */
    bool is_finished; /* bisection_verdict() is final; nothing more will be issued */
};
void effects_fini(struct effects *f);
DEFINE_AUTO_FINI(struct effects, effects_fini)

/** Copies what it needs. ERR_INVALID if the request and the range do not fit. */
MUST_CHECK enum err_code bisection_new(const struct request *request, const struct range *range,
                                       struct bisection **out, struct err *e);
void bisection_free(struct bisection *b);
DEFINE_AUTO(struct bisection, bisection_free)
/** Answers as soon as the posterior allows, without fresh builds. For studies of the search. */
void bisection_skip_verification(struct bisection *b);

/** What happened, without deciding. Used to rebuild a state from the store. */
void bisection_absorb(struct bisection *b, const struct event *event);
/** A task that an earlier decide() issued, when rebuilding. */
void bisection_issued(struct bisection *b, const struct task_spec *spec);
/** A task that an earlier decide() canceled, when rebuilding: after all events are absorbed. */
void bisection_dropped(struct bisection *b, uint32_t ordinal);
/** What to do now. Does nothing when finished or when enough tasks are out. Issued tasks count as
 * out. */
void bisection_decide(struct bisection *b, struct effects *out);
/** absorb, then decide. */
void bisection_step(struct bisection *b, const struct event *event, struct effects *out);

/** Where it stands. Fills everything but id, state, cost.seconds and activity; culprits only when
 *  finished. `out` is fresh ({0}); caller frees. */
void bisection_verdict(const struct bisection *b, struct verdict *out);

/** One line for the posteriors table: {"p_no_change","entropy_bits","top":[[index,p],…]}. */
json *bisection_posterior_json(const struct bisection *b);

#endif
