/* SPDX-License-Identifier: Apache-2.0 */
#include "search/scene.h"

#include "base/auto.h"
#include <check.h>
#include <math.h>
#include <stdlib.h>

static const struct setting plain = {
    .n_commits = 256,
    .n_culprits = 1,
    .effects = {2},
    .confidence = .95,
    .n_workers = 1,
    .budget_runs = 2000,
    .seed = 1,
};

START_TEST(culprits_are_anywhere)
{
    struct setting setting = plain;
    uint32_t seen[8] = {0}, n_first_is_two = 0;

    setting.n_culprits = 2;
    setting.effects[1] = 4;
    for (uint32_t trial = 0; trial < 4000; trial++) {
        AUTO(scene_fini) struct scene one, two;
        scene_init(&one, &plain, trial);
        scene_init(&two, &setting, trial);
        ck_assert(one.culprits[0] >= 1 && one.culprits[0] <= 256);
        seen[(one.culprits[0] - 1) / 32]++;
        ck_assert_uint_ge(two.culprits[1], two.culprits[0] + 16);
        ck_assert_uint_le(two.culprits[1], 256);
        n_first_is_two += two.effects[0] == 2;
        ck_assert_double_eq(scene_change(&two, 256), 6);
        ck_assert_double_eq(scene_change(&two, two.culprits[1] - 1), two.effects[0]);
        ck_assert_double_eq(scene_change(&two, 0), 0);
    }
    for (size_t i = 0; i < LEN(seen); i++)
        ck_assert_double_eq_tol(seen[i], 500, 105); /* 5 standard deviations */
    ck_assert_double_eq_tol(n_first_is_two, 2000, 160);
}
END_TEST

START_TEST(a_small_range_may_be_full_of_culprits)
{
    struct setting setting = plain;

    setting.n_commits = 4;
    setting.n_culprits = 4;
    for (uint32_t trial = 0; trial < 50; trial++) {
        AUTO(scene_fini) struct scene s;
        scene_init(&s, &setting, trial);
        for (uint32_t i = 0; i < 4; i++)
            ck_assert_uint_eq(s.culprits[i], i + 1);
    }
}
END_TEST

START_TEST(a_broken_stretch_lies_between_the_ends)
{
    struct setting setting = plain;

    setting.p_broken = .2;
    for (uint32_t trial = 0; trial < 500; trial++) {
        AUTO(scene_fini) struct scene s;
        scene_init(&s, &setting, trial);
        ck_assert_uint_eq(s.broken_to - s.broken_from, 51);
        ck_assert(!scene_is_broken(&s, 0) && !scene_is_broken(&s, 256));
        ck_assert(scene_is_broken(&s, s.broken_from) && !scene_is_broken(&s, s.broken_to));
    }
}
END_TEST

/* Worked by hand: a build lasts 10, a run 1, the ends are at hand. */
START_TEST(clock_and_bill)
{
    static const struct {
        uint32_t n_workers;
        double first, second;
    } rows[] = {
        {1, 13, 17}, /* build, 3 runs; then 4 */
        {2, 12, 14}, /* build, then 2 + 1 runs on both; then 2 each */
        {3, 11, 13}, /* ...; 4 runs on 3 workers take 2 */
    };
    struct setting setting = plain;
    double values[8];

    for (size_t i = 0; i < LEN(rows); i++) {
        AUTO(scene_fini) struct scene s;
        setting.n_workers = rows[i].n_workers;
        setting.build_cost = 10;
        scene_init(&s, &setting, 0);
        scene_measure(&s, &(struct order){.revision = 128, .n_runs = 3, .values = values}, 1);
        ck_assert_double_eq(s.now, rows[i].first);
        struct order both[] = {{.revision = 128, .n_runs = 2, .values = values},
                               {.revision = 256, .n_runs = 2, .values = values + 2}};
        scene_measure(&s, both, 2);
        ck_assert_double_eq(s.now, rows[i].second);
        ck_assert_uint_eq(s.n_builds, 1);
        ck_assert_uint_eq(s.n_runs, 7);
    }
}
END_TEST

START_TEST(what_is_broken_costs_a_build_and_gives_no_runs)
{
    struct setting setting = plain;
    AUTO(scene_fini) struct scene s;
    double value;

    setting.p_broken = .5;
    setting.build_cost = 10;
    scene_init(&s, &setting, 0);
    struct order o = {.revision = s.broken_from, .n_runs = 1, .values = &value};
    scene_measure(&s, &o, 1);
    ck_assert(o.is_broken);
    ck_assert_uint_eq(s.n_builds, 1);
    ck_assert_uint_eq(s.n_runs, 0);
    ck_assert_double_eq(s.now, 10);
}
END_TEST

