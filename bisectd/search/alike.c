/* SPDX-License-Identifier: Apache-2.0 */
#include "search/alike.h"

#include "base/hash.h"
#include "base/mem.h"
#include <stddef.h>
#include <string.h>

/* Equal trees may be far apart in a long history; beyond so many steps the rest is not looked at.
 */
enum { MAX_TREE_STEPS = 20000000 };
enum { ONLY_U = 1, ONLY_V = 2, BOTH = 3 };

struct alike {
    const struct range *range;
    bool is_off;
    uint8_t *why;      /* enum exclusion, of each commit */
    uint32_t *same_as; /* a forest: an older one that builds to the same thing, or itself */
    uint8_t *marks;    /* all zero between calls */
};

/* Which are the same */

uint32_t alike_oldest(const struct alike *a, uint32_t v)
{
    while (a->same_as[v] != v)
        v = a->same_as[v];
    return v;
}

static void join(struct alike *a, uint32_t u, uint32_t v)
{
    uint32_t x = alike_oldest(a, u), y = alike_oldest(a, v);
    uint32_t root = x < y ? x : y;

    a->same_as[x] = a->same_as[y] = root;
    a->same_as[u] = a->same_as[v] = root;
}

bool alike_is_same(const struct alike *a, uint32_t u, uint32_t v)
{
    return alike_oldest(a, u) == alike_oldest(a, v);
}

enum exclusion alike_exclusion(const struct alike *a, uint32_t v)
{
    return (enum exclusion)a->why[v];
}

/* What lies between */

static uint32_t exclude(struct alike *a, uint32_t v, enum exclusion why)
{
    if (a->why[v] != EXCLUDED_NOT || !a->range->commits[v].is_candidate)
        return 0;
    a->why[v] = why;
    return 1;
}

/** A step down from a marked commit; returns the change in the number of open ones. */
static int mark_parent(struct alike *a, uint32_t parent, uint8_t mark)
{
    uint8_t old = a->marks[parent], new = old | mark;

    a->marks[parent] = new;
    return (new != 0 && new != BOTH) - (old != 0 && old != BOTH);
}

/** Excludes what only one of u and v has, going down until all that is left is common to both. */
static uint32_t exclude_between(struct alike *a, uint32_t u, uint32_t v, int64_t *n_steps)
{
    const struct range *r = a->range;
    uint32_t n_excluded = 0, at = u > v ? u : v, low = u < v ? u : v;
    int n_open = 2;

    a->marks[u] = ONLY_U;
    a->marks[v] = ONLY_V;
    for (; n_open > 0; at--, ++*n_steps) {
        uint8_t mark = a->marks[at];
        a->marks[at] = 0;
        if (mark == ONLY_U || mark == ONLY_V) {
            n_excluded += exclude(a, at, EXCLUDED_SAME_BYTES);
            n_open--;
        }
        for (uint32_t i = 0; mark && i < r->commits[at].n_parents; i++) {
            uint32_t parent = r->commits[at].parents[i];
            n_open += mark_parent(a, parent, mark);
            low = parent < low ? parent : low;
        }
        if (at == 0)
            break;
    }
    *n_steps += at > low ? at - low : 0;
    memset(a->marks + low, 0, at >= low ? at - low + 1 : 0);
    return n_excluded;
}

uint32_t alike_link(struct alike *a, uint32_t u, uint32_t v)
{
    int64_t n_steps = 0;

    if (a->is_off || alike_is_same(a, u, v))
        return 0;
    join(a, u, v);
    return exclude_between(a, u, v, &n_steps);
}

/* What the range tells */

/** Built as its parents are; else what is measured may change with the fixups. */
static bool has_fixups_of_parents(const struct range *r, uint32_t v)
{
    const struct commit *c = &r->commits[v];

    for (uint32_t i = 0; i < c->n_parents; i++)
        if (r->commits[c->parents[i]].fixups != c->fixups)
            return false;
    return true;
}

static void note_untouched(struct alike *a)
{
    for (uint32_t v = 0; v < a->range->n; v++) {
        const struct commit *c = &a->range->commits[v];
        if (!c->is_candidate || c->matters || !has_fixups_of_parents(a->range, v))
            continue;
        exclude(a, v, EXCLUDED_UNTOUCHED);
        if (c->n_parents == 1)
            join(a, c->parents[0], v);
    }
}

