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

/**
 * The first chain swept, from the tip of the range, is the scale for all others: `entry` says by
 * which of its commits another one comes in, counted from 1 at its oldest, and `below` how far up
 * it all is among another's ancestors. What is further up than that is all a sweep need visit.
 */
struct sweep {
    const struct dag *d;
    const double *weight;
    double *mass;
    uint32_t *entry; /* OUTSIDE: the tip does not reach it */
    uint32_t *below; /* 0: nothing of it */
    double *scale;   /* mass at each place of the first chain; 0 at 0 */
    uint32_t *chain; /* the one at hand, youngest first */
    uint32_t n_chain;
    uint32_t *stack;
    uint32_t *seen; /* number of the last chain whose sweep came by */
    uint32_t n_swept;
    uint32_t *side; /* ancestors of the commit at hand that are not below */
    uint32_t n_side;
};
enum { OUTSIDE = UINT32_MAX };

/** Collects the first-parent chain below `tip`, down to a root or to a commit known. */
static void sweep_collect(struct sweep *s, uint32_t tip)
{
    const struct dag *d = s->d;

    s->n_chain = 0;
    for (uint32_t v = tip;; v = d->parents[d->first[v]]) {
        s->chain[s->n_chain++] = v;
        if (!isnan(s->mass[v]) || d->first[v] == d->first[v + 1])
            break;
    }
}

/** Enters v and all its ancestors that have not come in yet at this place; returns their weight. */
static double sweep_enter(struct sweep *s, uint32_t v, uint32_t place)
{
    double sum = 0;
    uint32_t depth = 0;

    s->entry[v] = place;
    s->stack[depth++] = v;
    while (depth > 0) {
        uint32_t i = s->stack[--depth];
        sum += s->weight[i];
        for (uint32_t e = s->d->first[i]; e < s->d->first[i + 1]; e++) {
            uint32_t p = s->d->parents[e];
            if (s->entry[p] == OUTSIDE) {
                s->entry[p] = place;
                s->stack[depth++] = p;
            }
        }
    }
    return sum;
}

/** Adds to `side` v and its ancestors that are not there and not below it. */
static void sweep_side(struct sweep *s, uint32_t v)
{
    uint32_t depth = 0, below = s->below[v];

    if (s->entry[v] <= below)
        return;
    s->seen[v] = s->n_swept;
    s->stack[depth++] = v;
    while (depth > 0) {
        uint32_t i = s->stack[--depth];
        s->side[s->n_side++] = i;
        for (uint32_t e = s->d->first[i]; e < s->d->first[i + 1]; e++) {
            uint32_t p = s->d->parents[e];
            if (s->seen[p] != s->n_swept && s->entry[p] > below) {
                s->seen[p] = s->n_swept;
                s->stack[depth++] = p;
            }
        }
    }
}

static void offer_tips(const struct sweep *s, uint32_t v, double came_in, double least,
                       struct tips *tips)
{
    if (came_in < least)
        return;
    for (uint32_t e = s->d->first[v] + 1; e < s->d->first[v + 1]; e++)
        tips_push(tips, s->d->parents[e], came_in);
}

static void sweep_first(struct sweep *s, uint32_t tip, double least, struct tips *tips)
{
    const struct dag *d = s->d;

    sweep_collect(s, tip);
    s->scale = mem_array((size_t)s->n_chain + 1, sizeof(*s->scale));
    for (uint32_t v = 0; v < d->n; v++)
        s->entry[v] = OUTSIDE;
    for (uint32_t place = 1; place <= s->n_chain; place++) {
        uint32_t v = s->chain[s->n_chain - place];
        double more = sweep_enter(s, v, place);
        s->mass[v] = s->scale[place] = s->scale[place - 1] + more;
        s->below[v] = place;
        if (place > 1)
            offer_tips(s, v, more - s->weight[v], least, tips);
    }
    for (uint32_t v = 0; v < d->n; v++)
        for (uint32_t e = d->first[v]; e < d->first[v + 1]; e++)
            if (s->below[v] < s->below[d->parents[e]])
                s->below[v] = s->below[d->parents[e]];
}

/** A first parent's ancestors are its child's too, so `side` grows along the chain, less what comes
 *  to lie below. */
static void sweep_chain(struct sweep *s, uint32_t tip, double least, struct tips *tips)
{
    double sum = 0, before = 0;

    sweep_collect(s, tip);
    s->n_swept++;
    s->n_side = 0;
    for (uint32_t k = s->n_chain, below = 0; k-- > 0;) {
        uint32_t v = s->chain[k], n_old = s->n_side;
        if (s->below[v] > below) {
            below = s->below[v];
            sum = n_old = 0;
            for (uint32_t i = 0; i < s->n_side; i++)
                if (s->entry[s->side[i]] > below) {
                    sum += s->weight[s->side[i]];
                    s->side[n_old++] = s->side[i];
                }
            s->n_side = n_old;
        }
        sweep_side(s, v);
        for (uint32_t i = n_old; i < s->n_side; i++)
            sum += s->weight[s->side[i]];
        s->mass[v] = s->scale[below] + sum;
        if (k + 1 < s->n_chain)
            offer_tips(s, v, s->mass[v] - before - s->weight[v], least, tips);
        before = s->mass[v];
    }
}

static void sweep_fini(struct sweep *s)
{
    mem_free(s->entry);
    mem_free(s->below);
    mem_free(s->scale);
    mem_free(s->chain);
    mem_free(s->stack);
    mem_free(s->seen);
    mem_free(s->side);
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
        .entry = mem_array(d->n, sizeof(*s.entry)),
        .below = mem_array(d->n, sizeof(*s.below)),
        .chain = mem_array(d->n, sizeof(*s.chain)),
        .stack = mem_array(d->n, sizeof(*s.stack)),
        .seen = mem_array(d->n, sizeof(*s.seen)),
        .side = mem_array(d->n, sizeof(*s.side)),
    };

    for (uint32_t v = 0; v < d->n; v++) {
        total += weight[v];
        mass[v] = NAN;
    }
    sweep_first(&s, d->n - 1, worth * total, &tips);
    for (uint32_t i = 1; i < max_chains && tips.n > 0; i++) {
        struct tip tip = tips_pop_heaviest(&tips);
        if (isnan(mass[tip.v]))
            sweep_chain(&s, tip.v, worth * total, &tips);
        else
            i--;
    }
    mem_free(tips.items);
    sweep_fini(&s);
}
