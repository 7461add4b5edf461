/* SPDX-License-Identifier: Apache-2.0 */
#include "search/series.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "search/change_points.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST_CHANGES = 4 };
/* A change beside the surest one must not be one of the few that a long series has by chance. */
static const double sure_p = 1e-6;

/** All points of one commit, or a single one from outside. */
struct group {
    uint32_t commit;
    uint32_t n;
    double mean;
    bool is_kept;
};

struct choice_of_points {
    const struct series *s;
    uint32_t n_groups;
    struct group *groups; /* in order of their first points */
    uint32_t *group_of;   /* each point */
    uint32_t n_changes;
    struct change_point *changes;
};

static void gather(struct choice_of_points *c)
{
    const struct series *s = c->s;
    uint32_t *known = mem_array((size_t)s->n_commits + 1, sizeof(*known)); /* 1 + group */

    c->groups = mem_array(s->n + 1, sizeof(*c->groups));
    c->group_of = mem_array(s->n + 1, sizeof(*c->group_of));
    for (size_t i = 0; i < s->n; i++) {
        uint32_t commit = s->points[i].commit;
        uint32_t g = commit == SERIES_OUTSIDE ? 0 : known[commit];
        if (g == 0) {
            g = ++c->n_groups;
            c->groups[g - 1] = (struct group){.commit = commit};
        }
        if (commit != SERIES_OUTSIDE)
            known[commit] = g;
        struct group *group = &c->groups[g - 1];
        group->n++;
        group->mean += (s->points[i].value - group->mean) / group->n;
        c->group_of[i] = g - 1;
    }
    mem_free(known);
}

static void find_changes(struct choice_of_points *c)
{
    double *means = mem_array((size_t)c->n_groups + 1, sizeof(*means));

    for (uint32_t g = 0; g < c->n_groups; g++)
        means[g] = c->groups[g].mean;
    c->n_changes = change_points_find(means, c->n_groups, &change_rule_usual, &c->changes);
    mem_free(means);
}

/** SERIES_OUTSIDE if no point is of it. */
static uint32_t group_of_commit(const struct choice_of_points *c, uint32_t commit)
{
    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].commit == commit)
            return g;
    return SERIES_OUTSIDE;
}

/* Points from outside: on the level of an end, from the change before it on, up to the next. */

static void keep_before(struct choice_of_points *c, uint32_t good)
{
    uint32_t first = 0, n = 0;

    for (uint32_t i = 0; i < c->n_changes; i++)
        if (c->changes[i].at <= good)
            first = c->changes[i].last;
    for (uint32_t g = good; g-- > first && n < SERIES_BESIDE;)
        if (c->groups[g].commit == SERIES_OUTSIDE) {
            c->groups[g].is_kept = true;
            c->groups[g].commit = c->s->good;
            n++;
        }
}

static void keep_after(struct choice_of_points *c, uint32_t bad)
{
    uint32_t end = c->n_groups, n = 0;

    for (uint32_t i = c->n_changes; i-- > 0;)
        if (c->changes[i].at > bad)
            end = c->changes[i].first;
    for (uint32_t g = bad + 1; g < end && n < SERIES_BESIDE; g++)
        if (c->groups[g].commit == SERIES_OUTSIDE) {
            c->groups[g].is_kept = true;
            c->groups[g].commit = c->s->bad;
            n++;
        }
}

/* Points of the range */

/** Keeps up to `n` of the groups listed from..to, evenly; returns how many of them are new. */
static uint32_t keep_evenly(struct choice_of_points *c, const uint32_t *within, uint32_t from,
                            uint32_t to, uint32_t n)
{
    uint32_t size = to - from, n_new = 0;

    n = n < size ? n : size;
    for (uint32_t i = 0; i < n; i++) {
        struct group *g =
            &c->groups[within[from + (uint32_t)((2 * i + 1) * (uint64_t)size / (2 * n))]];
        n_new += !g->is_kept;
        g->is_kept = true;
    }
    return n_new;
}