/* Culprits at 100 and 200; the stretch is 90 to 99 or none, so that 100 is hidden or not. */
static const struct {
    const char *name;
    uint32_t n_culprits;
    bool is_hidden;
    enum answer_kind kind;
    uint32_t n, from; /* from, from + 1, … */
    enum score want;
} scores[] = {
    {"the culprit", 1, false, ANSWER_CULPRITS, 1, 100, SCORE_EXACT},
    {"another commit", 1, false, ANSWER_CULPRITS, 1, 101, SCORE_WRONG},
    {"the culprit and another", 1, false, ANSWER_CULPRITS, 2, 100, SCORE_WRONG},
    {"one of two culprits", 2, false, ANSWER_CULPRITS, 1, 100, SCORE_UNDECIDED},
    {"no change, and there is one", 1, false, ANSWER_NOT_REPRODUCED, 0, 0, SCORE_UNDECIDED},
    {"no change, and there is none", 0, false, ANSWER_NOT_REPRODUCED, 0, 0, SCORE_EXACT},
    {"a culprit, and there is none", 0, false, ANSWER_CULPRITS, 1, 100, SCORE_WRONG},
    {"nothing", 1, false, ANSWER_UNDECIDED, 0, 0, SCORE_UNDECIDED},
    {"nothing, and there is none", 0, false, ANSWER_UNDECIDED, 0, 0, SCORE_UNDECIDED},
    {"a range around the culprit", 1, false, ANSWER_RANGE, 5, 98, SCORE_UNDECIDED},
    {"a range without the culprit", 1, false, ANSWER_RANGE, 5, 50, SCORE_WRONG},
    {"the stretch and the commit after it", 1, true, ANSWER_RANGE, 11, 90, SCORE_EXACT},
    {"the stretch alone", 1, true, ANSWER_RANGE, 10, 90, SCORE_WRONG},
    {"one commit too many", 1, true, ANSWER_RANGE, 12, 89, SCORE_UNDECIDED},
    {"the commit after the stretch, by luck", 1, true, ANSWER_CULPRITS, 1, 100, SCORE_UNDECIDED},
};

START_TEST(answers_are_scored)
{
    struct setting setting = plain;
    AUTO(scene_fini) struct scene s;
    AUTO(answer_fini) struct answer a = {.kind = scores[_i].kind};

    setting.n_culprits = scores[_i].n_culprits;
    setting.effects[1] = 2;
    scene_init(&s, &setting, 0);
    s.culprits[0] = 100;
    s.culprits[1] = 200;
    if (scores[_i].is_hidden) {
        s.broken_from = 90;
        s.broken_to = 100;
    }
    for (uint32_t i = scores[_i].n; i-- > 0;)
        answer_add(&a, scores[_i].from + i);
    ck_assert_msg(scene_score(&s, &a) == scores[_i].want, "%s", scores[_i].name);
}
END_TEST

/* The stretch is 90 to 99: 89 and 100 are next to it. */
/* clang-format off */
static const struct {
    const char *name;
    uint32_t culprit, named;
    enum answer_kind kind;
    bool has_stretch;
    struct beside want;
} neighbours[] = {
    {"the one before, rightly", 89, 89, ANSWER_CULPRITS, true, {true, true, false}},
    {"the one before, for what the stretch hides", 95, 89, ANSWER_CULPRITS, true, {false, true, true}},
    {"the one after, for what the stretch hides", 95, 100, ANSWER_CULPRITS, true, {false, true, true}},
    {"the one after, for the one before", 89, 100, ANSWER_CULPRITS, true, {true, true, true}},
    {"another commit", 95, 88, ANSWER_CULPRITS, true, {false, false, false}},
    {"a range blames nobody", 95, 100, ANSWER_RANGE, true, {false, false, false}},
    {"without a stretch nothing is next to it", 95, 100, ANSWER_CULPRITS, false, {false, false, false}},
};
/* clang-format on */

START_TEST(commits_beside_a_stretch)
{
    AUTO(scene_fini) struct scene s;
    AUTO(answer_fini) struct answer a = {.kind = neighbours[_i].kind};

    scene_init(&s, &plain, 0);
    s.culprits[0] = neighbours[_i].culprit;
    if (neighbours[_i].has_stretch) {
        s.broken_from = 90;
        s.broken_to = 100;
    }
    answer_add(&a, neighbours[_i].named);
    struct beside got = scene_beside(&s, &a), want = neighbours[_i].want;
    ck_assert_msg(got.is_culprit == want.is_culprit && got.is_named == want.is_named &&
                      got.is_wrong == want.is_wrong,
                  "%s", neighbours[_i].name);
}
END_TEST

START_TEST(below_the_minimum_effect_none_is_right_too)
{
    struct setting setting = plain;
    AUTO(scene_fini) struct scene s;
    AUTO(answer_fini) struct answer none = {.kind = ANSWER_NOT_REPRODUCED};
    AUTO(answer_fini) struct answer named = {.kind = ANSWER_CULPRITS};

    setting.effects[0] = .4;
    scene_init(&s, &setting, 0);
    answer_add(&named, s.culprits[0]);
    ck_assert(scene_score(&s, &none) == SCORE_EXACT);
    ck_assert(scene_score(&s, &named) == SCORE_EXACT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scene");
    TCase *tc = tcase_create("scene");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, culprits_are_anywhere);
    tcase_add_test(tc, a_small_range_may_be_full_of_culprits);
    tcase_add_loop_test(tc, commits_beside_a_stretch, 0, LEN(neighbours));
    tcase_add_test(tc, a_broken_stretch_lies_between_the_ends);
    tcase_add_test(tc, clock_and_bill);
    tcase_add_test(tc, what_is_broken_costs_a_build_and_gives_no_runs);
    tcase_add_loop_test(tc, answers_are_scored, 0, LEN(scores));
    tcase_add_test(tc, below_the_minimum_effect_none_is_right_too);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
