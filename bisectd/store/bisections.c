/* SPDX-License-Identifier: Apache-2.0 */
#include "store/bisections.h"

#include "base/mem.h"
#include "base/stream.h"
#include "store/db.h"
#include <stdio.h>
#include <string.h>

#define MAX_LIST        1000
#define MAX_RANGE_BYTES ((size_t)1024 * MIB)

void bisection_row_free(struct bisection_row *b)
{
    if (!b)
        return;
    mem_free(b->project);
    mem_free(b->metric);
    mem_free(b->platform);
    request_free(b->request);
    mem_free(b->message);
    json_free(b->verdict);
    mem_free(b);
}

void bisection_list_fini(struct bisection_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        bisection_row_free(l->items[i]);
    mem_free(l->items);
    *l = (struct bisection_list){0};
}

enum err_code store_bisection_create(struct store *s, const struct request *request, struct utc now,
                                     struct id *out, struct err *e)
{
    const struct metric *metric = request_metric(request);
    if (!metric)
        return err_set(e, ERR_INVALID, "project %s has no metric %s", request->project->name,
                       request->metric);

    AUTO(json_free) json *document = request_to_json(request);
    AUTO(mem_free) char *text = column_of_json(document);
    struct digest key = request_key(request);
    struct digest build_key = project_build_key(request->project);
    struct digest measure_key = project_measure_key(request->project, metric);
    struct id id = id_new();

    enum err_code code = db_run(
        s,
        "INSERT INTO bisections (id, state, request_key, build_key, measure_key, project, metric,"
        " platform, request, created_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        CELLS(cell_text(id.text), cell_text(bisection_state_name(BISECTION_QUEUED)),
              cell_text(key.hex), cell_text(build_key.hex), cell_text(measure_key.hex),
              cell_text(request->project->name), cell_text(request->metric),
              cell_text(request->platform), cell_text(text), cell_int(now.ns)),
        NULL, e);
    if (code == ERR_CONFLICT)
        return err_set(e, ERR_CONFLICT, "an unfinished bisection asks the same question");
    if (!code)
        *out = id;
    return code;
}

enum err_code store_bisection_find(struct store *s, const struct digest *request_key,
                                   struct id *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT id FROM bisections WHERE request_key = ?1"
                                  " AND state NOT IN ('done', 'canceled')",
                                  CELLS(cell_text(request_key->hex)), e);
    if (!code)
        *out = query_id(&q, 0);
    return code;
}

#define COLUMNS                                                                                    \
    "b.id, b.state, b.request_key, b.build_key, b.measure_key, b.project, b.metric, b.platform,"   \
    " b.created_ns, b.finished_ns, b.used_ns, b.message, v.verdict, b.request, b.when_idle"
#define TABLES "bisections AS b LEFT JOIN verdicts AS v ON v.bisection = b.id"

static struct digest digest_of(struct query *q, int column)
{
    struct digest d = {""};
    const char *text = query_text(q, column);
    if (text)
        snprintf(d.hex, sizeof(d.hex), "%s", text);
    return d;
}

enum row_depth { ROW_LIST, ROW_WHOLE };

static enum err_code read_row(struct query *q, enum row_depth depth, struct bisection_row **out,
                              struct err *e)
{
    AUTO(bisection_row_free) struct bisection_row *b = mem_alloc(sizeof(*b));
    b->id = query_id(q, 0);
    b->request_key = digest_of(q, 2);
    b->build_key = digest_of(q, 3);
    b->measure_key = digest_of(q, 4);
    b->project = query_dup(q, 5);
    b->metric = query_dup(q, 6);
    b->platform = query_dup(q, 7);
    b->created.ns = query_int(q, 8);
    b->finished.ns = query_int(q, 9);
    b->used_ns = query_int(q, 10);
    b->message = query_dup(q, 11);
    b->when_idle = query_int(q, 14);

    enum err_code code = bisection_state_parse(query_text(q, 1), &b->state, e);
    if (!code)
        code = json_of_column(query_text(q, 12), &b->verdict, e);
    if (!code && depth == ROW_WHOLE) {
        AUTO(json_free) json *document = NULL;
        code = json_of_column(query_text(q, 13), &document, e);
        if (!code)
            code = request_from_json(document, &b->request, e);
    }
    if (code)
        return err_wrap(e, "bisection %s", b->id.text);
    *out = TAKE(b);
    return ERR_OK;
}

