/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bisection.h"

#include "base/hash.h"
#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>
#include <string.h>

#define NORMAL .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_UP
#define EXACT  .level = 100, .confidence = .99, .worse = WORSE_UP
#define PASSES .is_rate = true, .confidence = .99, .worse = WORSE_UP

/** Whole searches over many seeds; the culprit moves with the seed unless `fixed`. */
/* clang-format off */
static const struct {
    const char *name;
    struct world w;
    bool has_change, is_fixed;
    uint32_t n_seeds;
    uint32_t least_right, most_wrong; /* right: the culprit, or not_reproduced without a change */
    uint32_t most_builds, most_runs_each; /* of the search itself, each time; 0: any */
    double most_runs;                     /* on average; 0: any */
} rows[] = {
    {"an exact step among 1,000 costs 10 builds and 2 runs a revision", {.n = 1000, .effect = 10, EXACT}, true, false, 40, 40, 0, 12, 2, 30},
    {"an exact step of a thousandth is a step", {.n = 300, .effect = .1, EXACT}, true, false, 20, 20, 0, 12, 2, 30},
    {"artifacts of an earlier bisection are all there is to measure", {.n = 1000, .effect = 10, .has_artifacts = true, EXACT}, true, false, 40, 40, 0, 12, 2, 30},
    {"a count that starts at zero", {.n = 300, .effect = 3, .confidence = .99, .worse = WORSE_UP}, true, false, 20, 20, 0, 12, 2, 30},
    {"a step of exactly the minimum effect", {.n = 300, .effect = 1, EXACT}, true, false, 10, 10, 0, 12, 2, 30},
    {"exactly alike ends are done in 4 runs", {.n = 200, EXACT}, false, false, 5, 5, 0, 0, 2, 4},
    {"all zeros", {.n = 200, .confidence = .99, .worse = WORSE_UP}, false, false, 5, 5, 0, 0, 2, 4},
    {"normal noise, 2 sd, .99", {.n = 200, .effect = 4, NORMAL}, true, false, 200, 196, 2, 0, 0, 60},
    {"normal noise, 1 sd, .99", {.n = 100, .effect = 2, NORMAL}, true, false, 40, 37, 2, 0, 0, 220},
    {"lower is worse", {.n = 200, .effect = -4, .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_DOWN}, true, false, 40, 38, 1, 0, 0, 70},
    {"direction unknown", {.n = 200, .effect = -4, .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_EITHER}, true, false, 40, 38, 1, 0, 0, 70},
    {"no change in normal noise", {.n = 200, NORMAL}, false, false, 200, 196, 1, 0, 0, 230},
    {"the culprit is the first commit", {.n = 64, .culprit = 0, .effect = 6, NORMAL}, true, true, 40, 39, 1, 0, 0, 0},
    {"the culprit is the last commit", {.n = 64, .culprit = 63, .effect = 6, NORMAL}, true, true, 40, 39, 1, 0, 0, 0},
    {"a range of one", {.n = 1, .culprit = 0, .effect = 6, NORMAL}, true, true, 40, 39, 0, 0, 0, 0},
    {"a range of two", {.n = 2, .effect = 6, NORMAL}, true, false, 40, 39, 1, 0, 0, 0},
    {"a DAG, exact", {.n = 200, .effect = 10, .p_merge = .35, EXACT}, true, false, 60, 60, 0, 12, 2, 30},
    {"a DAG, 2 sd", {.n = 200, .effect = 4, .p_merge = .25, NORMAL}, true, false, 60, 58, 1, 0, 0, 70},
    {"pass or fail", {.n = 200, .effect = 1, .p_merge = .2, PASSES}, true, false, 60, 60, 0, 10, 0, 30},
    {"bad passes one time in five", {.n = 100, .effect = .8, .p_merge = .2, PASSES}, true, false, 100, 97, 2, 0, 0, 50},
    {"good fails one time in ten, bad nine", {.n = 100, .level = .1, .effect = .8, PASSES}, true, false, 60, 58, 2, 0, 0, 80},
    {"a test that always passes", {.n = 100, PASSES}, false, false, 10, 10, 0, 0, 0, 60},
    {"a test that always fails", {.n = 100, .level = 1, PASSES}, false, false, 10, 10, 0, 0, 0, 60},
    {"a test that fails one time in five at both ends", {.n = 100, .level = .2, PASSES}, false, false, 40, 38, 1, 0, 0, 0},
    {"a count one higher in every fifth run, level 5", {.n = 100, .level = 5, .flicker = .2, .confidence = .99, .worse = WORSE_UP}, false, false, 100, 96, 0, 0, 0, 0},
    {"a count one higher in every fifth run, level 1,000", {.n = 100, .level = 1000, .flicker = .2, .confidence = .99, .worse = WORSE_UP}, false, false, 100, 96, 0, 0, 0, 0},
    {"a slow host that takes turns is no step", {.n = 100, .host_factor = 1.5, NORMAL}, false, false, 40, 39, 0, 0, 0, 0},
    {"a step seen on two hosts of different speed", {.n = 100, .effect = 8, .host_factor = 1.5, NORMAL}, true, false, 40, 39, 1, 0, 0, 0},
    {"a stored time series leaves a third to pay", {.n = 200, .effect = 4, .series_factor = 1, NORMAL}, true, false, 40, 38, 1, 0, 0, 24},
    {"that of a slower host does no harm", {.n = 200, .effect = 4, .series_factor = 1.5, NORMAL}, true, false, 40, 38, 1, 0, 0, 80},
    {"nor does that of a host at our level", {.n = 200, .effect = 4, .series_factor = 1.00001, NORMAL}, true, false, 40, 40, 0, 0, 0, 30},
    {"nor does one without a change", {.n = 200, .series_factor = 1.5, NORMAL}, false, false, 40, 36, 0, 0, 0, 0},
};
/* clang-format on */

