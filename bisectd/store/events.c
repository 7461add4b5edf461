/* SPDX-License-Identifier: Apache-2.0 */
#include "store/events.h"

#include "base/mem.h"
#include "store/chain.h"
#include "store/db.h"

void event_list_fini(struct event_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        mem_free(l->items[i].kind);
        json_free(l->items[i].payload);
    }
    mem_free(l->items);
    *l = (struct event_list){0};
}

enum err_code store_event_append(struct store *s, const char *bisection, const char *kind,
                                 const json *payload, struct utc now, int64_t *seq, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    AUTO(mem_free) char *text = payload ? column_of_json(payload) : NULL;
    struct chain chain;

    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = chain_begin(s, CHAIN_EVENTS, bisection, &chain, e);
    if (code)
        return code;
    int64_t next = chain.n + 1;
    code = chain_add(s, &chain,
                     CELLS(cell_text(bisection), cell_int(next), cell_int(now.ns), cell_text(kind),
                           cell_text(text)),
                     e);
    if (!code)
        code = chain_end(s, &chain, e);
    if (!code)
        code = unit_keep(&u, e);
    if (code == ERR_CONFLICT)
        return not_found(e, "bisection", bisection);
    if (!code && seq)
        *seq = next;
    return code;
}

enum err_code store_event_list(struct store *s, const char *bisection, int64_t after,
                               struct event_list *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(event_list_fini) struct event_list l = {0};
    enum err_code code = db_query(s, &q,
                                  "SELECT seq, utc_ns, kind, payload FROM events"
                                  " WHERE bisection = ?1 AND seq > ?2 ORDER BY seq",
                                  CELLS(cell_text(bisection), cell_int(after)), e);
    while (!code && query_next(&q)) {
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        struct event_row *row = &l.items[l.n++];
        *row = (struct event_row){
            .seq = query_int(&q, 0), .at = {query_int(&q, 1)}, .kind = query_dup(&q, 2)};
        code = json_of_column(query_text(&q, 3), &row->payload, e);
        if (code)
            err_wrap(e, "event %lld of bisection %.80s", (long long)row->seq, bisection);
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct event_list){0};
    return ERR_OK;
}
