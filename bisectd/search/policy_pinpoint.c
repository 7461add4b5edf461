/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chromium's Pinpoint, told the size of the change. Neighbouring revisions are compared; where
 * they differ the one in the middle comes in between, where it is unclear both get more runs.
 *
 * Source: pinpoint/go/workflows/internal/bisect.go and pinpoint/go/compare of skia-buildbot.
 */
#include "base/mem.h"
#include "base/numbers.h"
#include "search/pinpoint_bound.h"
#include "search/policy.h"
#include "search/ranks.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_RUNS = 10, MOST_RUNS = 160 };
static const double p_different = .05, too_small = .1;
static const double least_magnitude = .3, most_magnitude = 4;

enum comparison { SAME, DIFFERENT, UNKNOWN };

struct pair {
    uint32_t lower, higher;
};
struct pairs {
    uint32_t n;
    struct pair *items;
};
struct runs {
    uint32_t n, wanted;
    bool is_broken;
    double *values; /* room for MOST_RUNS */
};

struct pinpoint {
    struct scene *scene;
    struct runs *runs; /* of each revision */
    struct pairs now, later;
    struct answer *answer;
};

static double mean_of(const struct runs *r)
{
    double sum = 0;

    for (uint32_t i = 0; i < r->n; i++)
        sum += r->values[i];
    return sum / r->n;
}

/** The change looked for, in interquartile ranges of both revisions' runs together. */
static double magnitude_in(const struct runs *a, const struct runs *b, double target)
{
    double all[2 * MOST_RUNS];
    uint32_t n = a->n + b->n;

    memcpy(all, a->values, a->n * sizeof(*all));
    memcpy(all + a->n, b->values, b->n * sizeof(*all));
    numbers_sort(all, n);
    double iqr = all[n * 3 / 4] - all[n / 4];
    double magnitude = target == 0 ? 1 : iqr > 0 ? target / iqr : most_magnitude;
    return fmin(fmax(magnitude, least_magnitude), most_magnitude);
}

static enum comparison compare(const struct runs *a, const struct runs *b, double target)
{
    struct two_samples s = {a->values, b->values, a->n, b->n};
    double step = mean_of(b) - mean_of(a);

    if (step < 0 || fabs(step) < too_small * target)
        return SAME;
    double p = fmin(kolmogorov_smirnov_p(&s), mann_whitney_p(&s));
    if (p <= p_different)
        return DIFFERENT;
    uint32_t n = (a->n + b->n) / 2;
    return p <= pinpoint_same_bound(magnitude_in(a, b, target), n) ? UNKNOWN : SAME;
}

static void pairs_add(struct pairs *p, uint32_t lower, uint32_t higher)
{
    p->items = mem_resize(p->items, p->n + 1, sizeof(*p->items));
    p->items[p->n++] = (struct pair){lower, higher};
}

static void want(struct pinpoint *p, uint32_t revision, uint32_t n)
{
    struct runs *r = &p->runs[revision];

    if (!r->values)
        r->values = mem_array(MOST_RUNS, sizeof(*r->values));
    if (r->wanted < n)
        r->wanted = n;
}

/** The larger number of runs for both; if they have the same, twice as many. */
static uint32_t next_size(const struct runs *a, const struct runs *b)
{
    if (a->n != b->n)
        return a->n > b->n ? a->n : b->n;
    return 2 * a->n < MOST_RUNS ? 2 * a->n : MOST_RUNS;
}

static void judge(struct pinpoint *p, struct pair pair)
{
    const struct runs *a = &p->runs[pair.lower], *b = &p->runs[pair.higher];
    double target = scene_change(p->scene, p->scene->n) * noise_sd(p->scene->setting->noise);
    uint32_t middle = pair.lower + (pair.higher - pair.lower) / 2;

    if (a->is_broken || b->is_broken)
        return; /* that part of the range is dropped */
    enum comparison c = compare(a, b, target);
    if (c == UNKNOWN && a->n < MOST_RUNS) {
        uint32_t n = next_size(a, b);
        want(p, pair.lower, n);
        want(p, pair.higher, n);
        pairs_add(&p->later, pair.lower, pair.higher);
    } else if (c == DIFFERENT && middle == pair.lower) {
        answer_add(p->answer, pair.higher);
    } else if (c == DIFFERENT) {
        want(p, middle, a->n);
        pairs_add(&p->later, pair.lower, middle);
        pairs_add(&p->later, middle, pair.higher);
    } else if (pair.lower == 0 && pair.higher == p->scene->n) {
        p->answer->kind = ANSWER_NOT_REPRODUCED;
    }
}

/** All runs wanted, at once. */
static void measure(struct pinpoint *p)
{
    uint32_t n = 0;
    struct order *orders = mem_array(p->scene->n + 1, sizeof(*orders));

    for (uint32_t v = 0; v <= p->scene->n; v++) {
        struct runs *r = &p->runs[v];
        if (r->wanted > r->n && !r->is_broken)
            orders[n++] = (struct order){
                .revision = v, .n_runs = r->wanted - r->n, .values = r->values + r->n};
    }
    scene_measure(p->scene, orders, n);
    for (uint32_t i = 0; i < n; i++) {
        struct runs *r = &p->runs[orders[i].revision];
        r->is_broken = orders[i].is_broken;
        r->n = r->is_broken ? 0 : r->wanted;
    }
    mem_free(orders);
}

static void play(const void *shared, struct scene *s, struct answer *out)
{
    struct pinpoint p = {.scene = s, .answer = out};

    (void)shared;
    p.runs = mem_array(s->n + 1, sizeof(*p.runs));
    want(&p, 0, FEWEST_RUNS);
    want(&p, s->n, FEWEST_RUNS);
    pairs_add(&p.later, 0, s->n);
    while (p.later.n > 0) {
        struct pairs old = p.now;
        p.now = p.later;
        p.later = (struct pairs){0, old.items};
        measure(&p);
        for (uint32_t i = 0; i < p.now.n; i++)
            judge(&p, p.now.items[i]);
    }
    if (out->n > 0)
        out->kind = ANSWER_CULPRITS;
    for (uint32_t v = 0; v <= s->n; v++)
        mem_free(p.runs[v].values);
    mem_free(p.runs);
    mem_free(p.now.items);
    mem_free(p.later.items);
}

const struct policy policy_pinpoint = {.name = "pinpoint", .play = play};