START_TEST(searches_end_right)
{
    struct world w = rows[_i].w;
    uint32_t n_seeds = seeds_of(rows[_i].n_seeds, 5);
    uint32_t allowed = rows[_i].n_seeds - rows[_i].least_right;
    uint32_t right = 0, wrong = 0;
    double n_runs = 0;

    for (uint32_t seed = 1; seed <= n_seeds; seed++) {
        struct outcome o;
        w.seed = seed;
        if (!rows[_i].is_fixed)
            w.culprit = (uint32_t)(uniform_of(seed * 77777) * w.n);
        if (!rows[_i].has_change)
            w.culprit = UINT32_MAX;
        world_search(&w, &o);
        bool is_right =
            rows[_i].has_change ? o.named == w.culprit : o.verdict.kind == VERDICT_NOT_REPRODUCED;
        right += is_right;
        wrong += o.verdict.kind == VERDICT_CULPRIT && o.named != w.culprit;
        n_runs += o.n_runs;
        if (rows[_i].most_builds)
            ck_assert_msg(o.n_search_builds <= rows[_i].most_builds, "%s, seed %u: %u builds",
                          rows[_i].name, seed, o.n_search_builds);
        if (rows[_i].most_runs_each)
            ck_assert_msg(o.max_runs <= rows[_i].most_runs_each,
                          "%s, seed %u: %u runs of one revision", rows[_i].name, seed, o.max_runs);
        outcome_fini(&o);
    }
    ck_assert_msg(right + allowed >= n_seeds, "%s: %u right", rows[_i].name, right);
    ck_assert_msg(wrong <= rows[_i].most_wrong, "%s: %u wrong", rows[_i].name, wrong);
    if (rows[_i].most_runs > 0 && n_seeds == rows[_i].n_seeds) /* an average of five says little */
        ck_assert_msg(n_runs / n_seeds <= rows[_i].most_runs, "%s: %.1f runs", rows[_i].name,
                      n_runs / n_seeds);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    struct world w;
    enum verdict_kind want;
    uint32_t want_first, want_n; /* of candidates in the range answer */
    uint32_t most_builds;        /* 0: any */
} stretches[] = {
    {"five broken commits hide it: they and the next one", {.n = 200, .culprit = 100, .effect = 10, .broken_from = 98, .broken_to = 103, EXACT}, VERDICT_RANGE, 98, 6, 0},
    {"the commit after the stretch is as suspect as the stretch", {.n = 200, .culprit = 103, .effect = 10, .broken_from = 98, .broken_to = 103, EXACT}, VERDICT_RANGE, 98, 6, 0},
    {"the commit before the stretch can be named", {.n = 200, .culprit = 97, .effect = 10, .broken_from = 98, .broken_to = 103, EXACT}, VERDICT_CULPRIT, 97, 1, 0},
    {"sixty broken commits are not paid for one by one", {.n = 200, .culprit = 90, .effect = 10, .broken_from = 60, .broken_to = 120, NORMAL}, VERDICT_RANGE, 60, 61, 26},
    {"one broken commit", {.n = 50, .culprit = 20, .effect = 10, .broken_from = 20, .broken_to = 21, EXACT}, VERDICT_RANGE, 20, 2, 0},
    {"a broken stretch elsewhere does no harm", {.n = 200, .culprit = 30, .effect = 10, .broken_from = 90, .broken_to = 110, EXACT}, VERDICT_CULPRIT, 30, 1, 0},
};
/* clang-format on */