/** Where the first group from `g` on stands in the list. */
static uint32_t place_of(const uint32_t *within, uint32_t n, uint32_t g)
{
    uint32_t i = 0;

    while (i < n && within[i] < g)
        i++;
    return i;
}

/** `n` groups around a change, all places it may be at among them. */
static uint32_t keep_around(struct choice_of_points *c, const uint32_t *within, uint32_t n_within,
                            const struct change_point *change, uint32_t n)
{
    uint32_t from = place_of(within, n_within, change->first);
    uint32_t to = place_of(within, n_within, change->last + 1);
    uint32_t margin = to - from < n ? (n - (to - from)) / 2 : 2;

    from = from > margin ? from - margin : 0;
    to = to + margin < n_within ? to + margin : n_within;
    return keep_evenly(c, within, from, to, n);
}

static int by_p(const void *a, const void *b)
{
    const struct change_point *x = a, *y = b;

    return x->p != y->p ? (x->p < y->p ? -1 : 1) : (x->at < y->at ? -1 : 1);
}

/** Puts the changes to look at closely first, the surest before the others; returns how many. Pre:
 *  their order matters no more. */
static uint32_t surest(struct choice_of_points *c, uint32_t first, uint32_t last)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_changes; i++)
        if (c->changes[i].at > first && c->changes[i].at <= last)
            c->changes[n++] = c->changes[i];
    if (n > 0)
        qsort(c->changes, n, sizeof(*c->changes), by_p);
    uint32_t n_sure = n > 0;
    while (n_sure < n && n_sure < MOST_CHANGES && c->changes[n_sure].p <= sure_p)
        n_sure++;
    return n_sure;
}

static void keep_within(struct choice_of_points *c)
{
    uint32_t *within = mem_array((size_t)c->n_groups + 1, sizeof(*within));
    uint32_t n_within = 0, left = c->s->most;

    for (uint32_t g = 0; g < c->n_groups; g++)
        if (c->groups[g].commit != SERIES_OUTSIDE && !c->groups[g].is_kept)
            within[n_within++] = g;
    if (n_within <= left) {
        keep_evenly(c, within, 0, n_within, n_within);
        mem_free(within);
        return;
    }
    for (uint32_t i = 0; i < n_within; i++) {
        struct group *g = &c->groups[within[i]];
        g->is_kept = g->commit == c->s->good || g->commit == c->s->bad;
        left -= g->is_kept;
    }
    uint32_t n_near = surest(c, within[0], within[n_within - 1]), half = left / 2;
    for (uint32_t i = 0; i < n_near; i++)
        left -= keep_around(c, within, n_within, &c->changes[i], half / n_near);
    keep_evenly(c, within, 0, n_within, left);
    mem_free(within);
}

double series_limit(const double *values, size_t n)
{
    double *sizes = mem_array(n + 1, sizeof(*sizes));

    for (size_t i = 0; i < n; i++)
        sizes[i] = fabs(values[i]);
    numbers_sort(sizes, n);
    double median = n > 0 ? sizes[(n - 1) / 2] : 0;
    mem_free(sizes);
    return median > 0 ? SERIES_SPAN * median : INFINITY;
}

void series_choose(const struct series *s, uint32_t *as)
{
    struct choice_of_points c = {.s = s};

    gather(&c);
    find_changes(&c);
    uint32_t good = group_of_commit(&c, s->good), bad = group_of_commit(&c, s->bad);
    if (good != SERIES_OUTSIDE)
        keep_before(&c, good);
    if (bad != SERIES_OUTSIDE)
        keep_after(&c, bad);
    keep_within(&c);
    for (uint32_t g = 0; g < c.n_groups; g++)
        c.groups[g].n = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct group *g = &c.groups[c.group_of[i]];
        as[i] = g->is_kept && g->n < SERIES_RUNS ? g->commit : SERIES_OUTSIDE;
        g->n++;
    }
    mem_free(c.groups);
    mem_free(c.group_of);
    mem_free(c.changes);
}
