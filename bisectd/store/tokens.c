/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tokens.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/db.h"
#include <stdio.h>
#include <string.h>

enum { TOKEN_BYTES = 32, TOKEN_MAX = 512 };

static struct digest digest_of_token(const char *token)
{
    return hash_of(token, strlen(token));
}

/** The token of the file, if there is one that still counts. */
static enum err_code check_file(struct store *s, const char *path, struct utc now, struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};
    char role[32];
    enum err_code code = file_read(path, TOKEN_MAX, &text, e);
    if (code)
        return code;
    AUTO(mem_free) char *token = buf_take(&text);
    token[strcspn(token, "\r\n")] = '\0';
    return store_token_check(s, token, now, role, e);
}

static enum err_code replace_admin(struct store *s, const char *token, struct utc now,
                                   struct err *e)
{
    struct digest hash = digest_of_token(token);
    struct id id = id_new();
    enum err_code code =
        db_run(s, "UPDATE tokens SET revoked = 1 WHERE role = 'admin' AND name = 'admin.token'",
               NO_CELLS, NULL, e);
    if (code)
        return code;
    return db_run(s,
                  "INSERT INTO tokens (id, hash, role, name, created_ns)"
                  " VALUES (?1, ?2, 'admin', 'admin.token', ?3)",
                  CELLS(cell_text(id.text), cell_text(hash.hex), cell_int(now.ns)), NULL, e);
}

enum err_code store_token_admin(struct store *s, struct utc now, bool *was_made, struct err *e)
{
    AUTO(mem_free) char *path = path_join(s->dir, "admin.token");
    AUTO(unit_end) struct unit u = {0};
    char token[2 * TOKEN_BYTES + 1];

    enum err_code code = check_file(s, path, now, e);
    *was_made = code == ERR_NOT_FOUND || code == ERR_DENIED;
    if (!*was_made)
        return code;

    random_hex(token, TOKEN_BYTES);
    code = unit_begin(s, &u, e);
    if (!code)
        code = replace_admin(s, token, now, e);
    if (!code) {
        AUTO(mem_free) char *line = mem_printf("%s\n", token);
        code = file_write(path, line, strlen(line), 0600, e);
    }
    return code ? code : unit_keep(&u, e);
}

enum err_code store_token_check(struct store *s, const char *token, struct utc now, char role[32],
                                struct err *e)
{
    AUTO(query_end) struct query q = {0};
    struct digest hash = digest_of_token(token);
    enum err_code code = db_first(s, &q,
                                  "SELECT role FROM tokens WHERE hash = ?1 AND NOT revoked"
                                  " AND coalesce(expires_ns, ?2 + 1) > ?2",
                                  CELLS(cell_text(hash.hex), cell_int(now.ns)), e);
    if (code == ERR_NOT_FOUND)
        return err_set(e, ERR_DENIED, "that token is not known, or no longer valid");
    if (!code)
        snprintf(role, 32, "%s", query_text(&q, 0));
    return code;
}
