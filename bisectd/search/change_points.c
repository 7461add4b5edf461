/* SPDX-License-Identifier: Apache-2.0 */
#include "search/change_points.h"

#include "base/mem.h"
#include "search/t_test.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LEAST_WINDOW = 4 };
/* The windows look for what may be a change; what is left must be one against its neighbours. */
static const double first_look = 10;
static const double sure_place = .99;

const struct change_rule change_rule_usual = {.window = 50, .max_p = .001, .min_magnitude = 0};

struct points {
    uint32_t n, cap;
    struct change_point *items;
};

static void insert(struct points *p, uint32_t i, struct change_point point)
{
    if (p->n == p->cap) {
        p->cap = 2 * p->cap + 8;
        p->items = mem_resize(p->items, p->cap, sizeof(*p->items));
    }
    memmove(p->items + i + 1, p->items + i, (p->n - i) * sizeof(*p->items));
    p->items[i] = point;
    p->n++;
}

static void drop(struct points *p, uint32_t i)
{
    memmove(p->items + i, p->items + i + 1, (p->n - i - 1) * sizeof(*p->items));
    p->n--;
}

static struct moments moments_of(const double *values, uint32_t from, uint32_t to)
{
    struct moments m = {0};

    for (uint32_t i = from; i < to; i++)
        moments_add(&m, values[i]);
    return m;
}

static struct change_point point_at(const double *values, uint32_t from, uint32_t at, uint32_t to)
{
    struct change_point c = {
        .at = at, .before = moments_of(values, from, at), .after = moments_of(values, at, to)};

    c.p = t_test_student(&c.before, &c.after).p;
    return c;
}

/* E-divisive within a window */

/** Values of one window, and the sum of distances within each stretch of them. */
struct window {
    const double *values;
    uint32_t n;
    double *within; /* of values a to b - 1 at a * (n + 1) + b */
};

static double within(const struct window *w, uint32_t a, uint32_t b)
{
    return w->within[a * (w->n + 1) + b];
}

static void fill_window(struct window *w)
{
    for (uint32_t b = 1; b <= w->n; b++) {
        double sum = 0; /* distances of the last value to those from a on */
        for (uint32_t a = b; a-- > 0;) {
            sum += fabs(w->values[a] - w->values[b - 1]);
            w->within[a * (w->n + 1) + b] = within(w, a, b - 1) + sum;
        }
    }
}

/** Energy distance of the stretches from..at and at..to, scaled by their sizes. */
static double divergence(const struct window *w, uint32_t from, uint32_t at, uint32_t to)
{
    double n = at - from, m = to - at;
    double left = within(w, from, at), right = within(w, at, to);
    double between = within(w, from, to) - left - right;
    double q = 2 / (m + n) * between;

    q -= n > 1 ? 2 * m / (m + n) / (n - 1) * left : 0;
    q -= m > 1 ? 2 * n / (m + n) / (m - 1) * right : 0;
    return q;
}

struct candidate {
    uint32_t from, at, to; /* the stretch it would split */
    double q;
};

/** The best split of a stretch; its right side may end anywhere, so that a later change does not
 *  hide an earlier one. */
static void best_split(const struct window *w, uint32_t from, uint32_t to, struct candidate *best)
{
    for (uint32_t at = from + 1; at < to; at++)
        for (uint32_t end = at + 1; end <= to; end++) {
            double q = divergence(w, from, at, end);
            if (q > best->q)
                *best = (struct candidate){from, at, to, q};
        }
}

/** Adds what the window `w`, which begins at `start` of the series, shows. Pre: the points found
 *  so far that lie in it are none. Returns the last one's place, or 0. */
static uint32_t split_window(const struct window *w, uint32_t start, double max_p,
                             struct points *found)
{
    uint32_t first = found->n;

    for (;;) {
        struct candidate best = {.q = -INFINITY};
        for (uint32_t i = first; i <= found->n; i++) {
            uint32_t from = i == first ? 0 : found->items[i - 1].at - start;
            uint32_t to = i == found->n ? w->n : found->items[i].at - start;
            best_split(w, from, to, &best);
        }
        if (best.q == -INFINITY)
            break;
        struct change_point c = point_at(w->values, best.from, best.at, best.to);
        if (c.p > max_p)
            break;
        c.at += start;
        uint32_t i = first;
        while (i < found->n && found->items[i].at < c.at)
            i++;
        insert(found, i, c);
    }
    return found->n > first ? found->items[found->n - 1].at : 0;
}

/* Windows overlap, and may see the same change twice or see one where they begin. */
static void sort_out(struct points *p)
{
    for (uint32_t i = 1; i < p->n; i++)
        for (uint32_t k = i; k > 0 && p->items[k].at < p->items[k - 1].at; k--) {
            struct change_point swapped = p->items[k];
            p->items[k] = p->items[k - 1];
            p->items[k - 1] = swapped;
        }
    for (uint32_t i = 1; i < p->n;)
        if (p->items[i].at == p->items[i - 1].at)
            drop(p, i);
        else
            i++;
}