START_TEST(stretches_that_do_not_build)
{
    struct world w = stretches[_i].w;
    AUTO(range_free) struct range *r = NULL;
    struct outcome o;

    w.seed = 5;
    r = world_range(&w);
    world_search(&w, &o);
    ck_assert_msg(o.verdict.kind == stretches[_i].want, "%s: %s: %s", stretches[_i].name,
                  verdict_name(o.verdict.kind), o.verdict.message);
    if (stretches[_i].want == VERDICT_CULPRIT) {
        ck_assert_uint_eq(o.named, stretches[_i].want_first);
    } else {
        ck_assert_uint_eq(o.verdict.n_candidates, stretches[_i].want_n);
        for (uint32_t i = 0; i < o.verdict.n_candidates; i++)
            ck_assert_uint_eq(range_find(r, &o.verdict.candidates[i].revision) - 1,
                              stretches[_i].want_first + i);
        ck_assert_uint_eq(o.verdict.n_untestable, stretches[_i].want_n - 1);
    }
    if (stretches[_i].most_builds)
        ck_assert_msg(o.n_builds <= stretches[_i].most_builds, "%u builds", o.n_builds);
    outcome_fini(&o);
}
END_TEST

/** 3 rises by 1 a commit to 43: no commit changes it by 30, and yet the ends differ by 40. */
START_TEST(many_small_steps_are_not_no_change)
{
    struct world w = {.n = 40,
                      .level = 3,
                      .slope = 1,
                      .min_effect_percent = 1000,
                      .seed = 3,
                      .culprit = UINT32_MAX,
                      .confidence = .99,
                      .worse = WORSE_UP};
    struct outcome o;

    world_search(&w, &o);
    ck_assert_msg(o.verdict.kind == VERDICT_INCONCLUSIVE, "%s: %s", verdict_name(o.verdict.kind),
                  o.verdict.message);
    ck_assert_msg(strstr(o.verdict.message, "the ends differ") != NULL, "%s", o.verdict.message);
    outcome_fini(&o);
}
END_TEST

START_TEST(a_test_that_fails_at_good_says_so)
{
    struct world w = {.n = 40,
                      .level = 1,
                      .is_rate = true,
                      .seed = 3,
                      .culprit = UINT32_MAX,
                      .confidence = .99,
                      .worse = WORSE_UP};
    struct outcome o;

    world_search(&w, &o);
    ck_assert_int_eq(o.verdict.kind, VERDICT_NOT_REPRODUCED);
    ck_assert_msg(strstr(o.verdict.message, "fails already") != NULL, "%s", o.verdict.message);
    outcome_fini(&o);
}
END_TEST

/** Twelve passes and eight failures leave room on both sides of "100 points". */
START_TEST(an_interval_of_rates_has_a_width)
{
    struct world w = {.n = 40,
                      .effect = 1,
                      .is_rate = true,
                      .seed = 3,
                      .culprit = 20,
                      .confidence = .99,
                      .worse = WORSE_UP};
    struct outcome o;

    world_search(&w, &o);
    ck_assert_int_eq(o.verdict.kind, VERDICT_CULPRIT);
    ck_assert_double_lt(o.verdict.culprits[0].interval[0], .95);
    ck_assert_double_gt(o.verdict.culprits[0].interval[0], .5);
    outcome_fini(&o);
}
END_TEST