/** The newest commit so far with each tree, by open addressing; UINT32_MAX is free. */
struct trees {
    size_t mask;
    uint32_t *slots;
};

static uint64_t hash_of_tree(const struct revision *tree)
{
    uint64_t x;

    memcpy(&x, tree->hex, sizeof(x)); /* hex digits: all bits are needed, so they are mixed */
    return mix64(x);
}

static bool is_same_source(const struct commit *a, const struct commit *b)
{
    return revision_equal(&a->tree, &b->tree) && a->fixups == b->fixups;
}

/** Puts v in; returns the commit before it with the same tree and fixups, or UINT32_MAX. */
static uint32_t trees_put(struct trees *t, const struct range *r, uint32_t v)
{
    size_t at = hash_of_tree(&r->commits[v].tree) & t->mask;

    while (t->slots[at] != UINT32_MAX && !is_same_source(&r->commits[t->slots[at]], &r->commits[v]))
        at = (at + 1) & t->mask;
    uint32_t before = t->slots[at];
    t->slots[at] = v;
    return before;
}

static void note_trees(struct alike *a)
{
    const struct range *r = a->range;
    size_t n_slots = 16;
    int64_t n_steps = 0;

    while (n_slots < 2 * (size_t)r->n)
        n_slots *= 2;
    struct trees t = {n_slots - 1, mem_array(n_slots, sizeof(uint32_t))};
    memset(t.slots, 0xff, n_slots * sizeof(uint32_t));
    for (uint32_t v = 0; v < r->n && n_steps < MAX_TREE_STEPS; v++) {
        uint32_t before = revision_is_set(&r->commits[v].tree) ? trees_put(&t, r, v) : UINT32_MAX;
        if (before == UINT32_MAX || alike_is_same(a, before, v))
            continue;
        join(a, before, v);
        exclude_between(a, before, v, &n_steps);
    }
    mem_free(t.slots);
}

static void forget_all(struct alike *a)
{
    memset(a->why, 0, a->range->n);
    for (uint32_t v = 0; v < a->range->n; v++)
        a->same_as[v] = v;
}

static bool is_anything_left(const struct alike *a)
{
    for (uint32_t v = 0; v < a->range->n; v++)
        if (a->range->commits[v].is_candidate && a->why[v] == EXCLUDED_NOT)
            return true;
    return false;
}

struct alike *alike_new(const struct range *range, bool is_off)
{
    struct alike *a = mem_alloc(sizeof(*a));

    a->range = range;
    a->is_off = is_off;
    a->why = mem_array(range->n, 1);
    a->marks = mem_array(range->n, 1);
    a->same_as = mem_array(range->n, sizeof(*a->same_as));
    forget_all(a);
    if (is_off)
        return a;
    note_untouched(a);
    note_trees(a);
    if (!is_anything_left(a))
        forget_all(a);
    return a;
}

void alike_free(struct alike *a)
{
    if (!a)
        return;
    mem_free(a->why);
    mem_free(a->same_as);
    mem_free(a->marks);
    mem_free(a);
}

/* Which to measure */

/** An excluded commit adds nothing to its parents; if these cannot be told apart, nor can it. */
static uint32_t root_of_parents(const struct commit *c, const uint32_t *root, uint32_t own)
{
    uint32_t out = c->n_parents > 0 ? root[c->parents[0]] : own;

    for (uint32_t i = 1; i < c->n_parents; i++)
        if (root[c->parents[i]] != out)
            return own;
    return out;
}

void alike_roots(const struct alike *a, uint32_t *root)
{
    for (uint32_t v = 0; v < a->range->n; v++) {
        uint32_t same = alike_oldest(a, v);
        root[v] = v;
        if (same < v)
            root[v] = root[same];
        else if (a->why[v] != EXCLUDED_NOT)
            root[v] = root_of_parents(&a->range->commits[v], root, v);
    }
}

uint32_t alike_base(const struct alike *a, uint32_t v)
{
    const struct commit *commits = a->range->commits;

    if (a->is_off || !commits[v].is_prose)
        return UINT32_MAX;
    while (commits[v].is_prose && commits[v].n_parents == 1)
        v = commits[v].parents[0];
    return commits[v].is_prose ? UINT32_MAX : v;
}