static void split(const double *values, uint32_t n, const struct change_rule *rule,
                  struct points *found)
{
    uint32_t size = rule->window > LEAST_WINDOW ? rule->window : LEAST_WINDOW, start = 0;
    double max_p = rule->max_p < .05 ? first_look * rule->max_p : rule->max_p;
    double *room = mem_array((size_t)(size + 1) * (size + 1), sizeof(*room));

    while (start < n) {
        struct window w = {values + start, n - start < size ? n - start : size, room};
        memset(room, 0, (size_t)(w.n + 1) * (w.n + 1) * sizeof(*room));
        fill_window(&w);
        uint32_t last = split_window(&w, start, max_p, found);
        start = last > start + size / 2 ? last : start + size / 2;
    }
    mem_free(room);
    sort_out(found);
}

/* Pruning */

static void recompute(const double *values, uint32_t n, struct points *p, uint32_t i)
{
    if (i >= p->n)
        return;
    uint32_t from = i > 0 ? p->items[i - 1].at : 0;
    uint32_t to = i + 1 < p->n ? p->items[i + 1].at : n;
    p->items[i] = point_at(values, from, p->items[i].at, to);
}

static double magnitude_of(const struct change_point *c)
{
    double least = fmin(fabs(c->before.mean), fabs(c->after.mean));
    double step = fabs(c->after.mean - c->before.mean);

    return step == 0 ? 0 : step / least;
}

/** The point to go next: the least significant, or else the smallest; UINT32_MAX: all may stay. */
static uint32_t weakest(const struct points *p, const struct change_rule *rule)
{
    uint32_t dullest = 0, smallest = 0;

    for (uint32_t i = 1; i < p->n; i++) {
        dullest = p->items[i].p > p->items[dullest].p ? i : dullest;
        smallest = magnitude_of(&p->items[i]) < magnitude_of(&p->items[smallest]) ? i : smallest;
    }
    if (p->n > 0 && p->items[dullest].p >= rule->max_p)
        return dullest;
    if (p->n > 0 && magnitude_of(&p->items[smallest]) <= rule->min_magnitude)
        return smallest;
    return UINT32_MAX;
}

/* Where a change may be */

/** Log of the posterior density of a change at each place within from..to, both levels and the
 *  common variance unknown and integrated out; -inf at from itself. */
static double *log_places(const double *values, uint32_t from, uint32_t to)
{
    uint32_t n = to - from;
    double *log_p = mem_array(n, sizeof(*log_p));
    struct moments left = {0}, all = moments_of(values, from, to);

    log_p[0] = -INFINITY;
    for (uint32_t k = 1; k < n; k++) {
        moments_add(&left, values[from + k - 1]);
        double right_n = n - left.n, right_mean = (n * all.mean - left.n * left.mean) / right_n;
        double between = left.n * right_n / n * (right_mean - left.mean) * (right_mean - left.mean);
        /* Values that repeat exactly leave nothing but rounding. */
        double residue = fmax(all.ss - between, 1e-12 * all.ss);
        log_p[k] = -.5 * (n - 2.) * log(residue) - .5 * log(left.n * right_n);
    }
    return log_p;
}

/** Fills first and last in: from the likeliest place on, the likelier neighbour comes in next. */
static void find_places(const double *values, uint32_t from, uint32_t to, struct change_point *c)
{
    double *p = log_places(values, from, to), all = 0;
    uint32_t top = c->at - from, n = to - from;

    for (uint32_t k = 1; k < n; k++)
        top = p[k] > p[top] ? k : top;
    double most = p[top];
    for (uint32_t k = 0; k < n; k++)
        all += p[k] = exp(p[k] - most);
    uint32_t first = top, last = top;
    double sum = p[top];
    while (sum < sure_place * all && (first > 1 || last + 1 < n)) {
        bool is_left = first > 1 && (last + 1 == n || p[first - 1] >= p[last + 1]);
        sum += is_left ? p[--first] : p[++last];
    }
    c->first = from + (first < c->at - from ? first : c->at - from);
    c->last = from + (last > c->at - from ? last : c->at - from);
    mem_free(p);
}

uint32_t change_points_find(const double *values, uint32_t n, const struct change_rule *rule,
                            struct change_point **out)
{
    struct points found = {0};

    split(values, n, rule, &found);
    for (uint32_t i = 0; i < found.n; i++)
        recompute(values, n, &found, i);
    for (uint32_t i; (i = weakest(&found, rule)) != UINT32_MAX;) {
        drop(&found, i);
        if (i > 0)
            recompute(values, n, &found, i - 1);
        recompute(values, n, &found, i);
    }
    for (uint32_t i = 0; i < found.n; i++)
        find_places(values, i > 0 ? found.items[i - 1].at : 0,
                    i + 1 < found.n ? found.items[i + 1].at : n, &found.items[i]);
    *out = found.items;
    return found.n;
}
