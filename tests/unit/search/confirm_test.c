/* SPDX-License-Identifier: Apache-2.0 */
/** Culprits reverted on top of the bad end: what the verdict makes of it. */
#include "base/mem.h"
#include "search/bisection.h"
#include "unit/run.h"
#include "world.h"
#include <string.h>

#define NORMAL                                                                                     \
    .n = 60, .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_UP, .is_confirming = true
#define EXACT  .n = 60, .level = 100, .confidence = .99, .worse = WORSE_UP, .is_confirming = true
#define PASSES .n = 60, .is_rate = true, .confidence = .99, .worse = WORSE_UP, .is_confirming = true

/* clang-format off */
static const struct {
    const char *name;
    struct world w;
    enum verdict_kind want;
    enum confirmation_outcome outcome;
    const char *says;
    uint32_t n_seeds, most_other; /* verdicts */
} rows[] = {
    {"a revert brings it back", {.effect = 10, .revert_share = 1, NORMAL}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "sure; reverting it on head brings back m from 1", 40, 1},
    {"exact values come back in a few runs", {.effect = 10, .revert_share = 1, EXACT}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "reverting it on head brings back m from 110 to 100 (-9.1 %)", 10, 0},
    {"a small change comes back", {.effect = 2, .revert_share = 1, NORMAL}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "brings back m from", 20, 2},
    {"lower was worse", {.effect = -10, .revert_share = 1, .n = 60, .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_DOWN, .is_confirming = true}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "brings back m from", 20, 1},
    {"either way was worse", {.effect = -10, .revert_share = 1, .n = 60, .level = 100, .sd = 2, .confidence = .99, .worse = WORSE_EITHER, .is_confirming = true}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "brings back m from", 20, 1},
    {"a test passes again", {.effect = 1, .revert_share = 1, PASSES}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "from 100 % to 0 % failing", 20, 0},
    {"a third of it comes back", {.effect = 30, .revert_share = .33, NORMAL}, VERDICT_CULPRIT, CONFIRMATION_CONFIRMED, "brings back m in part, from 1", 20, 1},
    {"nothing comes back of what it brought out", {.effect = 10, .revert_share = 0, NORMAL}, VERDICT_INCONCLUSIVE, CONFIRMATION_REFUTED, "but reverting it on head does not bring back m (1", 40, 1},
    {"nothing of exact values", {.effect = 10, .revert_share = 0, EXACT}, VERDICT_INCONCLUSIVE, CONFIRMATION_REFUTED, "does not bring back m (110 to 110", 10, 0},
    {"it gets worse without it", {.effect = 10, .revert_share = -1, NORMAL}, VERDICT_INCONCLUSIVE, CONFIRMATION_REFUTED, "does not bring back m (1", 10, 0},
    {"the test fails as ever", {.effect = 1, .revert_share = 0, PASSES}, VERDICT_INCONCLUSIVE, CONFIRMATION_REFUTED, "(100 % to 100 % failing)", 20, 0},
    {"a conflict leaves the culprit unconfirmed", {.effect = 10, .revert_share = 1, .is_revert_broken = true, NORMAL}, VERDICT_CULPRIT, CONFIRMATION_UNDECIDED, "; not confirmed by reverting it on head: reverting conflicts in f", 20, 1},
};
/* clang-format on */

static bool is_as_wanted(const struct verdict *v, size_t row)
{
    return v->kind == rows[row].want && v->n_confirmations == 1 &&
           v->confirmations[0].outcome == rows[row].outcome &&
           strstr(v->message, rows[row].says) != NULL;
}

START_TEST(a_revert_settles_it)
{
    struct world w = rows[_i].w;
    uint32_t n_other = 0;

    w.culprit = 20;
    for (w.seed = 1; w.seed <= seeds_of(rows[_i].n_seeds, 4); w.seed++) {
        struct outcome o;
        world_search(&w, &o);
        if (!is_as_wanted(&o.verdict, (size_t)_i) && ++n_other > rows[_i].most_other)
            ck_abort_msg("%s, seed %d: %s: %s", rows[_i].name, (int)w.seed,
                         verdict_name(o.verdict.kind), o.verdict.message);
        ck_assert_int_le(o.verdict.cost.n_runs, w.budget_runs > 0 ? w.budget_runs : 2000);
        outcome_fini(&o);
    }
    ck_assert_uint_lt(n_other, rows[_i].n_seeds);
}
END_TEST

