/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Inside of struct bisection, shared by the files that move it on (bisection.c), choose tasks
 * (task_plan.c), judge it (judge.c) and describe it (account.c). Nobody else includes this.
 *
 *     ends ──> search ──> verify ──> finished
 *       │         ^  └──────┘  │
 *       │         └────────────┘ the posterior did not hold
 *       └──────────────────────────> finished (an end cannot be tested)
 */
#ifndef SEARCH_STATE_H
#define SEARCH_STATE_H

#include "base/buf.h"
#include "model/range_index.h"
#include "search/alike.h"
#include "search/bisection.h"
#include "search/planner.h"

/** What is known about one commit of the range. */
struct standing {
    uint8_t testable; /* enum testable */
    bool is_reused;   /* its artifact comes from an earlier bisection */
    bool is_reuse_counted;
    bool is_verified;     /* built afresh beside its parents, and measured */
    bool is_same_bytes;   /* as a parent, in an earlier bisection's verification */
    bool is_exhausted;    /* could not be measured lately: no more runs, its samples stay */
    char artifact[65];    /* "" if none */
    uint32_t next_number; /* $BISECTD_RUN of its next run */
    char *
        failed_in; /* the earlier bisection that found it untestable; NULL: this one, or testable */
    uint32_t n_fresh_failed;
    const char *verified_in; /* the earlier bisection that did it; NULL: this one */
    char *reason;            /* why it cannot be tested; NULL if it can */
};

/** What a struct stored_verification says about the commits of our range. */
struct recollection {
    char *bisection;
    bool is_fresh, is_same_bytes;
    uint32_t n;
    uint32_t *revisions; /* the suspect, then its partners; UINT32_MAX: not of our range */
};

/** The bad end compared with itself without a culprit: see confirm.c. */
struct trial {
    uint32_t culprit;
    struct bisection *comparison;
};

struct bisection {
    /* What was asked */
    struct metric *metric;
    struct range *range;
    struct range_index *index;
    char *platform;
    double confidence;
    double believed; /* a posterior is from here: above the confidence asked, for what the model
                        does not know */
    double min_effect_percent; /* < 0: automatic */
    bool is_first_parent, is_no_inside;
    bool is_comparison; /* see comparison.h */
    uint64_t seed;
    int64_t budget_runs;
    bool is_unverified; /* finishes where it would verify */
    bool is_confirming; /* culprits are reverted on top of bad before they are believed */
    size_t n_fixups;    /* of the project, by name */
    char **fixup_names;

    /* What is known */
    struct dag *dag;
    struct alike *alike;
    uint32_t bad_end;  /* what is measured as the bad end: bad, or what it only repeats */
    bool has_excluded; /* more than the posterior knows */
    uint32_t n_built;  /* revisions with an artifact, in the order they got one */
    uint32_t *built;
    struct evidence *evidence;
    struct posterior *posterior;
    struct standing *standing;
    uint32_t n_recollections;
    struct recollection *recollections;
    bool is_stale;                     /* evidence came in since the last posterior_update */
    struct cost cost;                  /* seconds stay 0: the driver's clock */
    double build_seconds, run_seconds; /* sums over counted builds and runs */
    uint32_t n_builds_timed, n_runs_timed;
    uint32_t last_built;

    /* What is under way */
    uint32_t capacity, next_ordinal;
    uint32_t n_out, n_canceled;
    struct task_spec **out, **canceled;
    int64_t n_runs_issued;
    double last_rate;  /* bits for the length of a run of the last choice in this decision */
    double runs_to_go; /* estimate of the last choice; nan before */
    uint32_t n_trials;
    struct trial *trials;

    /* How it ended */
    bool is_none_checked; /* both ends were measured once more since "no change" seemed likely */
    const char *none_checked_in; /* the earlier bisection that did it; NULL: this one */
    bool is_finished, is_canceled, is_out_of_time;
    enum verdict_kind verdict;
    enum finding finding;
    uint32_t n_culprits;
    uint32_t culprits[MAX_STEPS]; /* indices, largest share first */
    double shares[MAX_STEPS];
    uint32_t answer_class; /* class of a range; UINT32_MAX */
    char *unconfirmed;     /* why the trials ended without an answer; NULL: they did not */
    char *why;             /* for failed and inconclusive: one clause; NULL */
};

