/* SPDX-License-Identifier: Apache-2.0 */
#include "store/points.h"

#include "base/mem.h"
#include "store/db.h"
#include <stdlib.h>
#include <string.h>

void series_list_fini(struct series_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->items[i].host);
    mem_free(l->items);
    *l = (struct series_list){0};
}

void point_list_fini(struct point_list *l)
{
    mem_free(l->items);
    *l = (struct point_list){0};
}

/* ---- writing ---- */

static enum err_code series_of(struct store *s, const struct points *p, int64_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(mem_free) char *host = mem_printf(POINTS_HOST "%s", p->host);
    const struct cell cells[] = {cell_text(p->project), cell_text(p->metric),
                                 cell_text(p->platform), cell_text(host)};
    enum err_code code = db_run(s,
                                "INSERT INTO series (project, metric, platform, host)"
                                " VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
                                cells, LEN(cells), NULL, e);
    if (!code)
        code = db_first(s, &q,
                        "SELECT id FROM series WHERE project = ?1 AND metric = ?2"
                        " AND platform = ?3 AND host = ?4",
                        cells, LEN(cells), e);
    if (!code)
        *out = query_int(&q, 0);
    return code;
}

/* One sequence numbers samples and points: SQLite keeps it for the table samples. */
static enum err_code read_sequence(struct store *s, int64_t *seq, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(
        s, &q, "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'samples'), 0)",
        NO_CELLS, e);
    if (!code)
        *seq = query_int(&q, 0);
    return code;
}

static enum err_code write_sequence(struct store *s, int64_t seq, struct err *e)
{
    int64_t n = 0;
    enum err_code code = db_run(s, "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'samples'",
                                CELLS(cell_int(seq)), &n, e);
    if (!code && !n)
        code = db_run(s, "INSERT INTO sqlite_sequence (name, seq) VALUES ('samples', ?1)",
                      CELLS(cell_int(seq)), NULL, e);
    return code;
}

static enum err_code add_point(struct store *s, int64_t series, const struct point *p,
                               struct utc now, int64_t *seq, struct err *e)
{
    int64_t n = 0;
    enum err_code code =
        db_run(s,
               "INSERT INTO points (seq, series, revision, at_ns, value, nth, stored_ns)"
               " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
               CELLS(cell_int(*seq + 1), cell_int(series), cell_text(p->revision.hex),
                     cell_int(p->at.ns), cell_real(p->value), cell_int(p->nth), cell_int(now.ns)),
               &n, e);
    *seq += n;
    return code;
}

enum err_code store_points_add(struct store *s, const struct points *p, struct utc now,
                               struct points_added *out, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    int64_t series = 0, first = 0;

    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = series_of(s, p, &series, e);
    if (!code)
        code = read_sequence(s, &first, e);
    int64_t seq = first;
    for (size_t i = 0; !code && i < p->n; i++)
        code = add_point(s, series, &p->items[i], now, &seq, e);
    if (!code && seq > first)
        code = write_sequence(s, seq, e);
    if (!code)
        code = unit_keep(&u, e);
    if (code)
        return code;
    out->n_added = (size_t)(seq - first);
    out->n_known = p->n - out->n_added;
    return ERR_OK;
}

/* ---- reading ---- */

enum err_code store_series_list(struct store *s, const char *project, const char *metric,
                                const char *platform, struct series_list *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(series_list_fini) struct series_list l = {0};
    enum err_code code =
        db_query(s, &q,
                 "SELECT id, host FROM series WHERE project = ?1"
                 " AND metric = ?2 AND platform = ?3 ORDER BY id",
                 CELLS(cell_text(project), cell_text(metric), cell_text(platform)), e);
    while (!code && query_next(&q)) {
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        l.items[l.n++] = (struct series_row){query_int(&q, 0), query_dup(&q, 1)};
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct series_list){0};
    return ERR_OK;
}