enum err_code store_bisection_load(struct store *s, const char *id, struct bisection_row **out,
                                   struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "SELECT " COLUMNS " FROM " TABLES " WHERE b.id = ?1",
                                  CELLS(cell_text(id)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "bisection", id);
    return code ? code : read_row(&q, ROW_WHOLE, out, e);
}

/** All rows, or `limit` of them and whether there are more. */
static enum err_code read_rows(struct query *q, enum row_depth depth, size_t limit,
                               struct bisection_list *out, struct err *e)
{
    AUTO(bisection_list_fini) struct bisection_list l = {0};
    while (query_next(q)) {
        if (l.n == limit) {
            l.has_more = true;
            break;
        }
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        enum err_code code = read_row(q, depth, &l.items[l.n], e);
        if (code)
            return code;
        l.n++;
    }
    enum err_code code = query_check(q, e);
    if (code)
        return code;
    *out = l;
    l = (struct bisection_list){0};
    return ERR_OK;
}

/** `after` as a row number. */
static enum err_code find_cursor(struct store *s, const char *after, int64_t *seq, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    *seq = INT64_MAX;
    if (!after)
        return ERR_OK;
    enum err_code code =
        db_first(s, &q, "SELECT seq FROM bisections WHERE id = ?1", CELLS(cell_text(after)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "bisection", after);
    if (!code)
        *seq = query_int(&q, 0);
    return code;
}

enum err_code store_bisection_list(struct store *s, enum bisection_kind kind, size_t limit,
                                   const char *after, struct bisection_list *out, struct err *e)
{
    int64_t before = 0;
    if (limit == 0 || limit > MAX_LIST)
        limit = MAX_LIST;
    enum err_code code = find_cursor(s, after, &before, e);
    if (code)
        return code;

    AUTO(query_end) struct query q = {0};
    code = db_query(
        s, &q,
        "SELECT " COLUMNS " FROM " TABLES " WHERE b.seq < ?1"
        " AND coalesce(b.request ->> '$.comparison', 0) = ?3 ORDER BY b.seq DESC LIMIT ?2",
        CELLS(cell_int(before), cell_int((int64_t)limit + 1), cell_int(kind == KIND_COMPARISON)),
        e);
    return code ? code : read_rows(&q, ROW_LIST, limit, out, e);
}

enum err_code store_bisection_unfinished(struct store *s, struct bisection_list *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(s, &q,
                                  "SELECT " COLUMNS " FROM " TABLES
                                  " WHERE b.state IN ('queued', 'resolving', 'running')"
                                  " ORDER BY b.seq",
                                  NO_CELLS, e);
    return code ? code : read_rows(&q, ROW_WHOLE, SIZE_MAX, out, e);
}

/* The diagram of model/bisection.h: which states may follow. */
/* clang-format off */
static const bool may_follow[5][5] = {
    [BISECTION_QUEUED]    = {[BISECTION_QUEUED] = true, [BISECTION_RESOLVING] = true, [BISECTION_RUNNING] = true,
                             [BISECTION_DONE] = true, [BISECTION_CANCELED] = true},
    [BISECTION_RESOLVING] = {[BISECTION_RESOLVING] = true, [BISECTION_RUNNING] = true,
                             [BISECTION_DONE] = true, [BISECTION_CANCELED] = true},
    [BISECTION_RUNNING]   = {[BISECTION_RUNNING] = true, [BISECTION_DONE] = true, [BISECTION_CANCELED] = true},
    [BISECTION_DONE]      = {[BISECTION_DONE] = true},
    [BISECTION_CANCELED]  = {[BISECTION_CANCELED] = true},
};
/* clang-format on */

static enum err_code load_state(struct store *s, const char *id, enum bisection_state *out,
                                struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q, "SELECT state FROM bisections WHERE id = ?1", CELLS(cell_text(id)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "bisection", id);
    return code ? code : bisection_state_parse(query_text(&q, 0), out, e);
}

enum err_code store_bisection_set_state(struct store *s, const char *id, enum bisection_state state,
                                        const char *message, struct utc now, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    enum bisection_state from = state;
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = load_state(s, id, &from, e);
    if (code)
        return code;
    if (!may_follow[from][state])
        return err_set(e, ERR_CONFLICT, "bisection %.80s is %s and cannot become %s", id,
                       bisection_state_name(from), bisection_state_name(state));

    bool ends = from != state && (state == BISECTION_DONE || state == BISECTION_CANCELED);
    code = db_run(s,
                  "UPDATE bisections SET state = ?2, message = coalesce(?3, message),"
                  " finished_ns = coalesce(?4, finished_ns) WHERE id = ?1",
                  CELLS(cell_text(id), cell_text(bisection_state_name(state)), cell_text(message),
                        ends ? cell_int(now.ns) : cell_text(NULL)),
                  NULL, e);
    return code ? code : unit_keep(&u, e);
}

enum err_code store_bisection_use(struct store *s, const char *id, int64_t ns, struct err *e)
{
    int64_t n = 0;
    enum err_code code = db_run(s, "UPDATE bisections SET used_ns = used_ns + ?2 WHERE id = ?1",
                                CELLS(cell_text(id), cell_int(ns)), &n, e);
    if (!code && !n)
        return not_found(e, "bisection", id);
    return code;
}

enum err_code store_bisection_set_when_idle(struct store *s, const char *id, bool when_idle,
                                            struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    int64_t n = 0;
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = db_run(s, "UPDATE bisections SET when_idle = ?2 WHERE id = ?1",
                      CELLS(cell_text(id), cell_int(when_idle)), &n, e);
    if (!code && !n)
        return not_found(e, "bisection", id);
    if (!code)
        code = db_run(s, "UPDATE tasks SET when_idle = ?2 WHERE bisection = ?1",
                      CELLS(cell_text(id), cell_int(when_idle)), NULL, e);
    return code ? code : unit_keep(&u, e);
}

void packed_range_fini(struct packed_range *p)
{
    buf_fini(&p->zstd);
    *p = (struct packed_range){0};
}

enum err_code store_range_pack(const struct range *range, struct packed_range *out, struct err *e)
{
    AUTO(buf_fini) struct buf plain = {0};

    range_write(range, &plain);
    if (plain.len > MAX_RANGE_BYTES)
        return err_set(e, ERR_LIMIT, "a range of %u commits is too large to store", range->n);
    *out = (struct packed_range){.n_plain = plain.len};
    zstd_pack(plain.data, plain.len, &out->zstd);
    return ERR_OK;
}

enum err_code store_range_put_packed(struct store *s, const char *bisection,
                                     const struct packed_range *range, struct err *e)
{
    enum err_code code =
        db_run(s,
               "INSERT INTO ranges (bisection, bytes, zstd) VALUES (?1, ?2, ?3)"
               " ON CONFLICT DO UPDATE SET bytes = excluded.bytes, zstd = excluded.zstd",
               CELLS(cell_text(bisection), cell_int((int64_t)range->n_plain),
                     cell_blob(range->zstd.data, range->zstd.len)),
               NULL, e);
    return code == ERR_CONFLICT ? not_found(e, "bisection", bisection) : code;
}

enum err_code store_range_put(struct store *s, const char *bisection, const struct range *range,
                              struct err *e)
{
    AUTO(packed_range_fini) struct packed_range packed = {0};

    if (store_range_pack(range, &packed, e))
        return e->code;
    return store_range_put_packed(s, bisection, &packed, e);
}

static enum err_code unpack_range(struct query *q, struct range **out, struct err *e)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(json_free) json *document = NULL;
    size_t n = 0;
    const void *packed = query_blob(q, 0, &n);

    enum err_code code = zstd_unpack(packed, n, MAX_RANGE_BYTES, &plain, e);
    if (!code)
        code = json_parse(buf_str(&plain), plain.len, &document, e);
    return code ? code : range_from_json(document, out, e);
}

enum err_code store_range_get(struct store *s, const char *bisection, struct range **out,
                              struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "SELECT zstd FROM ranges WHERE bisection = ?1",
                                  CELLS(cell_text(bisection)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "range of bisection", bisection);
    if (!code && unpack_range(&q, out, e))
        return err_wrap(e, "range of bisection %.80s", bisection);
    return code;
}