static void finish_with(struct bisection *b, const struct event *event, struct verdict *v)
{
    AUTO(effects_fini) struct effects effects = {0};

    bisection_step(b, event, &effects);
    ck_assert(effects.is_finished);
    ck_assert_uint_eq(effects.n_issue, 0);
    bisection_verdict(b, v);
}

/** A first task is out, then something ends the bisection. */
/* clang-format off */
static const struct {
    const char *name;
    struct event event;
    enum verdict_kind want;
    const char *words;
} endings[] = {
    {"a canceled bisection has no verdict", {.kind = EVENT_CANCEL}, VERDICT_NONE, "canceled"},
    {"time that ran out is inconclusive", {.kind = EVENT_BUDGET}, VERDICT_INCONCLUSIVE, "time budget"},
    {"a task given up on is a failure of ours", {.kind = EVENT_GIVEN_UP, .ordinal = 0, .reason = "disk full"}, VERDICT_FAILED, "disk full"},
};
/* clang-format on */

START_TEST(endings_from_outside)
{
    struct world w = {.n = 20, .confidence = .99, .seed = 1};
    AUTO(range_free) struct range *range = world_range(&w);
    AUTO(request_free) struct request *request = world_request(&w);
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects first = {0};
    struct verdict *v = mem_alloc(sizeof(*v));
    struct err e = {0};

    ck_assert_msg(bisection_new(request, range, &b, &e) == ERR_OK, "%s", e.text);
    bisection_step(b, &(struct event){.kind = EVENT_STARTED}, &first);
    ck_assert_uint_eq(first.n_issue, 1);
    ck_assert_uint_eq(first.issue[0]->n_builds, 2);
    finish_with(b, &endings[_i].event, v);
    ck_assert_msg(v->kind == endings[_i].want, "%s: %s", endings[_i].name, verdict_name(v->kind));
    ck_assert_msg(strstr(v->message, endings[_i].words) != NULL, "%s: %s", endings[_i].name,
                  v->message);
    verdict_free(v);
}
END_TEST

/** What a worker reports of the first task, by end: 0 good, 1 bad. */
/* clang-format off */
static const struct {
    const char *name;
    enum build_status build[2];
    enum run_status run[2];
    enum verdict_kind want;
    const char *words;
} broken_ends[] = {
    {"good does not build", {BUILD_FAILED, BUILD_OK}, {RUN_SKIPPED, RUN_OK}, VERDICT_FAILED, "the good revision"},
    {"bad does not build", {BUILD_OK, BUILD_TIMEOUT}, {RUN_OK, RUN_SKIPPED}, VERDICT_FAILED, "the bad revision"},
    {"good cannot be measured", {BUILD_OK, BUILD_OK}, {RUN_CANNOT, RUN_OK}, VERDICT_FAILED, "the good revision"},
    {"bad times out", {BUILD_OK, BUILD_OK}, {RUN_OK, RUN_TIMEOUT}, VERDICT_FAILED, "the bad revision"},
    {"the command asks to abort", {BUILD_OK, BUILD_OK}, {RUN_OK, RUN_ABORT}, VERDICT_FAILED, "abort"},
};
/* clang-format on */

