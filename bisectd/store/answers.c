/* SPDX-License-Identifier: Apache-2.0 */
#include "store/answers.h"

#include "base/mem.h"
#include "store/db.h"
#include <string.h>

void answer_fini(struct answer *a)
{
    mem_free(a->body);
    *a = (struct answer){0};
}

enum err_code store_answer_get(struct store *s, const char *scope, const char *key,
                               const struct digest *request, struct answer *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_first(s, &q, "SELECT request, status, body FROM answers WHERE scope = ?1 AND key = ?2",
                 CELLS(cell_text(scope), cell_text(key)), e);
    if (code)
        return code;
    if (strcmp(query_text(&q, 0), request->hex)) {
        err_set(e, ERR_CONFLICT, "the Idempotency-Key was used with another request");
        return err_hint(e, "use a new key for each request, and the same one only to repeat it");
    }
    *out = (struct answer){.status = (int)query_int(&q, 1), .body = query_dup(&q, 2)};
    return ERR_OK;
}

enum err_code store_answer_put(struct store *s, const char *scope, const char *key,
                               const struct digest *request, int status, const char *body,
                               struct utc now, struct err *e)
{
    AUTO(unit_end) struct unit u = {0};
    enum err_code code = unit_begin(s, &u, e);
    if (!code)
        code = db_run(s,
                      "INSERT INTO answers (scope, key, request, status, body, stored_ns)"
                      " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
                      CELLS(cell_text(scope), cell_text(key), cell_text(request->hex),
                            cell_int(status), cell_text(body), cell_int(now.ns)),
                      NULL, e);
    if (!code)
        code = db_run(s,
                      "DELETE FROM answers WHERE rowid IN"
                      " (SELECT rowid FROM answers WHERE stored_ns < ?1 LIMIT 16)",
                      CELLS(cell_int(now.ns - ANSWER_KEEP_NS)), NULL, e);
    return code ? code : unit_keep(&u, e);
}
