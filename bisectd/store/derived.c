/* SPDX-License-Identifier: Apache-2.0 */
#include "store/derived.h"

#include "base/mem.h"
#include "store/db.h"

/** The cells of `sql`: bisection, document, then `numbers`. */
static enum err_code put(struct store *s, const char *sql, const char *bisection,
                         const json *document, const int64_t *numbers, size_t n, struct err *e)
{
    AUTO(mem_free) char *text = column_of_json(document);
    struct cell cells[4] = {cell_text(bisection), cell_text(text)};
    for (size_t i = 0; i < n; i++)
        cells[2 + i] = cell_int(numbers[i]);
    enum err_code code = db_run(s, sql, cells, 2 + n, NULL, e);
    return code == ERR_CONFLICT ? not_found(e, "bisection", bisection) : code;
}

enum err_code store_decision_put(struct store *s, const char *bisection, uint32_t ordinal,
                                 int64_t after_seq, const json *spec, struct err *e)
{
    return put(s,
               "INSERT OR REPLACE INTO decisions (bisection, spec, ordinal, after_seq)"
               " VALUES (?1, ?2, ?3, ?4)",
               bisection, spec, (const int64_t[]){ordinal, after_seq}, 2, e);
}

enum err_code store_posterior_put(struct store *s, const char *bisection, int64_t seq,
                                  const json *posterior, struct err *e)
{
    return put(s,
               "INSERT OR REPLACE INTO posteriors (bisection, posterior, seq) VALUES (?1, ?2, ?3)",
               bisection, posterior, &seq, 1, e);
}

enum err_code store_verdict_put(struct store *s, const char *bisection, const json *verdict,
                                struct err *e)
{
    return put(s, "INSERT OR REPLACE INTO verdicts (bisection, verdict) VALUES (?1, ?2)", bisection,
               verdict, NULL, 0, e);
}

static enum err_code read_decision(struct query *q, json *list, struct err *e)
{
    json *spec = NULL;
    enum err_code code = json_of_column(query_text(q, 2), &spec, e);
    if (code)
        return code;
    json *item = json_new_object();
    json_put(item, "ordinal", json_new_int(query_int(q, 0)));
    json_put(item, "after_seq", json_new_int(query_int(q, 1)));
    json_push(list, json_put(item, "spec", spec));
    return ERR_OK;
}

static enum err_code read_posterior(struct query *q, json *list, struct err *e)
{
    json *posterior = NULL;
    enum err_code code = json_of_column(query_text(q, 1), &posterior, e);
    if (code)
        return code;
    json *item = json_new_object();
    json_put(item, "seq", json_new_int(query_int(q, 0)));
    json_push(list, json_put(item, "posterior", posterior));
    return ERR_OK;
}

static enum err_code list_rows(struct store *s, const char *sql, const char *bisection,
                               enum err_code (*read)(struct query *, json *, struct err *),
                               json **out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(json_free) json *list = json_new_array();
    enum err_code code = db_query(s, &q, sql, CELLS(cell_text(bisection)), e);
    while (!code && query_next(&q))
        code = read(&q, list, e);
    if (!code)
        code = query_check(&q, e);
    if (!code)
        *out = TAKE(list);
    return code;
}

enum err_code store_decision_list(struct store *s, const char *bisection, json **out, struct err *e)
{
    return list_rows(s,
                     "SELECT ordinal, after_seq, spec FROM decisions WHERE bisection = ?1"
                     " ORDER BY ordinal",
                     bisection, read_decision, out, e);
}

enum err_code store_posterior_list(struct store *s, const char *bisection, json **out,
                                   struct err *e)
{
    return list_rows(s, "SELECT seq, posterior FROM posteriors WHERE bisection = ?1 ORDER BY seq",
                     bisection, read_posterior, out, e);
}

enum err_code store_verdict_get(struct store *s, const char *bisection, json **out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "SELECT verdict FROM verdicts WHERE bisection = ?1",
                                  CELLS(cell_text(bisection)), e);
    if (code == ERR_NOT_FOUND) {
        *out = NULL;
        return ERR_OK;
    }
    return code ? code : json_of_column(query_text(&q, 0), out, e);
}

enum err_code store_derived_clear(struct store *s, const char *bisection, struct err *e)
{
    static const char *const sql[] = {
        "DELETE FROM decisions WHERE bisection = ?1",
        "DELETE FROM posteriors WHERE bisection = ?1",
        "DELETE FROM verdicts WHERE bisection = ?1",
    };
    AUTO(unit_end) struct unit u = {0};
    enum err_code code = unit_begin(s, &u, e);
    for (size_t i = 0; !code && i < LEN(sql); i++)
        code = db_run(s, sql[i], CELLS(cell_text(bisection)), NULL, e);
    return code ? code : unit_keep(&u, e);
}
