/* SPDX-License-Identifier: Apache-2.0 */
/* git bisect, told the threshold between good and bad: the mean of so many runs is above it or
 * not, and that is believed. */
#include "base/mem.h"
#include "search/dice.h"
#include "search/git_bisect.h"
#include "search/history.h"
#include "search/policy.h"

enum { KEY_GIT = 101 };

static void *prepare(const struct setting *setting)
{
    AUTO(range_free) struct range *line = history_line(setting->n_commits);

    return dag_new(line);
}

static void release(void *shared)
{
    dag_free(shared);
}

static enum git_answer test(struct scene *s, uint32_t revision, double *values)
{
    double sum = 0;
    struct order o = {.revision = revision, .n_runs = s->setting->n_repeats, .values = values};

    scene_measure(s, &o, 1);
    if (o.is_broken)
        return GIT_SKIP;
    for (uint32_t i = 0; i < o.n_runs; i++)
        sum += values[i];
    double threshold = noise_level(s->setting->noise, scene_change(s, s->n) / 2);
    return sum / o.n_runs > threshold ? GIT_BAD : GIT_GOOD;
}

static void play(const void *shared, struct scene *s, struct answer *out)
{
    const struct dag *dag = shared;
    uint8_t *is_candidate = mem_array(dag->n, 1);
    double *values = mem_array(s->setting->n_repeats, sizeof(*values));

    for (uint32_t v = 1; v < dag->n; v++)
        is_candidate[v] = 1;
    AUTO(git_bisect_free)
    struct git_bisect *g = git_bisect_new(dag, is_candidate, s->n, dice_key(s->key, KEY_GIT));
    for (uint32_t v; (v = git_bisect_next(g)) != UINT32_MAX;)
        git_bisect_mark(g, v, test(s, v, values));
    for (uint32_t v = 1; v < dag->n; v++)
        if (git_bisect_candidates(g)[v])
            answer_add(out, v);
    out->kind = out->n == 1 ? ANSWER_CULPRITS : ANSWER_RANGE;
    mem_free(is_candidate);
    mem_free(values);
}

const struct policy policy_git = {"git", prepare, release, play};