/** A search that is rebuilt from its events after each comes to the same, trials included. */
START_TEST(a_restart_changes_nothing)
{
    struct world w = rows[_i].w;
    struct outcome once, again;

    w.culprit = 20;
    w.seed = 3;
    world_search(&w, &once);
    w.is_forgetful = true;
    world_search(&w, &again);
    ck_assert_str_eq(once.verdict.message, again.verdict.message);
    ck_assert_uint_eq(once.n_tasks, again.n_tasks);
    ck_assert_uint_eq(once.n_builds, again.n_builds);
    ck_assert_uint_eq(once.n_runs, again.n_runs);
    outcome_fini(&once);
    outcome_fini(&again);
}
END_TEST

START_TEST(runs_without_the_culprit_are_no_evidence)
{
    struct world w = {.effect = 10, .revert_share = 1, NORMAL};
    struct outcome asked, not_asked;

    w.culprit = 20;
    w.seed = 5;
    world_search(&w, &asked);
    w.is_confirming = false;
    world_search(&w, &not_asked);
    ck_assert(asked.verdict.kind == VERDICT_CULPRIT && not_asked.verdict.kind == VERDICT_CULPRIT);
    ck_assert_uint_eq(not_asked.verdict.n_confirmations, 0);
    ck_assert_uint_gt(asked.verdict.cost.n_runs, not_asked.verdict.cost.n_runs);
    ck_assert_uint_eq(asked.verdict.cost.n_builds, not_asked.verdict.cost.n_builds + 2);
    ck_assert_double_eq(asked.verdict.culprits[0].delta, not_asked.verdict.culprits[0].delta);
    ck_assert_uint_eq(asked.verdict.culprits[0].bad.n_runs,
                      not_asked.verdict.culprits[0].bad.n_runs);
    outcome_fini(&asked);
    outcome_fini(&not_asked);
}
END_TEST

START_TEST(a_budget_that_ends_leaves_the_culprit)
{
    struct world w = {.effect = 10, .revert_share = 1, EXACT};
    struct outcome o;

    w.culprit = 20;
    w.seed = 4;
    w.is_confirming = false;
    world_search(&w, &o);
    w.is_confirming = true;
    w.budget_runs = o.n_runs + _i;
    outcome_fini(&o);
    world_search(&w, &o);
    AUTO(mem_free)
    char *want =
        mem_printf("; not confirmed by reverting it on head: the budget of %d runs is used up",
                   (int)w.budget_runs);
    ck_assert_msg(o.verdict.kind == VERDICT_CULPRIT, "%s", o.verdict.message);
    ck_assert_msg((strstr(o.verdict.message, want) != NULL) == (_i < 8), "%s", o.verdict.message);
    ck_assert_int_le(o.n_runs, w.budget_runs);
    outcome_fini(&o);
}
END_TEST

/** Plays until the confirmation's first task is out, then something ends it. */
/* clang-format off */
static const struct {
    const char *name;
    enum event_kind kind;
    enum verdict_kind want;
    const char *says;
} endings[] = {
    {"time that runs out leaves the culprit", EVENT_BUDGET, VERDICT_CULPRIT, "not confirmed by reverting it on head: the time budget is used up"},
    {"so does a task that nobody could carry out", EVENT_GIVEN_UP, VERDICT_CULPRIT, "not confirmed by reverting it on head: no worker could carry out a task: disk full"},
    {"a canceled bisection has no verdict", EVENT_CANCEL, VERDICT_NONE, "canceled"},
};
/* clang-format on */

START_TEST(endings_from_outside)
{
    struct world w = {.effect = 10, .revert_share = 1, EXACT};
    struct outcome o;

    w.culprit = 20;
    w.seed = 2;
    w.interruption = endings[_i].kind;
    world_search(&w, &o);
    ck_assert_msg(o.verdict.kind == endings[_i].want, "%s: %s", endings[_i].name,
                  o.verdict.message);
    ck_assert_msg(strstr(o.verdict.message, endings[_i].says), "%s: %s", endings[_i].name,
                  o.verdict.message);
    outcome_fini(&o);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_revert_settles_it, LEN(rows)},
        {a_restart_changes_nothing, LEN(rows)},
        {runs_without_the_culprit_are_no_evidence, 1},
        {a_budget_that_ends_leaves_the_culprit, 10},
        {endings_from_outside, LEN(endings)},
    };

    return unit_run("confirm", tests, LEN(tests));
}