START_TEST(a_broken_end_fails_at_once)
{
    struct world w = {.n = 20, .confidence = .99, .seed = 1};
    AUTO(range_free) struct range *range = world_range(&w);
    AUTO(request_free) struct request *request = world_request(&w);
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects first = {0};
    struct verdict *v = mem_alloc(sizeof(*v));
    struct err e = {0};

    ck_assert_msg(bisection_new(request, range, &b, &e) == ERR_OK, "%s", e.text);
    bisection_step(b, &(struct event){.kind = EVENT_STARTED}, &first);
    const struct task_spec *t = first.issue[0];
    struct build_result builds[2] = {
        {.revision = t->builds[0].revision, .status = broken_ends[_i].build[0]},
        {.revision = t->builds[1].revision, .status = broken_ends[_i].build[1]}};
    struct run_result runs[8] = {{0}};
    for (uint32_t i = 0; i < t->n_runs; i++)
        runs[i] = (struct run_result){
            .run = i, .status = broken_ends[_i].run[t->runs[i].build], .value = 5};
    struct task_result result = {
        .n_builds = 2, .builds = builds, .n_runs = t->n_runs, .runs = runs};
    finish_with(b, &(struct event){.kind = EVENT_RESULT, .ordinal = 0, .result = &result}, v);
    ck_assert_msg(v->kind == broken_ends[_i].want, "%s: %s", broken_ends[_i].name,
                  verdict_name(v->kind));
    ck_assert_msg(strstr(v->message, broken_ends[_i].words) != NULL, "%s: %s", broken_ends[_i].name,
                  v->message);
    verdict_free(v);
}
END_TEST

/** A range of eight in a line, measured in full before: commit 5 rises from 100 to 110, or nothing
 *  changes. What an earlier bisection verified, by commit; 0 ends a list, 99 is of another range.
 */
/* clang-format off */
static const struct {
    const char *name;
    uint32_t culprit; /* 9: no change */
    bool has_verification, is_fresh, is_same_bytes;
    uint32_t verified[4];
    enum verdict_kind want; /* VERDICT_NONE: a verification is asked for */
    enum finding finding;
} recalled[] = {
    {"culprit and parent were verified",    5, true,  true,  false, {5, 4},     VERDICT_CULPRIT, FINDING_NONE},
    {"with others beside them",             5, true,  true,  false, {5, 99, 4}, VERDICT_CULPRIT, FINDING_NONE},
    {"nothing was",                         5, false, true,  false, {5, 4},     VERDICT_NONE, FINDING_NONE},
    {"another commit was",                  5, true,  true,  false, {6, 5},     VERDICT_NONE, FINDING_NONE},
    {"beside another than its parent",      5, true,  true,  false, {5, 3},     VERDICT_NONE, FINDING_NONE},
    {"without fresh builds",                5, true,  false, false, {5, 4},     VERDICT_NONE, FINDING_NONE},
    {"both were the same bytes",            5, true,  true,  true,  {5, 4},     VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT},
    {"no change, the ends measured again",  9, true,  false, false, {1, 8},     VERDICT_NOT_REPRODUCED, FINDING_NONE},
    {"no change, other ends",               9, true,  false, false, {2, 8},     VERDICT_NONE, FINDING_NONE},
    {"no change, and nothing of the ends",  9, false, false, false, {1, 8},     VERDICT_NONE, FINDING_NONE},
};
/* clang-format on */

enum { N_RECALLED = 8, RUNS_EACH = 12 };

static size_t fill_samples(const struct range *range, uint32_t culprit, struct stored_sample *out)
{
    size_t n = 0;

    for (uint32_t v = 0; v < range->n; v++)
        for (uint32_t i = 0; i < RUNS_EACH; i++)
            out[n++] = (struct stored_sample){.revision = range->commits[v].id,
                                              .value = 100 + (i % 2) + (v >= culprit ? 10 : 0),
                                              .host = "h",
                                              .number = i};
    return n;
}

