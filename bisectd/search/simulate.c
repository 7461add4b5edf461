/* SPDX-License-Identifier: Apache-2.0 */
#include "search/simulate.h"

#include "base/mem.h"
#include "search/floor.h"
#include <assert.h>
#include <math.h>

struct simulation {
    const struct policy *policy;
    struct setting setting;
    void *shared;
};

struct simulation *simulation_new(const struct policy *policy, const struct setting *setting)
{
    struct simulation *s = mem_alloc(sizeof(*s));

    *s = (struct simulation){.policy = policy, .setting = *setting};
    if (policy->prepare)
        s->shared = policy->prepare(&s->setting);
    return s;
}

void simulation_free(struct simulation *s)
{
    if (!s)
        return;
    if (s->policy->release)
        s->policy->release(s->shared);
    mem_free(s);
}

static double share_error(const struct scene *s, const struct answer *a)
{
    double sum = 0, total = scene_change(s, s->n);

    if (!a->shares || s->setting->n_culprits < 2)
        return NAN;
    for (uint32_t i = 0; i < a->n; i++)
        sum += fabs(a->shares[i] - s->effects[i] / total);
    return sum / a->n;
}

void simulation_record(const struct simulation *s, uint32_t number, struct trial *out,
                       struct buf *record)
{
    AUTO(scene_fini) struct scene scene;
    AUTO(answer_fini) struct answer answer = {0};

    scene_init(&scene, &s->setting, number);
    scene.record = record;
    s->policy->play(s->shared, &scene, &answer);
    *out = (struct trial){
        .score = scene_score(&scene, &answer),
        .n_runs = scene.n_runs,
        .n_builds = scene.n_builds,
        .n_decisions = scene.n_decisions,
        .rounds = scene.now,
        .share_error = NAN,
        .beside = scene_beside(&scene, &answer),
    };
    if (out->score == SCORE_EXACT && answer.kind == ANSWER_CULPRITS)
        out->share_error = share_error(&scene, &answer);
}

void simulation_trial(const struct simulation *s, uint32_t number, struct trial *out)
{
    simulation_record(s, number, out, NULL);
}

/** Levels that revisions can have: sums of any of the effects, each once. */
static uint32_t levels_of(const struct setting *s, double *levels)
{
    uint32_t n = 1;

    levels[0] = 0;
    for (uint32_t i = 0; i < s->n_culprits; i++)
        for (uint32_t k = 0, end = n; k < end && n < FLOOR_MAX_LEVELS; k++) {
            double level = levels[k] + s->effects[i];
            bool is_known = false;
            for (uint32_t j = 0; j < n; j++)
                is_known |= fabs(levels[j] - level) < 1e-9;
            if (!is_known)
                levels[n++] = level;
        }
    return n;
}

static double floor_of(const struct setting *s)
{
    double levels[FLOOR_MAX_LEVELS];
    int sign;

    if (s->n_culprits == 0)
        return NAN;
    uint32_t n = levels_of(s, levels);
    double log_candidates = lgamma_r(s->n_commits + 1., &sign) -
                            lgamma_r(s->n_culprits + 1., &sign) -
                            lgamma_r(s->n_commits - s->n_culprits + 1., &sign);
    return floor_runs(log_candidates, 1 - s->confidence, floor_capacity_bits(s->noise, levels, n));
}

void simulation_tally(const struct simulation *s, const struct trial *trials, uint32_t n,
                      struct tally *out)
{
    double count[3] = {0}, squares = 0, share = 0, n_shares = 0;
    struct tally t = {.n_trials = n};

    assert(n > 0);
    for (uint32_t i = 0; i < n; i++) {
        count[trials[i].score] += 1;
        t.runs += trials[i].n_runs;
        t.builds += trials[i].n_builds;
        t.rounds += trials[i].rounds;
        t.decisions += trials[i].n_decisions;
        t.beside_culprit += trials[i].beside.is_culprit;
        t.beside_named += trials[i].beside.is_named;
        t.beside_wrong += trials[i].beside.is_wrong;
        if (!isnan(trials[i].share_error)) {
            share += trials[i].share_error;
            n_shares += 1;
        }
    }
    t.runs /= n;
    t.builds /= n;
    t.rounds /= n;
    t.decisions /= n;
    t.beside_culprit /= n;
    t.beside_named /= n;
    t.beside_wrong /= n;
    for (uint32_t i = 0; i < n; i++)
        squares += (trials[i].n_runs - t.runs) * (trials[i].n_runs - t.runs);
    t.exact = count[SCORE_EXACT] / n;
    t.wrong = count[SCORE_WRONG] / n;
    t.undecided = count[SCORE_UNDECIDED] / n;
    t.cost = t.runs + s->setting.build_cost * t.builds;
    t.runs_error = n > 1 ? sqrt(squares / (n - 1.) / n) : NAN;
    t.share_error = n_shares > 0 ? share / n_shares : NAN;
    t.floor_runs = floor_of(&s->setting);
    *out = t;
}
