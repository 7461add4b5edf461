/* SPDX-License-Identifier: Apache-2.0 */
/* Whole searches in histories where many commits change documentation alone. */
#include "search/state.h"

#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <string.h>

#define DOCS  .n = 201, .docs_every = 3, .level = 100, .confidence = .99, .worse = WORSE_UP
#define PROSE DOCS, .docs = DOCS_PROSE
#define PATHS DOCS, .docs = DOCS_UNTOUCHED
#define LAST                                                                                       \
    .n = 200, .docs_every = 3, .level = 100, .confidence = .99, .worse = WORSE_UP,                 \
    .docs = DOCS_UNTOUCHED
#define NOISY .sd = 2, .effect = 6
#define EXACT .effect = 10

/* clang-format off */
static const struct {
    const char *name;
    struct world w;
    uint32_t n_seeds;
    uint32_t least_right;
    bool has_docs_runs;   /* some at least; else none */
    bool may_build_docs;  /* else none */
} rows[] = {
    {"documentation by its name costs no run, exact", {PROSE, EXACT}, 40, 40, false, true},
    {"documentation by its name costs no run, noisy", {PROSE, NOISY}, 600, 580, false, true},
    {"documentation by its name costs no run in a DAG", {PROSE, EXACT, .p_merge = .3}, 600, 600, false, true},
    {"documentation by its name costs no run in a noisy DAG", {PROSE, NOISY, .p_merge = .3}, 600, 580, false, true},
    {"under paths documentation costs no build either, exact", {PATHS, EXACT}, 40, 40, false, false},
    {"under paths documentation costs no build either, noisy", {PATHS, NOISY}, 60, 58, false, false},
    {"under paths documentation costs no build in a DAG", {PATHS, EXACT, .p_merge = .3}, 60, 60, false, false},
    {"under paths a last commit of documentation is not built, though it is the bad end", {LAST, EXACT}, 40, 40, false, false},
    {"a worker that knows nothing of it measures them, to no harm", {DOCS, NOISY, .is_worker_old = true}, 60, 58, true, true},
    {"unknown documentation is found out by its bytes", {DOCS, NOISY}, 60, 58, true, true},
    {"and in a DAG", {DOCS, EXACT, .p_merge = .3}, 60, 60, true, true},
    {"a stretch that does not build", {PROSE, EXACT, .culprit = 150, .broken_from = 40, .broken_to = 60}, 20, 20, false, true},
};
/* clang-format on */

/** Another candidate for each seed, never one that changes documentation, nor the last one. */
static uint32_t culprit_of(const struct world *w, uint64_t seed)
{
    uint32_t c = w->culprit ? w->culprit : (uint32_t)(uniform_of(seed * 77777) * (w->n - 1));

    while (world_is_docs(w, c))
        c++;
    return c;
}

START_TEST(documentation_is_spared)
{
    uint32_t n_seeds = seeds_of(rows[_i].n_seeds, 5), right = 0, n_runs = 0;

    for (uint32_t seed = 1; seed <= n_seeds; seed++) {
        struct world w = rows[_i].w;
        struct outcome o;
        w.seed = seed;
        w.culprit = culprit_of(&w, seed);
        world_search(&w, &o);
        right += o.named == w.culprit;
        n_runs += o.n_docs_runs;
        ck_assert_msg(rows[_i].has_docs_runs || o.n_docs_runs == 0, "%s, seed %u: %u runs",
                      rows[_i].name, seed, o.n_docs_runs);
        ck_assert_msg(rows[_i].may_build_docs || o.n_docs_builds == 0, "%s, seed %u: %u builds",
                      rows[_i].name, seed, o.n_docs_builds);
        ck_assert_msg(o.verdict.kind != VERDICT_CULPRIT || !world_is_docs(&w, o.named),
                      "%s, seed %u: documentation is blamed", rows[_i].name, seed);
        outcome_fini(&o);
    }
    ck_assert_msg(right + rows[_i].n_seeds - rows[_i].least_right >= n_seeds, "%s: %u of %u right",
                  rows[_i].name, right, n_seeds);
    if (n_seeds < rows[_i].n_seeds)
        return;
    ck_assert_msg((n_runs > 0) == rows[_i].has_docs_runs, "%s: %u runs", rows[_i].name, n_runs);
}
END_TEST

