/* SPDX-License-Identifier: Apache-2.0 */
#include "search/detection.h"

#include "base/mem.h"
#include "search/change_points.h"
#include <math.h>
#include <stdlib.h>

struct finds {
    uint32_t n, cap;
    struct detected *items;
};

static struct detected *add(struct finds *f)
{
    if (f->n == f->cap) {
        f->cap = 2 * f->cap + 8;
        f->items = mem_resize(f->items, f->cap, sizeof(*f->items));
    }
    f->items[f->n] = (struct detected){.p = NAN, .t = NAN};
    return &f->items[f->n++];
}

static void add_change_points(struct finds *f, const struct push *pushes, uint32_t n)
{
    double *means = mem_array((size_t)n + 1, sizeof(*means));
    struct change_point *points;

    for (uint32_t i = 0; i < n; i++)
        means[i] = push_level_of(&pushes[i], 1, 1, WEIGHTS_EVEN).mean;
    uint32_t n_points = change_points_find(means, n, &change_rule_usual, &points);
    for (uint32_t i = 0; i < n_points; i++) {
        struct detected *d = add(f);
        d->at = points[i].at;
        d->good = points[i].first - 1;
        d->bad = points[i].last;
        d->before = points[i].before.mean;
        d->after = points[i].after.mean;
        d->is_change_point = true;
        d->p = points[i].p;
    }
    mem_free(points);
    mem_free(means);
}

/** The change point that Perfherder's change is, or NULL. */
static struct detected *match(struct finds *f, const struct push_change *c)
{
    struct detected *best = NULL;

    for (uint32_t i = 0; i < f->n; i++) {
        struct detected *d = &f->items[i];
        bool is_near = c->at >= d->good && c->at <= d->bad + 1;
        if (d->is_change_point && is_near && (!best || d->p < best->p))
            best = d;
    }
    return best;
}

static void take_perfherder(struct detected *d, const struct push_change *c)
{
    if (d->is_perfherder && d->t >= c->t)
        return; /* it has two tops in one change */
    d->is_perfherder = true;
    d->t = c->t;
    d->t_at = c->at;
    d->is_alert = push_change_is_alert(c, &alert_rule_usual);
    d->good = c->at - 1 < d->good ? c->at - 1 : d->good;
    d->bad = c->at > d->bad ? c->at : d->bad;
}

static void add_perfherder(struct finds *f, const struct push *pushes, uint32_t n)
{
    struct push_change *changes;
    uint32_t n_changes = push_changes_find(pushes, n, &alert_rule_usual, &changes);

    for (uint32_t i = 0; i < n_changes; i++) {
        const struct push_change *c = &changes[i];
        struct detected *d = match(f, c);
        if (!d) {
            d = add(f);
            d->at = c->at; /* which may be off by one */
            d->good = c->at > 1 ? c->at - 2 : 0;
            d->bad = c->at + 1 < n ? c->at + 1 : c->at;
            d->before = c->before;
            d->after = c->after;
        }
        take_perfherder(d, c);
    }
    mem_free(changes);
}

static int by_place(const void *a, const void *b)
{
    const struct detected *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

uint32_t detect_changes(const struct push *pushes, uint32_t n, struct detected **out)
{
    struct finds f = {0};

    add_change_points(&f, pushes, n);
    add_perfherder(&f, pushes, n);
    if (f.n > 1)
        qsort(f.items, f.n, sizeof(*f.items), by_place);
    *out = f.items;
    return f.n;
}