bool is_rate(const struct bisection *b);
/** Tasks of one bisection out at a time; more workers would have next to nothing to add. */
enum { MOST_OUT = 48 };
/** Runs of each end before anything else: whole numbers may be counts without noise, which a second
 *  run shows. */
uint32_t end_runs(const struct bisection *b);

/** The ends, and the merge bases where good is no ancestor. */
uint32_t bisection_n_ends(const struct bisection *b);
uint32_t bisection_end(const struct bisection *b, uint32_t i);
bool bisection_is_end(const struct bisection *b, uint32_t v);
/** Whether a task out is to build or measure it. */
bool bisection_is_out(const struct bisection *b, uint32_t v);

/* judge.c */
/** The smallest change worth a name, in the metric's unit. Pre: good was sampled. */
double bisection_min_effect(const struct bisection *b);
/** Whether any difference is, since none was asked for and the metric does not vary: the minimum
 *  effect is then but a bound of rounding errors, and nothing to tell. */
bool bisection_wants_any_change(const struct bisection *b);
/** Values that never differ within a revision: any difference between revisions is a change. */
bool has_no_spread(const struct bisection *b);
/** What the posterior is to use, from the evidence so far. */
struct scale bisection_scale(const struct bisection *b);
/** Brings the posterior up to date. */
void bisection_refresh(struct bisection *b);
/** What the posterior allows: go on, or measure the ends again, or a suspect and its parents, or
 *  take one run of a revision, or verify a suspect with fresh builds, or it is finished (then
 *  filled into b). */
enum judgement { JUDGE_SEARCH, JUDGE_ENDS, JUDGE_REPEAT, JUDGE_ONE, JUDGE_VERIFY, JUDGE_FINISHED };
enum judgement bisection_judge(struct bisection *b, uint32_t *suspect);
void bisection_finish(struct bisection *b, enum verdict_kind verdict, enum finding finding,
                      const char *why, ...) PRINTF(4, 5);
/** Commits that may be chosen for testing at this stage: on the main line with first_parent. */
bool bisection_may_test(const struct bisection *b, uint32_t v, bool is_inside);
/** With first_parent: the search has found its merge and goes on inside it. */
bool bisection_is_inside(const struct bisection *b);
bool is_among(const uint32_t *list, uint32_t n, uint32_t v);
/** Whether v is among the commits named. */
bool is_culprit(const struct bisection *b, uint32_t v);
/** How much likelier a change is than none from the runs of two sampled revisions (slots) alone, as
 *  a log. */
double log_odds_of_pair(const struct bisection *b, uint32_t slot, uint32_t other);

/* doubt.c */
/** Classes that the posterior is sure of, and the commits to be named for them. */
struct answer {
    const uint32_t *sure, *named;
    uint32_t n_sure, n_named;
};
/** What is to be asked before an answer is believed: a judgement and its revision; JUDGE_FINISHED:
 *  nothing more. */
enum judgement bisection_doubt(struct bisection *b, const struct answer *a, uint32_t *at);
/** Runs that v lacks before a suspect is named: `is_near` is the suspect or a parent of it, which
 *  need more where runs go astray; the ends need some before it is verified. 0 where no more can be
 *  had. */
uint32_t runs_missing(const struct bisection *b, uint32_t suspect, uint32_t v, bool is_near);

/* recall.c */
void recall_add(struct bisection *b, const struct stored_verification *v);
/** Believed of all but the ends: without those there is no answer, so they are tried again. */
void recall_failure(struct bisection *b, const struct stored_failure *f);
void recall_free(struct bisection *b);
/** Marks the suspect as verified if an earlier bisection did that, with the partners that
 *  verification_partners() gives now. */
void recall_verification(struct bisection *b, uint32_t suspect);
/** The earlier bisection whose verification the answer rests on; NULL: none. Pre: finished. */
const char *recall_source(const struct bisection *b);

/* account.c */
/** The runs before and after commit `c`, up to the next culprits: the two levels, their difference
 *  and its 95 % interval. */
void fill_levels(const struct bisection *b, uint32_t c, struct culprit *out);
/** "1550.2 ms to 2498 ms (+61.1 %)"; rates as percentages of failing runs. */
void say_change(const struct bisection *b, double good, double bad, struct buf *out);
/** "at least 2 ms", the minimum effect; "any size". */
void say_least(const struct bisection *b, struct buf *out);