static enum err_code take_point(struct query *q, struct point_list *l, struct err *e)
{
    if (l->n == l->cap) {
        l->cap = 2 * l->cap + 64;
        l->items = mem_resize(l->items, l->cap, sizeof(*l->items));
    }
    struct point *p = &l->items[l->n];
    *p = (struct point){
        .at = {query_int(q, 1)}, .value = query_real(q, 2), .nth = (uint32_t)query_int(q, 3)};
    if (revision_parse(query_text(q, 0), &p->revision, e))
        return err_wrap(e, "point");
    l->n++;
    return ERR_OK;
}

#define POINT_COLUMNS "SELECT revision, at_ns, value, nth FROM points WHERE series = ?1"

/** All rows of a query, or with `known` those of the range. */
static enum err_code take_points(struct query *q, const struct range_index *known,
                                 struct point_list *l, struct err *e)
{
    enum err_code code = ERR_OK;

    while (!code && query_next(q)) {
        code = take_point(q, l, e);
        if (!code && known && range_index_find(known, &l->items[l->n - 1].revision) == UINT32_MAX)
            l->n--;
    }
    return code ? code : query_check(q, e);
}

static enum err_code scan_all(struct store *s, int64_t series, const struct range_index *known,
                              struct point_list *l, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(s, &q, POINT_COLUMNS, CELLS(cell_int(series)), e);

    return code ? code : take_points(&q, known, l, e);
}

static enum err_code look_up_each(struct store *s, int64_t series, const struct range *range,
                                  struct point_list *l, struct err *e)
{
    for (uint32_t v = 0; v < range->n; v++) {
        AUTO(query_end) struct query q = {0};
        if (db_query(s, &q, POINT_COLUMNS " AND revision = ?2",
                     CELLS(cell_int(series), cell_text(range->commits[v].id.hex)), e) ||
            take_points(&q, NULL, l, e))
            return e->code;
    }
    return ERR_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->at.ns != y->at.ns)
        return x->at.ns < y->at.ns ? -1 : 1;
    int order = strcmp(x->revision.hex, y->revision.hex);
    if (order)
        return order;
    return x->value != y->value ? (x->value < y->value ? -1 : 1) : (int)x->nth - (int)y->nth;
}

static void hand_out(struct point_list *l, struct point_list *out)
{
    if (l->n)
        qsort(l->items, l->n, sizeof(*l->items), by_time);
    *out = *l;
    *l = (struct point_list){0};
}

enum err_code store_points_within(struct store *s, int64_t series, const struct range *range,
                                  const struct range_index *known, struct point_list *out,
                                  struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(point_list_fini) struct point_list l = {0};
    /* A look-up costs some ten rows of a scan. */
    enum err_code code =
        db_first(s, &q, "SELECT count(*) FROM (SELECT 1 FROM points WHERE series = ?1 LIMIT ?2)",
                 CELLS(cell_int(series), cell_int(10 * (int64_t)range->n)), e);
    if (code)
        return code;
    bool is_short = query_int(&q, 0) < 10 * (int64_t)range->n;
    query_end(&q);
    code = is_short ? scan_all(s, series, known, &l, e) : look_up_each(s, series, range, &l, e);
    if (!code)
        hand_out(&l, out);
    return code;
}

enum err_code store_points_beside(struct store *s, int64_t series, enum points_side side,
                                  struct utc at, size_t limit, struct point_list *out,
                                  struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(point_list_fini) struct point_list l = {0};
    const char *sql = side == POINTS_BEFORE
                          ? POINT_COLUMNS " AND at_ns < ?2 ORDER BY at_ns DESC LIMIT ?3"
                          : POINT_COLUMNS " AND at_ns > ?2 ORDER BY at_ns LIMIT ?3";
    enum err_code code =
        db_query(s, &q, sql, CELLS(cell_int(series), cell_int(at.ns), cell_int((int64_t)limit)), e);
    if (!code)
        code = take_points(&q, NULL, &l, e);
    if (!code)
        hand_out(&l, out);
    return code;
}
