/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/slowsql_change.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 1 + RATE_REPLICATES, CHANCES_MOST = 9, INDEX_LOW = 24, INDEX_HIGH = 974 };

/** Sums over builds 0 to b - 1, as observed and in each replicate: [b * COLUMNS + r]. */
struct series {
    uint32_t n_builds;
    double *ms, *sizes;
};

static void series_free(struct series *s)
{
    mem_free(s->ms);
    mem_free(s->sizes);
    mem_free(s);
}
DEFINE_AUTO(struct series, series_free)

static void add(double *row, double x, const double *weights)
{
    row[0] += x;
    for (size_t r = 0; r < RATE_REPLICATES; r++)
        row[1 + r] += x * weights[r];
}

static void accumulate(double *rows, uint32_t n_builds)
{
    for (size_t i = COLUMNS; i < (size_t)(n_builds + 1) * COLUMNS; i++)
        rows[i] += rows[i - COLUMNS];
}

static struct series *series_new(const struct rate_data *d, uint32_t n_builds)
{
    struct series *s = mem_alloc(sizeof(*s));
    double weights[RATE_REPLICATES];

    s->n_builds = n_builds;
    s->ms = mem_array((size_t)(n_builds + 1) * COLUMNS, sizeof(double));
    s->sizes = mem_array((size_t)(n_builds + 1) * COLUMNS, sizeof(double));
    for (size_t i = 0; i < d->n_uses; i++) {
        const struct rate_use *u = &d->uses[i];
        double size = d->is_by_hours ? (double)u->used : (double)u->reports;
        rate_weights(d->seed, u->client, weights);
        add(s->sizes + (size_t)(u->group + 1) * COLUMNS, size, weights);
    }
    for (size_t i = 0; i < d->n_hits; i++) {
        rate_weights(d->seed, d->hits[i].client, weights);
        add(s->ms + (size_t)(d->hits[i].group + 1) * COLUMNS, (double)d->hits[i].total_ms, weights);
    }
    accumulate(s->ms, n_builds);
    accumulate(s->sizes, n_builds);
    return s;
}

/** The CUSUM before build `b` of builds from..to-1; *share: how much of their use is before it. */
static double cusum(const struct series *s, uint32_t from, uint32_t to, uint32_t b, size_t column,
                    double *share)
{
    const double *ms = s->ms + column, *sizes = s->sizes + column;
    const size_t f = (size_t)from * COLUMNS, t = (size_t)to * COLUMNS, at = (size_t)b * COLUMNS;
    double size = sizes[t] - sizes[f];

    *share = size > 0 ? (sizes[at] - sizes[f]) / size : 0;
    return ms[at] - ms[f] - (ms[t] - ms[f]) * *share;
}

/** What the replicates say of one series of builds. */
struct search {
    double observed;                /* the largest CUSUM over its spread */
    double chance[RATE_REPLICATES]; /* the largest that chance moved any of them by */
    double largest[COLUMNS]; /* the likeliest place, as observed and in each replicate: … */
    uint32_t place[COLUMNS]; /* … before which build */
};

/** Of a step in the mean the likeliest place is where the CUSUM is largest for how far from the
 *  ends it is; its spread is no guide to that, since the step itself widens it. */
static void place_step(struct search *found, size_t column, uint32_t b, double at, double share)
{
    double size = share * (1 - share);
    double likely = size > 0 ? fabs(at) / sqrt(size) : 0;

    if (likely > found->largest[column]) {
        found->largest[column] = likely;
        found->place[column] = b;
    }
}

static void look_at(const struct series *s, uint32_t from, uint32_t to, uint32_t b,
                    struct search *found)
{
    double at[COLUMNS], squares = 0, share = 0;

    for (size_t r = 0; r < COLUMNS; r++) {
        at[r] = cusum(s, from, to, b, r, &share);
        squares += r ? (at[r] - at[0]) * (at[r] - at[0]) : 0;
        place_step(found, r, b, at[r], share);
    }
    double spread = sqrt(squares / RATE_REPLICATES);
    if (!(spread > 0))
        return;
    found->observed = fmax(found->observed, fabs(at[0]) / spread);
    for (size_t r = 0; r < RATE_REPLICATES; r++)
        found->chance[r] = fmax(found->chance[r], fabs(at[1 + r] - at[0]) / spread);
}

static int by_place(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/** False if there is none. */
static bool split(const struct series *s, uint32_t from, uint32_t to, struct slow_change *out)
{
    struct search *found = mem_alloc(sizeof(*found));
    size_t n_chances = 0;

    for (uint32_t b = from + 1; b < to; b++)
        look_at(s, from, to, b, found);
    uint32_t best = found->place[0];
    for (size_t r = 0; r < RATE_REPLICATES; r++)
        n_chances += found->chance[r] >= found->observed;
    bool is_change = best > 0 && found->observed > 0 && n_chances <= CHANCES_MOST;
    if (is_change) {
        qsort(found->place + 1, RATE_REPLICATES, sizeof(found->place[0]), by_place);
        uint32_t low = found->place[1 + INDEX_LOW], high = found->place[1 + INDEX_HIGH];
        *out = (struct slow_change){.first = best,
                                    .from = from,
                                    .to = to,
                                    .low = low && low < best ? low : best,
                                    .high = high > best ? high : best};
    }
    mem_free(found);
    return is_change;
}

/** The rates on both sides of a change. */
static void rate_change(const struct rate_data *d, struct slow_change *c)
{
    struct rate_data two = *d;

    two.n_rows = 1;
    two.n_uses = two.n_hits = 0;
    two.uses = mem_array(d->n_uses + 1, sizeof(*two.uses));
    two.hits = mem_array(d->n_hits + 1, sizeof(*two.hits));
    for (size_t i = 0; i < d->n_uses; i++) {
        struct rate_use u = d->uses[i];
        if (u.group < c->from || u.group >= c->to)
            continue;
        u.group = u.group >= c->first;
        two.uses[two.n_uses++] = u;
    }
    for (size_t i = 0; i < d->n_hits; i++) {
        struct rate_hit h = d->hits[i];
        if (h.group < c->from || h.group >= c->to)
            continue;
        h.row = 0;
        h.group = h.group >= c->first;
        two.hits[two.n_hits++] = h;
    }
    rates_compare(&two, &c->rate);
    mem_free(two.uses);
    mem_free(two.hits);
}

static void search(const struct rate_data *d, const struct series *s, uint32_t from, uint32_t to,
                   struct slow_change *out, size_t *n)
{
    struct slow_change c;

    if (*n == CHANGES_MOST || to - from < 2 || !split(s, from, to, &c))
        return;
    rate_change(d, &c);
    search(d, s, from, c.first, out, n);
    bool is_worth_it = c.rate.verdict == RATE_IMPROVED || c.rate.verdict == RATE_REGRESSED;
    if (is_worth_it && *n < CHANGES_MOST)
        out[(*n)++] = c;
    search(d, s, c.first, to, out, n);
}

enum err_code slow_changes_find(const struct rate_data *d, uint32_t n_builds,
                                struct slow_change out[CHANGES_MOST], size_t *n_out, struct err *e)
{
    if (n_builds > CHANGE_BUILDS) {
        err_set(e, ERR_LIMIT, "%u builds are more than the %d in which changes are looked for",
                n_builds, CHANGE_BUILDS);
        return err_hint(e, "Name fewer with --build FROM..TO, or one channel with --channel.");
    }

    AUTO(series_free) struct series *s = series_new(d, n_builds);
    *n_out = 0;
    search(d, s, 0, n_builds, out, n_out);
    return ERR_OK;
}