/** After each event a search is rebuilt from all of them, and goes on as the one that was not. */
START_TEST(a_rebuilt_search_goes_on_alike)
{
    struct world w = rows[_i].w;
    struct outcome kept, rebuilt;

    w.n = 63;
    w.seed = 3;
    w.culprit = culprit_of(&(struct world){.n = 63, .docs_every = w.docs_every}, 3);
    world_search(&w, &kept);
    w.is_forgetful = true;
    world_search(&w, &rebuilt);
    AUTO(json_free) json *one = verdict_to_json(&kept.verdict);
    AUTO(json_free) json *two = verdict_to_json(&rebuilt.verdict);
    AUTO(buf_fini) struct buf a = {0}, b = {0};
    json_dump(one, JSON_COMPACT, &a);
    json_dump(two, JSON_COMPACT, &b);
    ck_assert_str_eq(buf_str(&a), buf_str(&b));
    ck_assert_uint_eq(kept.n_tasks, rebuilt.n_tasks);
    outcome_fini(&kept);
    outcome_fini(&rebuilt);
}
END_TEST

START_TEST(the_verdict_counts_what_was_spared)
{
    struct world w = {PATHS, EXACT, .seed = 1, .culprit = 60};
    struct outcome o;

    world_search(&w, &o);
    ck_assert_uint_eq(o.verdict.excluded.n_untouched, 67); /* 1, 4, 7, … 199 */
    ck_assert_uint_eq(o.verdict.excluded.n_same_bytes, 0);
    ck_assert_uint_eq(o.verdict.excluded.n_prose, 0);
    outcome_fini(&o);
    w.docs = DOCS_PROSE;
    world_search(&w, &o);
    ck_assert_uint_eq(o.verdict.excluded.n_untouched, 0);
    ck_assert_uint_eq(o.verdict.excluded.n_same_bytes + o.verdict.excluded.n_prose, 67);
    outcome_fini(&o);
}
END_TEST

/** Documentation alone between the ends: both build to the same bytes. */
/* clang-format off */
static const struct {
    const char *name;
    struct world w;
    enum verdict_kind want;
    enum finding want_finding;
} alike_ends[] = {
    {"the same values", {.n = 40, .docs_every = 1, .level = 100, .confidence = .99, .worse = WORSE_UP, .culprit = UINT32_MAX}, VERDICT_NOT_REPRODUCED, FINDING_NONE},
    {"noise", {.n = 40, .docs_every = 1, .level = 100, .sd = 3, .confidence = .99, .worse = WORSE_UP, .culprit = UINT32_MAX}, VERDICT_NOT_REPRODUCED, FINDING_NONE},
    {"something else is to blame", {.n = 40, .docs_every = 1, .level = 100, .sd = 1, .effect = 30, .confidence = .99, .worse = WORSE_UP, .culprit = 20}, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT},
    {"and by values without spread", {.n = 40, .docs_every = 1, .level = 100, .effect = 30, .confidence = .99, .worse = WORSE_UP, .culprit = 20}, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT},
};
/* clang-format on */

START_TEST(ends_of_the_same_bytes_need_no_search)
{
    struct world w = alike_ends[_i].w;
    struct outcome o;

    for (w.seed = 1; w.seed <= 8; w.seed++) {
        world_search(&w, &o);
        ck_assert_msg(o.verdict.kind == alike_ends[_i].want, "%s, seed %u: %s: %s",
                      alike_ends[_i].name, (unsigned)w.seed, verdict_name(o.verdict.kind),
                      o.verdict.message);
        ck_assert_int_eq(o.verdict.finding, alike_ends[_i].want_finding);
        ck_assert_uint_eq(o.verdict.n_culprits, 0);
        ck_assert_uint_eq(o.n_search_builds, 0);
        ck_assert_uint_le(o.n_runs, 10);
        outcome_fini(&o);
    }
}
END_TEST

/** A metric that does not depend on the build: half of the documentation measures worse. */
START_TEST(documentation_that_measures_worse_is_not_blamed)
{
    struct world w = {.n = 63,
                      .docs_every = 3,
                      .level = 100,
                      .sd = _i % 2,
                      .effect = 30,
                      .confidence = .99,
                      .worse = WORSE_UP,
                      .docs = _i < 2 ? DOCS_PROSE : DOCS_UNKNOWN,
                      .is_worker_old = _i < 4,
                      .culprit = 31};
    struct outcome o;

    ck_assert(world_is_docs(&w, w.culprit));
    for (w.seed = 1; w.seed <= 12; w.seed++) {
        world_search(&w, &o);
        ck_assert_msg(o.verdict.kind == VERDICT_INCONCLUSIVE || o.named != w.culprit,
                      "case %d, seed %u: %s", _i, (unsigned)w.seed, o.verdict.message);
        outcome_fini(&o);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {documentation_is_spared, LEN(rows)},
        {a_rebuilt_search_goes_on_alike, LEN(rows)},
        {the_verdict_counts_what_was_spared, 1},
        {ends_of_the_same_bytes_need_no_search, LEN(alike_ends)},
        {documentation_that_measures_worse_is_not_blamed, 6},
    };

    return unit_run("same", tests, LEN(tests));
}
