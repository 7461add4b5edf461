/* SPDX-License-Identifier: Apache-2.0 */
#include "search/comparison.h"

#include "base/mem.h"
#include "search/bisection.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NORMAL .level = 100, .sd = 2, .worse = WORSE_UP
#define EXACT  .level = 100, .worse = WORSE_UP
#define RATES  .is_rate = true, .worse = WORSE_UP
#define R      VERDICT_REGRESSED
#define I      VERDICT_IMPROVED
#define S      VERDICT_SAME

/* clang-format off */
/** Whole comparisons over many seeds. d: the effect in standard deviations. */
static const struct {
    const char *name;
    struct world w;
    enum verdict_kind want;
    uint32_t n;
    double least_right; /* fraction */
    double most_runs;   /* on average; 0: any */
} rows[] = {
    {"no effect, .95",             {NORMAL, .confidence = .95},                       S, 2000, .95, 160},
    {"no effect, .99",             {NORMAL, .confidence = .99},                       S, 2000, .99, 260},
    {"no effect, either is worse", {.level = 100, .sd = 2, .worse = WORSE_EITHER, .confidence = .95}, S, 2000, .95, 160},
    {"d=1 is worse",               {NORMAL, .effect = 2, .confidence = .95},          R, 2000, .95, 100},
    {"d=1 is worse, .99",          {NORMAL, .effect = 2, .confidence = .99},          R, 2000, .99, 150},
    {"d=1 is better",              {NORMAL, .effect = -2, .confidence = .95},         I, 2000, .95, 100},
    {"higher is better",           {.level = 100, .sd = 2, .effect = 2, .worse = WORSE_DOWN, .confidence = .95}, I, 400, .95, 100},
    {"either is worse",            {.level = 100, .sd = 2, .effect = -2, .worse = WORSE_EITHER, .confidence = .95}, R, 400, .95, 100},
    {"d=4 in few runs",            {NORMAL, .effect = 8, .confidence = .99},          R, 400, .99, 16},
    {"half the least effect",      {NORMAL, .effect = .5, .confidence = .95},         S, 100, .95, 0},
    {"an effect below the least asked for", {NORMAL, .effect = 2, .min_effect_percent = 5, .confidence = .95}, S, 400, .95, 20},
    {"a least effect far below the noise",  {NORMAL, .effect = 1, .min_effect_percent = .5, .confidence = .95}, R, 100, .95, 0},
    {"a level that differs by task is no matter", {NORMAL, .effect = 4, .host_factor = 1.5, .confidence = .95}, R, 400, .95, 40},
    {"nor is it an effect",        {NORMAL, .host_factor = 1.5, .confidence = .95},   S, 400, .95, 160},
    {"an exact value twice each",  {EXACT, .confidence = .99},                        S, 20, 1, 4},
    {"an exact thousandth",        {EXACT, .effect = .1, .confidence = .99},          R, 20, 1, 8},
    {"zero against zero",          {.level = 0, .worse = WORSE_UP, .confidence = .99}, S, 20, 1, 4},
    {"zero against three",         {.level = 0, .effect = 3, .worse = WORSE_UP, .confidence = .99}, R, 20, 1, 8},
    {"a count that flickers",      {EXACT, .flicker = .3, .confidence = .95},         S, 1000, .95, 20},
    {"always passes, always fails", {RATES, .effect = 1, .confidence = .99},          R, 50, 1, 12},
    {"a fix",                      {RATES, .level = 1, .effect = -1, .confidence = .99}, I, 50, 1, 12},
    {"always passes, both",        {RATES, .confidence = .99},                        S, 50, 1, 40},
    {"now fails every second time", {RATES, .effect = .5, .confidence = .95},         R, 1000, .95, 40},
    {"as flaky as before",         {RATES, .level = .3, .confidence = .95},           S, 1000, .95, 200},
    {"flakier than before",        {RATES, .level = .2, .effect = .5, .confidence = .95}, R, 500, .95, 100},
};
/* clang-format on */

START_TEST(says_the_right_word_as_often_as_it_claims)
{
    uint32_t n_right = 0;
    double n_runs = 0;

    for (uint32_t seed = 1; seed <= rows[_i].n; seed++) {
        struct world w = rows[_i].w;
        struct outcome o;
        w.n = 1;
        w.culprit = w.effect != 0 ? 0 : UINT32_MAX;
        w.is_comparison = true;
        w.seed = seed;
        world_search(&w, &o);
        n_right += o.verdict.kind == rows[_i].want;
        n_runs += o.n_runs;
        ck_assert(o.verdict.is_comparison && o.verdict.change && o.verdict.message);
        ck_assert_uint_eq(o.verdict.n_culprits + o.verdict.n_candidates, 0);
        outcome_fini(&o);
    }
    ck_assert_msg(n_right >= rows[_i].least_right * rows[_i].n, "%s: %u of %u are right",
                  rows[_i].name, n_right, rows[_i].n);
    ck_assert_msg(rows[_i].most_runs == 0 || n_runs <= rows[_i].most_runs * rows[_i].n,
                  "%s: %.1f runs", rows[_i].name, n_runs / rows[_i].n);
}
END_TEST

