/* SPDX-License-Identifier: Apache-2.0 */
#include "search/simulate.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct setting plain = {
    .n_commits = 256,
    .n_culprits = 1,
    .effects = {2},
    .confidence = .95,
    .n_workers = 1,
    .n_repeats = 1,
    .budget_runs = 2000,
    .seed = 1,
};

static void play(const char *policy, const struct setting *setting, uint32_t n, struct tally *out)
{
    AUTO(simulation_free) struct simulation *s = simulation_new(policy_find(policy), setting);
    struct trial *trials = mem_array(n, sizeof(*trials));

    for (uint32_t i = 0; i < n; i++)
        simulation_trial(s, i, &trials[i]);
    simulation_tally(s, trials, n, out);
    mem_free(trials);
}

/* Measured by others on the same work: within 10 % of runs and .04 of exact, and four standard
 * errors of so many trials. */
static const struct {
    const char *policy;
    double effect, build_cost;
    uint32_t repeats, n;
    double runs, exact;
} peers[] = {
    {"git", 1, 0, 1, 2000, 8, .05},       {"git", 2, 0, 1, 2000, 8, .26},
    {"git", 4, 0, 1, 2000, 8, .83},       {"git", 1, 0, 9, 2000, 72, .58},
    {"git", 2, 0, 9, 2000, 72, .99},      {"known", 1, 0, 1, 400, 53, .96},
    {"known", 2, 0, 1, 400, 17.3, .97},   {"known", 4, 0, 1, 400, 8.8, .99},
    {"known", 1, 10, 1, 400, 67, .96},    {"known", 2, 10, 1, 400, 24, .98},
    {"known", 4, 10, 1, 400, 9.8, .99},   {"bayesect", 1, 0, 1, 200, 171, .91},
    {"bayesect", 2, 0, 1, 200, 44, .98},  {"bayesect", 4, 0, 1, 200, 18, 1},
    {"pinpoint", 1, 0, 1, 200, 368, .83}, {"pinpoint", 2, 0, 1, 200, 129, .91},
    {"pinpoint", 4, 0, 1, 200, 103, .95},
};

START_TEST(peers_do_what_was_measured)
{
    struct setting setting = plain;
    struct tally t;
    double p = peers[_i].exact;

    setting.effects[0] = peers[_i].effect;
    setting.build_cost = peers[_i].build_cost;
    setting.n_repeats = peers[_i].repeats;
    play(peers[_i].policy, &setting, peers[_i].n, &t);
    ck_assert_msg(fabs(t.runs - peers[_i].runs) <= .1 * peers[_i].runs + 4 * t.runs_error,
                  "%g runs", t.runs);
    ck_assert_msg(fabs(t.exact - p) <= .04 + 4 * sqrt(p * (1 - p) / peers[_i].n), "%g exact",
                  t.exact);
    ck_assert_double_eq_tol(t.exact + t.wrong + t.undecided, 1, 1e-12);
}
END_TEST

START_TEST(alone_a_worker_takes_as_long_as_all_costs)
{
    struct setting setting = plain;
    struct tally t;

    setting.build_cost = 10;
    setting.effects[0] = 4;
    play(policy_names[_i], &setting, 20, &t);
    ck_assert_double_eq_tol(t.rounds, t.cost, 1e-9);
    ck_assert_double_eq_tol(t.cost, t.runs + 10 * t.builds, 1e-9);
}
END_TEST

START_TEST(a_trial_depends_on_its_number_alone)
{
    AUTO(simulation_free) struct simulation *a = NULL;
    AUTO(simulation_free) struct simulation *b = NULL;
    struct setting setting = plain;
    struct trial x, y;

    setting.noise = NOISE_DRIFT;
    setting.effects[0] = 4;
    setting.n_workers = 3;
    setting.n_stored = 2;
    setting.p_broken = .1;
    a = simulation_new(policies[_i], &setting);
    b = simulation_new(policies[_i], &setting);
    for (uint32_t i = 0; i < 4; i++)
        simulation_trial(b, i, &y);
    simulation_trial(b, 5, &y);
    simulation_trial(a, 5, &x);
    ck_assert(x.score == y.score && x.n_runs == y.n_runs && x.n_builds == y.n_builds &&
              x.rounds == y.rounds);
}
END_TEST

/** Lines of a record: each is JSON, and what it tells adds up to the trial. */
struct told {
    uint32_t n_lines, n_events, n_begun;
    bool has_question, has_verdict; /* as the first line; as the last */
};

static void read_record(const char *text, struct told *out)
{
    struct err e = {0};

    *out = (struct told){0};
    for (size_t n; *text; text += n + 1) {
        AUTO(json_free) json *line = NULL;
        n = strcspn(text, "\n");
        ck_assert(text[n] == '\n');
        ck_assert_msg(json_parse(text, n, &line, &e) == ERR_OK, "%s", e.text);
        out->has_question |= out->n_lines++ == 0 && json_is_object(json_at(line, "request"));
        out->n_events += json_is_string(json_at(line, "event"));
        out->n_begun += json_is_number(json_at(line, "begin"));
        out->has_verdict = json_is_object(json_at(line, "verdict"));
    }
}