/* same.c */
/** The artifact of `v` became known. */
void same_note_artifact(struct bisection *b, uint32_t v);
/** u and v build to the same bytes. */
void same_link(struct bisection *b, uint32_t u, uint32_t v);
/** Tells the posterior what has been excluded since. */
void same_apply(struct bisection *b);
/** Calls `v` untestable, and with it what builds to the same thing, but for the ends. */
void same_set_untestable(struct bisection *b, uint32_t v, const char *reason);
/** is_barred of each commit but the best one of those that are alike. */
void same_bar(const struct bisection *b, bool is_inside, uint8_t *is_barred);
/** What to measure for `v`: itself, or better one that builds to the same thing, but not `other`
 *  nor what builds to the same as that. */
uint32_t same_stand_in(const struct bisection *b, uint32_t v, uint32_t other);
/** What `v`, not built yet and documentation by its name, is likely to repeat: its runs are not
 *  worth taking before the bytes of both were compared. UINT32_MAX: nothing. */
uint32_t same_base(const struct bisection *b, uint32_t v);
/** Tells the worker of artifacts that `v` may repeat. */
void same_tell(const struct bisection *b, uint32_t v, struct task_spec *t);
struct excluded same_count(const struct bisection *b);

/* bisection.c */
void bisection_cancel_all(struct bisection *b, struct effects *out);

/* confirm.c */
/**
 * The next task of a confirmation, or NULL: none is wanted, it is out, or it is over. Pre: the
 * judge has finished. Until it is over b is not finished again, and the judge is to be asked again.
 */
struct task_spec *confirm_next(struct bisection *b, struct effects *out);
/** Whether a task is a confirmation's; the next four are for those alone. */
bool confirm_is_of(const struct task_spec *spec);
void confirm_issued(struct bisection *b, const struct task_spec *spec);
void confirm_dropped(struct bisection *b, uint32_t ordinal);
void confirm_absorb(struct bisection *b, const struct task_spec *spec, const struct task_result *r);
void confirm_given_up(struct bisection *b, const char *why);
/** Ends a confirmation under way: the culprit stands, unconfirmed. False: none is. */
bool confirm_abandon(struct bisection *b, const char *why);
/** What came of it, in numbers and in the message; and its cost. */
void confirm_fill(const struct bisection *b, struct verdict *out);
void confirm_free(struct bisection *b);

/* fixups.c */
void fixups_init(struct bisection *b, const struct project *p);
void fixups_fini(struct bisection *b);
/** The fixups of culprits, their parents and the ends; and a word on them in the message. */
void fixups_fill(const struct bisection *b, struct verdict *out);

/* comparison.c */
/** The next batch, or NULL: one is out, or it is finished (then filled into b). */
struct task_spec *comparison_next(struct bisection *b);
/** The fields of a verdict that a comparison has of its own. */
void comparison_fill(const struct bisection *b, struct verdict *out);
json *comparison_posterior_json(const struct bisection *b);

/* task_plan.c */
/** Brings every end to `n_runs` runs. */
struct task_spec *plan_ends(struct bisection *b, uint32_t n_runs);
/** Both ends once more, in turn, before "no change" is believed. */
struct task_spec *plan_none_check(struct bisection *b);
/** The suspect, its sampled parents and the ends, until each has as many runs as it needs. */
struct task_spec *plan_repeat(struct bisection *b, uint32_t suspect);
/** One run of v. */
struct task_spec *plan_one(struct bisection *b, uint32_t v);
/** The next revision to test beside what is out, or NULL: nothing is worth it. `is_blind`: the ends
 *  have not been measured yet. */
struct task_spec *plan_search(struct bisection *b, bool is_blind);
/** Where no run tells much and the ends alone answer: all of them once more, up to a limit. */
struct task_spec *plan_last_resort(struct bisection *b);
/** Ordinal of a task out that builds a revision of which much less is to be learned by now than by
 *  what could start in its place; UINT32_MAX if there is none. */
uint32_t plan_useless(const struct bisection *b);
/** Before a verification: where the suspect or a parent looks like documentation, builds it and
 * what it is likely to repeat, so that this one is measured in its place. NULL: not needed. */
struct task_spec *plan_settling_first(struct bisection *b, uint32_t suspect);
struct task_spec *plan_verification(struct bisection *b, uint32_t suspect);
enum { MAX_PARTNERS = 4 };
/** Revisions to stand beside `v` in verification; returns how many, at most `max`. */
uint32_t verification_partners(const struct bisection *b, uint32_t v, uint32_t *out, uint32_t max);

#endif