/** A little fewer than 19 in 20: the stop favours the side the estimate errs to. */
START_TEST(the_interval_holds_the_effect)
{
    uint32_t n_held = 0;

    for (uint32_t seed = 1; seed <= 500; seed++) {
        struct world w = {NORMAL, .effect = 4, .confidence = .99};
        struct outcome o;
        w.n = 1;
        w.is_comparison = true;
        w.seed = seed;
        world_search(&w, &o);
        const double *in = o.verdict.change->interval;
        n_held += in[0] <= w.effect && w.effect <= in[1];
        outcome_fini(&o);
    }
    ck_assert_uint_ge(n_held, 450);
}
END_TEST

START_TEST(batches_grow_by_whole_rounds)
{
    static const uint32_t want[] = {2, 4, 6, 8, 12, 18, 26, 38, 56, 84, 126, 188, 252, 316};
    uint32_t n = 0;

    for (size_t i = 0; i < LEN(want); i++) {
        n += comparison_batch(n);
        ck_assert_uint_eq(n, want[i]);
    }
}
END_TEST

/* One comparison, task by task */

struct game {
    struct world w;
    struct range *range;
    struct request *request;
    struct bisection *b;
    struct effects effects;
};

static void game_start(struct game *g, const struct event *started)
{
    struct err e = {0};

    g->w = (struct world){NORMAL, .n = 1, .is_comparison = true, .confidence = .95, .seed = 1};
    g->range = world_range(&g->w);
    g->request = world_request(&g->w);
    ck_assert_msg(!bisection_new(g->request, g->range, &g->b, &e), "%s", e.text);
    bisection_step(g->b, started, &g->effects);
}

static void game_end(struct game *g)
{
    effects_fini(&g->effects);
    bisection_free(g->b);
    request_free(g->request);
    range_free(g->range);
}

/** Answers the task that is out: each run its value by side; builds fail where a reason is given.
 */
static void answer(struct game *g, const double value[2], const char *const reason[2],
                   const char *artifact)
{
    AUTO(task_result_free) struct task_result *r = mem_alloc(sizeof(*r));
    AUTO(task_spec_free) struct task_spec *t = task_spec_copy(g->effects.issue[0]);

    r->environment.host = mem_dup("h");
    for (uint32_t i = 0; i < t->n_builds; i++) {
        struct build_result *build = task_result_add_build(r);
        build->revision = t->builds[i].revision;
        build->status = reason[i] ? BUILD_FAILED : BUILD_OK;
        build->reason = reason[i] ? mem_dup(reason[i]) : NULL;
        if (!reason[i])
            snprintf(build->artifact, sizeof(build->artifact), "%s%u", artifact ? artifact : "a",
                     artifact ? 0 : i);
    }
    for (uint32_t i = 0; i < t->n_runs; i++) {
        struct run_result *run = task_result_add_run(r);
        run->run = i;
        run->status = reason[t->runs[i].build] ? RUN_SKIPPED : RUN_OK;
        run->value = run->status == RUN_OK ? value[t->runs[i].build] + (i / 2 % 2) : NAN;
    }
    effects_fini(&g->effects);
    bisection_step(g->b, &(struct event){.kind = EVENT_RESULT, .ordinal = t->ordinal, .result = r},
                   &g->effects);
}

static const struct event started = {.kind = EVENT_STARTED};
static const char *const builds[2] = {NULL, NULL};

START_TEST(runs_are_interleaved_and_one_task_is_out)
{
    struct game g = {0};

    game_start(&g, &started);
    ck_assert_uint_eq(g.effects.n_issue, 1);
    const struct task_spec *t = g.effects.issue[0];
    ck_assert_uint_eq(t->n_builds, 2);
    ck_assert(revision_equal(&t->builds[0].revision, &g.range->commits[0].id));
    ck_assert_uint_eq(t->n_runs, 4);
    for (uint32_t i = 0; i < 4; i++) { /* A B B A, each side's runs counted */
        ck_assert_uint_eq(t->runs[i].build, i == 1 || i == 2);
        ck_assert_uint_eq(t->runs[i].number, i / 2);
    }
    AUTO(effects_fini) struct effects more = {0};
    bisection_step(g.b, &(struct event){.kind = EVENT_CAPACITY, .n_workers = 8}, &more);
    ck_assert_uint_eq(more.n_issue, 0);
    answer(&g, (double[]){100, 100.7}, builds, NULL);
    ck_assert_uint_eq(g.effects.n_issue, 1);
    ck_assert_uint_eq(g.effects.issue[0]->runs[0].number, 2);
    game_end(&g);
}
END_TEST

