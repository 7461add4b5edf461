/* SPDX-License-Identifier: Apache-2.0 */
#include "store/workers.h"

#include "base/mem.h"
#include "store/db.h"

/* A worker asks and renews often; what is shown need not be newer than this. */
#define SEEN_STEP_NS (5 * NS_PER_S)

void worker_list_fini(struct worker_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct worker_row *w = &l->items[i];
        mem_free(w->name);
        mem_free(w->host);
        mem_free(w->platform);
        mem_free(w->engine);
        strings_fini(&w->tags);
        mem_free(w->task);
        mem_free(w->activity);
    }
    mem_free(l->items);
    *l = (struct worker_list){0};
}

enum err_code store_worker_seen(struct store *s, const struct lease_wish *w, struct utc at,
                                struct err *e)
{
    AUTO(mem_free) char *tags = column_of_strings(w->tags);
    return db_run(
        s,
        "INSERT INTO workers (name, host, platform, engine, tags, seen_ns)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        " ON CONFLICT (name) DO UPDATE SET host = excluded.host, platform = excluded.platform,"
        " engine = excluded.engine, tags = excluded.tags, seen_ns = excluded.seen_ns"
        " WHERE abs(excluded.seen_ns - seen_ns) > ?7 OR host <> excluded.host"
        " OR platform <> excluded.platform OR engine <> excluded.engine"
        " OR tags IS NOT excluded.tags",
        CELLS(cell_text(w->worker), cell_text(w->host), cell_text(w->platform),
              cell_text(w->engine), cell_text(tags), cell_int(at.ns), cell_int(SEEN_STEP_NS)),
        NULL, e);
}

enum err_code store_worker_list(struct store *s, struct utc at, struct worker_list *out,
                                struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(worker_list_fini) struct worker_list l = {0};
    enum err_code code = db_query(
        s, &q,
        "SELECT w.name, w.host, w.platform, w.engine, w.tags, w.seen_ns, w.draining, l.task,"
        " l.activity FROM workers AS w LEFT JOIN leases AS l ON l.state = 'open' AND l.fence ="
        " (SELECT max(fence) FROM leases WHERE state = 'open' AND worker = w.name)"
        " ORDER BY w.name",
        NO_CELLS, e);
    while (!code && query_next(&q)) {
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        struct worker_row *w = &l.items[l.n++];
        *w = (struct worker_row){
            .name = query_dup(&q, 0),
            .host = query_dup(&q, 1),
            .platform = query_dup(&q, 2),
            .engine = query_dup(&q, 3),
            .seen = {query_int(&q, 5)},
            .is_draining = query_int(&q, 6),
            .is_live = query_int(&q, 5) > at.ns - WORKER_LIVE_NS,
            .task = query_dup(&q, 7),
            .activity = query_dup(&q, 8),
        };
        code = strings_of_column(query_text(&q, 4), &w->tags, e);
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct worker_list){0};
    return ERR_OK;
}

enum err_code store_worker_count(struct store *s, const char *platform, struct utc at,
                                 uint32_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q,
                                  "SELECT count(*) FROM workers"
                                  " WHERE platform = ?1 AND seen_ns > ?2 AND NOT draining",
                                  CELLS(cell_text(platform), cell_int(at.ns - WORKER_LIVE_NS)), e);
    if (!code)
        *out = (uint32_t)query_int(&q, 0);
    return code;
}

enum err_code store_worker_drain(struct store *s, const char *name, bool is_draining, struct err *e)
{
    int64_t n = 0;
    enum err_code code = db_run(s, "UPDATE workers SET draining = ?2 WHERE name = ?1",
                                CELLS(cell_text(name), cell_int(is_draining)), &n, e);
    if (!code && !n)
        return not_found(e, "worker", name);
    return code;
}

enum err_code store_worker_remove(struct store *s, const char *name, struct err *e)
{
    return db_run(s, "DELETE FROM workers WHERE name = ?1", CELLS(cell_text(name)), NULL, e);
}