START_TEST(an_earlier_verification_stands)
{
    struct world w = {.n = N_RECALLED - 1, .confidence = .95, .seed = 1, .worse = WORSE_UP};
    AUTO(range_free) struct range *range = world_range(&w);
    AUTO(request_free) struct request *request = world_request(&w);
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects f = {0};
    struct stored_sample samples[N_RECALLED * RUNS_EACH];
    struct stored_build builds[4] = {{.artifact = ""}};
    struct stored_verification verification = {
        .bisection = "b7", .is_fresh = recalled[_i].is_fresh, .builds = builds};
    struct verdict *v = mem_alloc(sizeof(*v));
    struct err e = {0};

    for (size_t i = 0; i < 4 && recalled[_i].verified[i]; i++, verification.n_builds++) {
        uint32_t at = recalled[_i].verified[i];
        memset(builds[i].revision.hex, 'f', 40);
        if (at <= N_RECALLED)
            builds[i].revision = range->commits[at - 1].id;
        memset(builds[i].artifact, recalled[_i].is_same_bytes ? 'a' : "abcd"[i], 64);
    }
    ck_assert_msg(bisection_new(request, range, &b, &e) == ERR_OK, "%s", e.text);
    struct event started = {.kind = EVENT_STARTED,
                            .n_samples = fill_samples(range, recalled[_i].culprit - 1, samples),
                            .samples = samples,
                            .n_verifications = recalled[_i].has_verification,
                            .verifications = &verification};
    bisection_step(b, &started, &f);
    bisection_verdict(b, v);
    ck_assert_msg(v->kind == recalled[_i].want && v->finding == recalled[_i].finding, "%s: %s: %s",
                  recalled[_i].name, verdict_name(v->kind), v->message);
    ck_assert_msg(f.is_finished == (recalled[_i].want != VERDICT_NONE), "%s", recalled[_i].name);
    ck_assert(f.is_finished || (f.n_issue == 1 && f.issue[0]->is_verification));
    ck_assert_msg(!f.is_finished || strstr(v->message, "verified in bisection b7"), "%s",
                  v->message);
    verdict_free(v);
}
END_TEST

/** Stored failures of a range whose ends alone were measured: 1 is good, 8 is bad. */
START_TEST(an_earlier_failure_stands_but_not_at_an_end)
{
    struct world w = {.n = N_RECALLED - 1, .confidence = .95, .seed = 1, .worse = WORSE_UP};
    AUTO(range_free) struct range *range = world_range(&w);
    AUTO(request_free) struct request *request = world_request(&w);
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects f = {0};
    struct stored_failure failures[N_RECALLED];
    struct verdict *v = mem_alloc(sizeof(*v));
    struct err e = {0};

    for (uint32_t i = 0; i < N_RECALLED; i++)
        failures[i] = (struct stored_failure){range->commits[i].id, "b7", "make: error"};
    ck_assert_msg(bisection_new(request, range, &b, &e) == ERR_OK, "%s", e.text);
    struct event started = {.kind = EVENT_STARTED, .n_failures = N_RECALLED, .failures = failures};
    bisection_step(b, &started, &f);
    bisection_verdict(b, v);
    ck_assert_uint_eq(v->n_untestable, N_RECALLED - 2);
    ck_assert_uint_eq(f.n_issue, 1); /* the ends */
    ck_assert_uint_eq(f.issue[0]->n_builds, 2);
    verdict_free(v);
}
END_TEST

/* Of the same samples it thinks the same, however they came in. */
START_TEST(asked_again_it_answers_at_once)
{
    struct world w = {.n = 100,
                      .level = 100,
                      .effect = 3,
                      .sd = 2,
                      .confidence = .99,
                      .worse = WORSE_UP,
                      .is_asked_again = true};

    for (uint32_t seed = 1; seed <= seeds_of(20, 5); seed++) {
        struct outcome o;
        w.seed = seed;
        w.culprit = (uint32_t)(uniform_of(seed * 77777) * w.n);
        world_search(&w, &o);
        const double p = o.verdict.p_no_change;
        ck_assert_msg(o.n_again == 0 && fabs(o.again_p_none - p) <= 1e-9 * p, "seed %u: %g, %g",
                      seed, p, o.again_p_none);
        outcome_fini(&o);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {searches_end_right, LEN(rows)},
        {stretches_that_do_not_build, LEN(stretches)},
        {many_small_steps_are_not_no_change, 1},
        {a_test_that_fails_at_good_says_so, 1},
        {an_interval_of_rates_has_a_width, 1},
        {asked_again_it_answers_at_once, 1},
        {endings_from_outside, LEN(endings)},
        {a_broken_end_fails_at_once, LEN(broken_ends)},
        {an_earlier_verification_stands, LEN(recalled)},
        {an_earlier_failure_stands_but_not_at_an_end, 1},
    };

    return unit_run("bisection", tests, LEN(tests));
}