START_TEST(a_record_is_of_the_same_search)
{
    AUTO(simulation_free) struct simulation *s = NULL;
    AUTO(buf_fini) struct buf record = {0};
    AUTO(buf_fini) struct buf names = {0};
    struct setting setting = plain;
    struct revision revisions[257];
    struct trial x, y;
    struct told told;

    for (uint32_t v = 0; v < LEN(revisions); v++)
        snprintf(revisions[v].hex, sizeof(revisions[v].hex), "%040x", 0xabc00000 + v);
    setting.revisions = revisions;
    setting.n_workers = 3;
    setting.n_stored = 2;
    setting.p_broken = .1;
    s = simulation_new(policies[_i], &setting);
    simulation_trial(s, 5, &x);
    simulation_record(s, 5, &y, &record);
    ck_assert(x.score == y.score && x.n_runs == y.n_runs && x.n_builds == y.n_builds &&
              x.rounds == y.rounds);
    read_record(buf_str(&record), &told);
    if (policies[_i] != &policy_bisectd) {
        ck_assert_uint_eq(told.n_lines, 0);
        return;
    }
    ck_assert(told.has_question && told.has_verdict);
    ck_assert_uint_eq(told.n_events, x.n_decisions);
    ck_assert_uint_ge(told.n_begun + 2, x.n_decisions); /* started and capacity are no results */
    ck_assert_uint_eq(told.n_lines, 2 + told.n_events + told.n_begun);
    buf_printf(&names, "\"bad\":\"%s\"", revisions[256].hex);
    ck_assert_ptr_nonnull(strstr(buf_str(&record), buf_str(&names)));
}
END_TEST

START_TEST(every_policy_plays_every_family)
{
    struct setting setting = plain;
    struct tally t;

    setting.noise = (enum noise_family)_i;
    setting.effects[0] = 4;
    setting.n_workers = 2;
    for (size_t i = 0; policies[i]; i++) {
        play(policy_names[i], &setting, 5, &t);
        ck_assert(t.runs > 0 && isfinite(t.rounds) && t.floor_runs > 5 && t.floor_runs < 30);
    }
}
END_TEST

/* Ours, where even a modest search must be right: a step that no noise hides. */
static const struct {
    const char *name;
    double effect, p_broken;
    uint32_t n_stored, n_workers;
    bool has_verification;
    double least_exact, most_builds, most_runs;
} ours[] = {
    {"a large step", 20, 0, 0, 1, false, 1, 9, 16},
    {"no step", 0, 0, 0, 1, false, .8, 8, 400},
    {"runs of the ends are at hand", 20, 0, 10, 1, false, 1, 9, 13},
    {"a broken stretch", 20, .2, 0, 1, false, .9, 20, 60},
    {"four workers", 20, 0, 0, 4, false, 1, 40, 60},
    {"fresh builds of culprit and parent", 20, 0, 0, 1, true, 1, 11, 30},
};

START_TEST(ours_finds_what_no_noise_hides)
{
    struct setting setting = plain;
    struct tally t;

    setting.effects[0] = ours[_i].effect;
    setting.n_culprits = ours[_i].effect > 0;
    setting.p_broken = ours[_i].p_broken;
    setting.n_stored = ours[_i].n_stored;
    setting.n_workers = ours[_i].n_workers;
    setting.has_verification = ours[_i].has_verification;
    play("bisectd", &setting, 20, &t);
    ck_assert_msg(t.exact >= ours[_i].least_exact, "%s: %g exact", ours[_i].name, t.exact);
    ck_assert_msg(t.builds <= ours[_i].most_builds, "%s: %g builds", ours[_i].name, t.builds);
    ck_assert_msg(t.runs <= ours[_i].most_runs, "%s: %g runs", ours[_i].name, t.runs);
    ck_assert(isnan(t.floor_runs) == (ours[_i].effect == 0));
}
END_TEST

START_TEST(tally_adds_up)
{
    AUTO(simulation_free) struct simulation *s = NULL;
    struct setting setting = plain;
    struct tally t;
    const struct trial trials[] = {
        {SCORE_EXACT, 10, 3, 6, 25, .02, {true, true, false}},
        {SCORE_WRONG, 20, 5, 6, 45, NAN, {false, true, true}},
        {SCORE_UNDECIDED, 30, 4, 6, 50, NAN, {true, false, false}},
        {SCORE_EXACT, 20, 4, 6, 40, .04, {true, true, false}},
    };

    setting.build_cost = 5;
    s = simulation_new(policy_find("git"), &setting);
    simulation_tally(s, trials, LEN(trials), &t);
    ck_assert_double_eq(t.exact, .5);
    ck_assert_double_eq(t.wrong, .25);
    ck_assert_double_eq(t.undecided, .25);
    ck_assert_double_eq(t.runs, 20);
    ck_assert_double_eq(t.builds, 4);
    ck_assert_double_eq(t.cost, 40);
    ck_assert_double_eq(t.rounds, 40);
    ck_assert_double_eq(t.decisions, 6);
    ck_assert_double_eq_tol(t.share_error, .03, 1e-12);
    ck_assert_double_eq(t.beside_culprit, .75);
    ck_assert_double_eq(t.beside_named, .75);
    ck_assert_double_eq(t.beside_wrong, .25);
    ck_assert_double_eq_tol(t.runs_error, sqrt(200. / 3 / 4), 1e-12);
    ck_assert_double_eq_tol(t.floor_runs, 15.05, .05);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("simulate");
    TCase *tc = tcase_create("simulate");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, peers_do_what_was_measured, 0, LEN(peers));
    tcase_add_loop_test(tc, alone_a_worker_takes_as_long_as_all_costs, 0, 5);
    tcase_add_loop_test(tc, a_trial_depends_on_its_number_alone, 0, 5);
    tcase_add_loop_test(tc, a_record_is_of_the_same_search, 0, 5);
    tcase_add_loop_test(tc, every_policy_plays_every_family, 0, N_NOISE_FAMILIES);
    tcase_add_loop_test(tc, ours_finds_what_no_noise_hides, 0, LEN(ours));
    tcase_add_test(tc, tally_adds_up);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
