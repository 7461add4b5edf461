/* SPDX-License-Identifier: Apache-2.0 */
#include "app/imported.h"
#include "base/mem.h"
#include "search/series.h"
#include "store/points.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many of the points beside the range are looked at, to see where the level of an end begins. */
enum { LOOKED_AT = 3 * SERIES_BESIDE };

/** A series with its points around and in the range, in order of time. */
struct source {
    const char *host;
    int64_t series;
    struct point_list points;
    size_t n_within;
};

static void sources_fini(struct source *sources, size_t n)
{
    for (size_t i = 0; i < n; i++)
        point_list_fini(&sources[i].points);
    mem_free(sources);
}

/* A pass or a failure is a run of such a metric; a share of failures is none. */
static bool is_usable(const struct metric *m, double value)
{
    return !metric_kinds[m->kind].is_rate || value == 0 || value == 1;
}

/* One slip of whoever wrote the series says more than all that the search could measure. */
static double limit_of(const struct point_list *l)
{
    double *values = mem_array(l->n + 1, sizeof(*values));

    for (size_t i = 0; i < l->n; i++)
        values[i] = l->items[i].value;
    double limit = series_limit(values, l->n);
    mem_free(values);
    return limit;
}

static void drop_unusable(const struct metric *m, struct point_list *l)
{
    double limit = limit_of(l);
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (is_usable(m, l->items[i].value) && fabs(l->items[i].value) <= limit)
            l->items[n++] = l->items[i];
    l->n = n;
}

/* Puts `more` before or behind what is there; both are in order of time. */
static void join(struct point_list *l, const struct point_list *more, enum points_side side)
{
    size_t n = l->n + more->n;
    struct point *items = mem_array(n + 1, sizeof(*items));
    const struct point_list *first = side == POINTS_BEFORE ? more : l;
    const struct point_list *second = side == POINTS_BEFORE ? l : more;

    if (first->n)
        memcpy(items, first->items, first->n * sizeof(*items));
    if (second->n)
        memcpy(items + first->n, second->items, second->n * sizeof(*items));
    mem_free(l->items);
    *l = (struct point_list){.n = n, .cap = n + 1, .items = items};
}

static enum err_code add_beside(struct store *s, const struct metric *m, struct source *from,
                                enum points_side side, struct err *e)
{
    AUTO(point_list_fini) struct point_list more = {0};
    struct utc at = from->points.items[side == POINTS_BEFORE ? 0 : from->points.n - 1].at;

    if (store_points_beside(s, from->series, side, at, LOOKED_AT, &more, e))
        return e->code;
    join(&from->points, &more, side);
    drop_unusable(m, &from->points);
    return ERR_OK;
}

static int by_n_within(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    if (x->n_within != y->n_within)
        return x->n_within > y->n_within ? -1 : 1;
    return x->series < y->series ? -1 : 1;
}

/** A point and the commit of the range that it is of. */
struct placed {
    struct point point;
    uint32_t commit;
};

/* Commits of one moment (a day, where the source has no more) are in the order of the history. */
static int by_time(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;

    if (x->point.at.ns != y->point.at.ns)
        return x->point.at.ns < y->point.at.ns ? -1 : 1;
    if (x->commit != y->commit)
        return x->commit < y->commit ? -1 : 1;
    return (int)x->point.nth - (int)y->point.nth;
}

static struct placed *place_points(const struct range *range, const struct range_index *known,
                                   const struct source *from)
{
    struct placed *placed = mem_array(from->points.n, sizeof(*placed));

    for (size_t i = 0; i < from->points.n; i++) {
        uint32_t v = range_index_find(known, &from->points.items[i].revision);
        bool is_plain = v != UINT32_MAX && range->commits[v].fixups == 0;
        placed[i] = (struct placed){from->points.items[i], is_plain ? v : SERIES_OUTSIDE};
    }
    qsort(placed, from->points.n, sizeof(*placed), by_time);
    return placed;
}

static void add_sample(const struct request *r, const struct source *from,
                       const struct placed *placed, const struct revision *revision,
                       struct sample_list *out)
{
    struct sample_row *row = &out->items[out->n++];

    *row = (struct sample_row){
        .project = mem_dup(r->project->name),
        .metric = mem_dup(r->metric),
        .revision = *revision,
        .run = {.status = RUN_OK, .value = placed->point.value, .at = placed->point.at},
        .environment = {.host = mem_dup(from->host), .platform = mem_dup(r->platform)},
    };
}

/* Pre: there is a point. */
static void choose(const struct request *r, const struct range *range,
                   const struct range_index *known, const struct source *from, uint32_t most,
                   struct sample_list *out)
{
    size_t n = from->points.n;
    struct placed *placed = place_points(range, known, from);
    struct series_point *points = mem_array(n, sizeof(*points));
    uint32_t *as = mem_array(n, sizeof(*as));

    for (size_t i = 0; i < n; i++) {
        points[i] = (struct series_point){placed[i].commit, placed[i].point.value};
        /* The search has an order of its own for runs of one moment. */
        if (i > 0 && placed[i].point.at.ns <= placed[i - 1].point.at.ns)
            placed[i].point.at.ns = placed[i - 1].point.at.ns + 1;
    }
    const struct series s = {.n = n,
                             .points = points,
                             .n_commits = range->n,
                             .good = range->good,
                             .bad = range->bad,
                             .most = most};
    series_choose(&s, as);
    out->items = mem_resize(out->items, out->n + n + 1, sizeof(*out->items));
    for (size_t i = 0; i < n; i++)
        if (as[i] != SERIES_OUTSIDE)
            add_sample(r, from, &placed[i], &range->commits[as[i]].id, out);
    mem_free(placed);
    mem_free(points);
    mem_free(as);
}

static enum err_code read_source(struct store *s, const struct metric *m, const struct range *range,
                                 const struct range_index *known, struct source *to, struct err *e)
{
    if (store_points_within(s, to->series, range, known, &to->points, e))
        return e->code;
    drop_unusable(m, &to->points);
    to->n_within = to->points.n;
    return ERR_OK;
}

enum err_code imported_evidence(struct store *s, const struct request *r, const struct range *range,
                                const struct range_index *known, struct sample_list *out,
                                struct err *e)
{
    AUTO(series_list_fini) struct series_list list = {0};
    const struct metric *m = request_metric(r);
    enum err_code code = store_series_list(s, r->project->name, r->metric, r->platform, &list, e);
    struct source *sources = mem_array(list.n + 1, sizeof(*sources));
    size_t n = 0;

    for (; !code && n < list.n; n++) {
        sources[n] = (struct source){.host = list.items[n].host, .series = list.items[n].id};
        code = read_source(s, m, range, known, &sources[n], e);
    }
    if (n > 1)
        qsort(sources, n, sizeof(*sources), by_n_within);
    size_t n_used = 0;
    while (n_used < n && n_used < IMPORTED_SERIES && sources[n_used].n_within > 0)
        n_used++;
    for (size_t i = 0; !code && i < n_used; i++) {
        code = add_beside(s, m, &sources[i], POINTS_BEFORE, e);
        if (!code)
            code = add_beside(s, m, &sources[i], POINTS_AFTER, e);
        if (!code)
            choose(r, range, known, &sources[i], SERIES_COMMITS / (uint32_t)n_used, out);
    }
    sources_fini(sources, n);
    return code;
}