START_TEST(stored_builds_are_used_and_stored_samples_are_not)
{
    struct game g = {0};

    g.w = (struct world){NORMAL, .n = 1, .seed = 1};
    AUTO(range_free) struct range *range = world_range(&g.w);
    struct stored_sample samples[20];
    struct stored_build build = {range->commits[1].id, "abc"};
    for (uint32_t i = 0; i < LEN(samples); i++)
        samples[i] = (struct stored_sample){
            .revision = range->commits[i % 2].id, .value = 100 + 50 * (i % 2), .number = i};
    game_start(&g, &(struct event){.kind = EVENT_STARTED,
                                   .n_samples = LEN(samples),
                                   .samples = samples,
                                   .n_builds = 1,
                                   .builds = &build});
    ck_assert_uint_eq(g.effects.n_issue, 1);
    ck_assert_str_eq(g.effects.issue[0]->builds[1].artifact, "abc");
    ck_assert_uint_eq(g.effects.issue[0]->runs[0].number, 19); /* no two runs of one number */
    answer(&g, (double[]){100, 100}, builds, NULL);
    AUTO(verdict_fini) struct verdict v = {0};
    bisection_verdict(g.b, &v);
    ck_assert_uint_eq(v.change->good.n_runs, 2);
    ck_assert_uint_eq(v.cost.n_runs_reused, 0);
    ck_assert_uint_eq(v.cost.n_builds_reused, 1);
    game_end(&g);
}
END_TEST

START_TEST(identical_artifacts_are_the_same_soon)
{
    struct game g = {0};
    AUTO(verdict_fini) struct verdict v = {0};

    game_start(&g, &started);
    for (int i = 0; i < 2; i++)
        answer(&g, (double[]){100, 100.3}, builds, "same");
    ck_assert(g.effects.is_finished);
    bisection_verdict(g.b, &v);
    ck_assert_int_eq(v.kind, VERDICT_SAME);
    ck_assert_ptr_nonnull(strstr(v.message, "same bytes"));
    game_end(&g);
}
END_TEST

START_TEST(a_side_that_does_not_build_ends_it)
{
    static const char *const names[2] = {"base", "head"};
    struct game g = {0};
    AUTO(verdict_fini) struct verdict v = {0};
    const char *reason[2] = {_i == 0 ? "make: oops" : NULL, _i == 1 ? "make: oops" : NULL};

    game_start(&g, &started);
    answer(&g, (double[]){100, 100}, reason, NULL);
    ck_assert(g.effects.is_finished);
    bisection_verdict(g.b, &v);
    ck_assert_int_eq(v.kind, VERDICT_FAILED);
    AUTO(mem_free) char *want = mem_printf("the %s revision ", names[_i]);
    ck_assert_msg(strstr(v.message, want) && strstr(v.message, "make: oops"), "%s", v.message);
    ck_assert_uint_eq(v.n_untestable, 1);
    ck_assert_ptr_null(v.change);
    game_end(&g);
}
END_TEST

/** The budget is used to its last pair; what is known by then is told. */
START_TEST(a_budget_that_ends_is_inconclusive)
{
    struct world w = {NORMAL, .n = 1, .culprit = UINT32_MAX, .is_comparison = true};
    AUTO(range_free) struct range *range = world_range(&w);
    AUTO(request_free) struct request *request = world_request(&w);
    AUTO(bisection_free) struct bisection *b = NULL;
    AUTO(effects_fini) struct effects first = {0};
    struct err e = {0};

    request->confidence = .95;
    request->budget_runs = _i + 1;
    ck_assert(!bisection_new(request, range, &b, &e));
    bisection_step(b, &started, &first);
    ck_assert_uint_eq(first.is_finished, _i < 1);
    ck_assert_uint_eq(first.n_issue, _i >= 1);
    if (_i >= 1)
        ck_assert_uint_eq(first.issue[0]->n_runs, _i < 3 ? 2 : 4);
    AUTO(verdict_fini) struct verdict v = {0};
    bisection_verdict(b, &v);
    ck_assert_int_eq(v.kind, _i < 1 ? VERDICT_INCONCLUSIVE : VERDICT_NONE);
    ck_assert(isnan(v.p_no_change));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {says_the_right_word_as_often_as_it_claims, LEN(rows)},
        {the_interval_holds_the_effect, 1},
        {batches_grow_by_whole_rounds, 1},
        {runs_are_interleaved_and_one_task_is_out, 1},
        {stored_builds_are_used_and_stored_samples_are_not, 1},
        {identical_artifacts_are_the_same_soon, 1},
        {a_side_that_does_not_build_ends_it, 2},
        {a_budget_that_ends_is_inconclusive, 5},
    };

    return unit_run("comparison", tests, LEN(tests));
}
