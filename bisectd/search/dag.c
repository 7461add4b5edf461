/* SPDX-License-Identifier: Apache-2.0 */
#include "search/dag.h"

#include "base/mem.h"
#include <assert.h>
#include <math.h>
#include <string.h>

struct dag *dag_new(const struct range *range)
{
    struct dag *d = mem_alloc(sizeof(*d));
    size_t n_edges = 0;

    for (uint32_t v = 0; v < range->n; v++)
        n_edges += range->commits[v].n_parents;

    d->n = range->n;
    d->first = mem_array((size_t)d->n + 1, sizeof(*d->first));
    d->parents = mem_array(n_edges + 1, sizeof(*d->parents));
    d->is_mainline = mem_array(d->n, sizeof(*d->is_mainline));

    uint32_t edge = 0;
    for (uint32_t v = 0; v < d->n; v++) {
        const struct commit *c = &range->commits[v];
        d->first[v] = edge;
        d->is_mainline[v] = c->is_mainline;
        for (uint32_t i = 0; i < c->n_parents; i++) {
            assert(c->parents[i] < v);
            d->parents[edge++] = c->parents[i];
        }
    }
    d->first[d->n] = edge;
    return d;
}

void dag_free(struct dag *d)
{
    if (!d)
        return;
    mem_free(d->first);
    mem_free(d->parents);
    mem_free(d->is_mainline);
    mem_free(d);
}

void dag_mark_ancestors(const struct dag *d, uint32_t v, uint8_t *mark)
{
    memset(mark, 0, d->n);
    mark[v] = 1;
    for (uint32_t i = v + 1; i-- > 0;) {
        if (!mark[i])
            continue;
        for (uint32_t e = d->first[i]; e < d->first[i + 1]; e++)
            mark[d->parents[e]] = 1;
    }
}

/** Side chains waiting to be swept: their tips, and the weight that came in by the merge. */
struct tips {
    uint32_t n, cap;
    struct tip {
        uint32_t v;
        double weight;
    } * items;
};

static void tips_push(struct tips *t, uint32_t v, double weight)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->items = mem_resize(t->items, t->cap, sizeof(*t->items));
    }
    t->items[t->n++] = (struct tip){v, weight};
}

static struct tip tips_pop_heaviest(struct tips *t)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < t->n; i++)
        if (t->items[i].weight > t->items[best].weight)
            best = i;
    struct tip out = t->items[best];
    t->items[best] = t->items[--t->n];
    return out;
}

struct sweep {
    const struct dag *d;
    const double *weight;
    double *mass;
    uint8_t *seen;
    uint32_t *stack;
    uint32_t *chain;
};

/** Adds v and all its ancestors not seen yet; returns their weight. */
static double sweep_add(struct sweep *s, uint32_t v)
{
    double sum = 0;
    uint32_t depth = 0;

    if (s->seen[v])
        return 0;
    s->seen[v] = 1;
    s->stack[depth++] = v;
    while (depth > 0) {
        uint32_t i = s->stack[--depth];
        sum += s->weight[i];
        for (uint32_t e = s->d->first[i]; e < s->d->first[i + 1]; e++) {
            uint32_t p = s->d->parents[e];
            if (!s->seen[p]) {
                s->seen[p] = 1;
                s->stack[depth++] = p;
            }
        }
    }
    return sum;
}

/** The mass of every commit on the first-parent chain below `tip`, as far as it is not known yet.
 */
static void sweep_chain(struct sweep *s, uint32_t tip, double least, struct tips *tips)
{
    uint32_t n = 0;

    for (uint32_t v = tip;; v = s->d->parents[s->d->first[v]]) {
        s->chain[n++] = v;
        if (!isnan(s->mass[v]) || s->d->first[v] == s->d->first[v + 1])
            break;
    }
    memset(s->seen, 0, s->d->n);
    /* The oldest is a root, or was swept before and its merges with it. */
    double mass = s->mass[s->chain[n - 1]] = sweep_add(s, s->chain[n - 1]);
    for (n--; n-- > 0;) {
        uint32_t v = s->chain[n];
        double before = mass;
        mass += sweep_add(s, v);
        s->mass[v] = mass;
        if (mass - before - s->weight[v] < least)
            continue;
        for (uint32_t e = s->d->first[v] + 1; e < s->d->first[v + 1]; e++)
            tips_push(tips, s->d->parents[e], mass - before - s->weight[v]);
    }
}

void dag_masses(const struct dag *d, const double *weight, double worth, uint32_t max_chains,
                double *mass)
{
    double total = 0;
    struct tips tips = {0};
    struct sweep s = {
        .d = d,
        .weight = weight,
        .mass = mass,
        .seen = mem_array(d->n, sizeof(*s.seen)),
        .stack = mem_array(d->n, sizeof(*s.stack)),
        .chain = mem_array(d->n, sizeof(*s.chain)),
    };

    for (uint32_t v = 0; v < d->n; v++) {
        total += weight[v];
        mass[v] = NAN;
    }
    tips_push(&tips, d->n - 1, total);
    for (uint32_t i = 0; i < max_chains && tips.n > 0; i++) {
        struct tip tip = tips_pop_heaviest(&tips);
        if (isnan(mass[tip.v]))
            sweep_chain(&s, tip.v, worth * total, &tips);
        else
            i--;
    }
    mem_free(tips.items);
    mem_free(s.seen);
    mem_free(s.stack);
    mem_free(s.chain);
}
