/* SPDX-License-Identifier: Apache-2.0 */
#include "store/explanations.h"

#include "base/mem.h"
#include "base/stream.h"
#include "store/db.h"
#include "store/rows.h"

enum { MAX_INSPECTION_BYTES = 256 * MIB }; /* plain; what comes in is bounded by limits.result */

void explanation_row_fini(struct explanation_row *r)
{
    json_free(r->document);
    *r = (struct explanation_row){0};
}

enum err_code store_explanation_open(struct store *s, const char *bisection, const char *task,
                                     struct utc now, struct err *e)
{
    enum err_code code =
        db_run(s, "INSERT INTO explanations (bisection, task, opened_ns) VALUES (?1, ?2, ?3)",
               CELLS(cell_text(bisection), cell_text(task), cell_int(now.ns)), NULL, e);
    if (code == ERR_CONFLICT)
        return err_set(e, ERR_CONFLICT, "bisection %.80s is being explained already", bisection);
    return code;
}

enum err_code store_explanation_close(struct store *s, const char *bisection, const json *document,
                                      struct utc now, struct err *e)
{
    AUTO(mem_free) char *text = column_of_json(document);
    int64_t n = 0;

    enum err_code code =
        db_run(s, "UPDATE explanations SET document = ?2, closed_ns = ?3 WHERE bisection = ?1",
               CELLS(cell_text(bisection), cell_text(text), cell_int(now.ns)), &n, e);
    return !code && !n ? not_found(e, "explanation of bisection", bisection) : code;
}

enum err_code store_explanation_find(struct store *s, const char *bisection,
                                     struct explanation_row *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(
        s, &q, "SELECT task, zstd IS NOT NULL, document FROM explanations WHERE bisection = ?1",
        CELLS(cell_text(bisection)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "explanation of bisection", bisection);
    if (code)
        return code;
    struct explanation_row row = {.task = query_id(&q, 0), .has_inspection = query_int(&q, 1)};
    if (!query_is_null(&q, 2) && json_of_column(query_text(&q, 2), &row.document, e))
        return err_wrap(e, "explanation of bisection %.80s", bisection);
    *out = row;
    return ERR_OK;
}

enum err_code inspection_put(struct store *s, const char *task, const struct inspection *v,
                             struct err *e)
{
    AUTO(json_free) json *document = inspection_to_json(v);
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf packed = {0};

    json_dump(document, JSON_COMPACT, &plain);
    zstd_pack(plain.data, plain.len, &packed);
    return db_run(s, "UPDATE explanations SET zstd = ?2 WHERE task = ?1",
                  CELLS(cell_text(task), cell_blob(packed.data, packed.len)), NULL, e);
}

static enum err_code unpack(const void *bytes, size_t n, struct inspection **out, struct err *e)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(json_free) json *v = NULL;

    if (zstd_unpack(bytes, n, MAX_INSPECTION_BYTES, &plain, e) ||
        json_parse(plain.data, plain.len, &v, e))
        return e->code;
    return inspection_from_json(v, out, e);
}

enum err_code store_inspection_get(struct store *s, const char *task, struct inspection **out,
                                   struct err *e)
{
    AUTO(query_end) struct query q = {0};
    size_t n = 0;
    enum err_code code =
        db_first(s, &q, "SELECT zstd FROM explanations WHERE task = ?1 AND zstd IS NOT NULL",
                 CELLS(cell_text(task)), e);
    if (code == ERR_NOT_FOUND)
        return not_found(e, "inspection by task", task);
    if (code)
        return code;
    const void *bytes = query_blob(&q, 0, &n);
    code = unpack(bytes, n, out, e);
    return code ? err_wrap(e, "inspection by task %s", task) : ERR_OK;
}
