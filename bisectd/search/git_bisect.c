/* SPDX-License-Identifier: Apache-2.0 */
#include "search/git_bisect.h"

#include "base/mem.h"
#include "search/dice.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct git_bisect {
    const struct dag *dag;
    uint8_t *is_candidate, *is_skipped, *mark;
    uint32_t *weight; /* candidates among a candidate and its ancestors */
    uint32_t bad;
    uint64_t key, n_draws;
};

struct git_bisect *git_bisect_new(const struct dag *dag, const uint8_t *is_candidate, uint32_t bad,
                                  uint64_t key)
{
    struct git_bisect *g = mem_alloc(sizeof(*g));

    *g = (struct git_bisect){.dag = dag, .bad = bad, .key = key};
    g->is_candidate = mem_array(dag->n, 1);
    g->is_skipped = mem_array(dag->n, 1);
    g->mark = mem_array(dag->n, 1);
    g->weight = mem_array(dag->n, sizeof(*g->weight));
    memcpy(g->is_candidate, is_candidate, dag->n);
    return g;
}

void git_bisect_free(struct git_bisect *g)
{
    if (!g)
        return;
    mem_free(g->is_candidate);
    mem_free(g->is_skipped);
    mem_free(g->mark);
    mem_free(g->weight);
    mem_free(g);
}

const uint8_t *git_bisect_candidates(const struct git_bisect *g)
{
    return g->is_candidate;
}

static uint32_t count_below(struct git_bisect *g, uint32_t v)
{
    uint32_t n = 0;

    dag_mark_ancestors(g->dag, v, g->mark);
    for (uint32_t i = 0; i <= v; i++)
        n += g->mark[i] && g->is_candidate[i];
    return n;
}

/** One more than the only parent's, and counted anew at each merge. Returns the candidates. */
static uint32_t weigh(struct git_bisect *g)
{
    const struct dag *d = g->dag;
    uint32_t n = 0;

    for (uint32_t v = 0; v < d->n; v++) {
        uint32_t n_parents = 0, below = 0;
        if (!g->is_candidate[v])
            continue;
        n++;
        for (uint32_t i = d->first[v]; i < d->first[v + 1]; i++)
            if (g->is_candidate[d->parents[i]]) {
                n_parents++;
                below = g->weight[d->parents[i]];
            }
        g->weight[v] = n_parents > 1 ? count_below(g, v) : below + 1;
    }
    return n;
}

struct split_choice {
    uint32_t commit, distance;
};

static int by_distance(const void *a, const void *b)
{
    const struct split_choice *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? 1 : -1;
    return x->commit < y->commit ? -1 : x->commit > y->commit;
}

/** Somewhere off the middle, more often near it than far. Pre: n > 0, best first. */
static uint32_t skip_away(struct git_bisect *g, const struct split_choice *choices, uint32_t n)
{
    double draw = dice_uniform(g->key, g->n_draws++);
    uint32_t at = (uint32_t)(n * draw * sqrt(draw));

    if (choices[at].commit == g->bad)
        at = at > 0 ? at - 1 : 0;
    return choices[at].commit;
}

uint32_t git_bisect_next(struct git_bisect *g)
{
    uint32_t n = weigh(g), n_choices = 0, next = UINT32_MAX;
    bool is_best_skipped = false;
    struct split_choice *choices = mem_array(n, sizeof(*choices));

    for (uint32_t v = 0, i = 0; v < g->dag->n; v++)
        if (g->is_candidate[v]) {
            uint32_t w = g->weight[v];
            choices[i++] = (struct split_choice){v, w < n - w ? w : n - w};
        }
    qsort(choices, n, sizeof(*choices), by_distance);
    for (uint32_t i = 0; i < n; i++) {
        bool is_skipped = g->is_skipped[choices[i].commit];
        is_best_skipped |= is_skipped && i == 0;
        if (!is_skipped)
            choices[n_choices++] = choices[i];
    }
    if (n_choices > 0)
        next = is_best_skipped ? skip_away(g, choices, n_choices) : choices[0].commit;
    mem_free(choices);
    return next == g->bad ? UINT32_MAX : next;
}

void git_bisect_mark(struct git_bisect *g, uint32_t commit, enum git_answer answer)
{
    if (answer == GIT_SKIP) {
        g->is_skipped[commit] = 1;
        return;
    }
    if (answer == GIT_BAD)
        g->bad = commit;
    dag_mark_ancestors(g->dag, commit, g->mark);
    for (uint32_t v = 0; v < g->dag->n; v++)
        g->is_candidate[v] &= (answer == GIT_BAD) == (v <= commit && g->mark[v]);
}
