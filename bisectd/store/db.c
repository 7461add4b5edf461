/* SPDX-License-Identifier: Apache-2.0 */
#include "store/db.h"

#include "base/mem.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

/* clang-format off */
static const struct {
    int rc; /* primary code */
    enum err_code code;
    const char *hint;
} faults[] = {
    {SQLITE_FULL,       ERR_IO,       "free some space on that disk, then go on; nothing that was accepted is lost"},
    {SQLITE_READONLY,   ERR_IO,       "make the folder and the files in it writable for this user, or name another data_dir"},
    {SQLITE_CANTOPEN,   ERR_IO,       "make the folder and the files in it readable and writable for this user, or name another data_dir"},
    {SQLITE_PERM,       ERR_IO,       "make the folder and the files in it readable and writable for this user"},
    {SQLITE_CORRUPT,    ERR_IO,       "stop the service and restore a backup; without one, save what can be saved: sqlite3 bisectd.db .recover | sqlite3 new.db"},
    {SQLITE_NOTADB,     ERR_IO,       "the file is damaged or not a database: restore a backup, or move it away to start empty"},
    {SQLITE_IOERR,      ERR_IO,       "look at the system log for disk faults, and check that the disk is mounted and not full"},
    {SQLITE_BUSY,       ERR_IO,       "another program holds the database (an open sqlite3 shell?): let it finish"},
    {SQLITE_LOCKED,     ERR_IO,       "another program holds the database (an open sqlite3 shell?): let it finish"},
    {SQLITE_PROTOCOL,   ERR_IO,       "another program holds the database (an open sqlite3 shell?): let it finish"},
    {SQLITE_NOMEM,      ERR_NOMEM,    NULL},
    {SQLITE_CONSTRAINT, ERR_CONFLICT, NULL},
    {SQLITE_TOOBIG,     ERR_LIMIT,    NULL},
};
/* clang-format on */

enum err_code db_error(struct store *s, int rc, const char *what, struct err *e)
{
    const char *why =
        s->db && sqlite3_errcode(s->db) != SQLITE_OK ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc);
    const char *sep = what ? ": " : "";
    for (size_t i = 0; i < LEN(faults); i++) {
        if (faults[i].rc != (rc & 0xff))
            continue;
        enum err_code code =
            err_set(e, faults[i].code, "database %s%s%s: %s", s->path, sep, what ? what : "", why);
        if (e)
            e->sys = rc;
        return faults[i].hint ? err_hint(e, "%s", faults[i].hint) : code;
    }
    enum err_code code =
        err_set(e, ERR_IO, "database %s%s%s: %s", s->path, sep, what ? what : "", why);
    if (e)
        e->sys = rc;
    return code;
}

enum err_code not_found(struct err *e, const char *noun, const char *id)
{
    return err_set(e, ERR_NOT_FOUND, "there is no %s %.80s", noun, id);
}

/* ---- cells ---- */

struct cell cell_text(const char *s)
{
    if (!s)
        return (struct cell){.kind = CELL_NULL};
    return (struct cell){.kind = CELL_TEXT, .bytes = s, .n = strlen(s)};
}

struct cell cell_int(int64_t i)
{
    return (struct cell){.kind = CELL_INT, .i = i};
}

struct cell cell_real(double d)
{
    if (!isfinite(d))
        return (struct cell){.kind = CELL_NULL};
    return (struct cell){.kind = CELL_REAL, .d = d + 0.0}; /* SQLite keeps no -0.0 */
}

struct cell cell_blob(const void *bytes, size_t n)
{
    return (struct cell){.kind = CELL_BLOB, .bytes = bytes, .n = n};
}

static int bind(sqlite3_stmt *stmt, int at, const struct cell *c)
{
    switch (c->kind) {
    case CELL_NULL:
        return sqlite3_bind_null(stmt, at);
    case CELL_TEXT:
        return sqlite3_bind_text64(stmt, at, c->bytes, c->n, SQLITE_TRANSIENT, SQLITE_UTF8);
    case CELL_INT:
        return sqlite3_bind_int64(stmt, at, c->i);
    case CELL_REAL:
        return sqlite3_bind_double(stmt, at, c->d);
    case CELL_BLOB:
        return sqlite3_bind_blob64(stmt, at, c->bytes, c->n, SQLITE_TRANSIENT);
    }
    return SQLITE_MISUSE;
}

/* ---- statements ---- */

static size_t slot_of(const char *sql)
{
    uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *c = sql; *c; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return (size_t)(h ^ (h >> 32)) & (DB_CACHE_SLOTS - 1);
}

/** The slot that has this text or is free for it; NULL if all are taken. */
static struct db_slot *find_slot(struct store *s, const char *sql)
{
    size_t start = slot_of(sql);
    for (size_t i = 0; i < DB_CACHE_SLOTS; i++) {
        struct db_slot *slot = &s->cache[(start + i) & (DB_CACHE_SLOTS - 1)];
        if (!slot->sql || !strcmp(slot->sql, sql))
            return slot;
    }
    return NULL;
}

static int prepare(struct query *q, const char *sql)
{
    struct store *s = q->store;
    struct db_slot *slot = find_slot(s, sql);

    if (!slot || slot->in_use) /* a statement inside its own loop */
        return sqlite3_prepare_v3(s->db, sql, -1, 0, &q->stmt, NULL);
    if (!slot->stmt) {
        int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &slot->stmt, NULL);
        if (rc)
            return rc;
        if (!slot->sql)
            slot->sql = mem_dup(sql);
    }
    slot->in_use = true;
    q->slot = slot;
    q->stmt = slot->stmt;
    return SQLITE_OK;
}

enum err_code db_query(struct store *s, struct query *q, const char *sql, const struct cell *cells,
                       size_t n, struct err *e)
{
    *q = (struct query){.store = s, .rc = SQLITE_OK};
    if (s->in_turn && sqlite3_get_autocommit(s->db))
        return err_set(e, ERR_IO, "database %s: the transaction failed earlier and was undone",
                       s->path);

    int rc = prepare(q, sql);
    for (size_t i = 0; !rc && i < n; i++)
        rc = bind(q->stmt, (int)i + 1, &cells[i]);
    if (!rc)
        return ERR_OK;
    enum err_code code = db_error(s, rc, NULL, e);
    query_end(q);
    return code;
}

bool query_next(struct query *q)
{
    if (q->rc && q->rc != SQLITE_ROW)
        return false;
    q->rc = sqlite3_step(q->stmt);
    return q->rc == SQLITE_ROW;
}

enum err_code query_check(struct query *q, struct err *e)
{
    if (q->rc == SQLITE_OK || q->rc == SQLITE_ROW || q->rc == SQLITE_DONE)
        return ERR_OK;
    return db_error(q->store, q->rc, NULL, e);
}

void query_end(struct query *q)
{
    if (!q->stmt)
        return;
    if (q->slot) {
        sqlite3_reset(q->stmt);
        sqlite3_clear_bindings(q->stmt);
        q->slot->in_use = false;
    } else {
        sqlite3_finalize(q->stmt);
    }
    q->stmt = NULL;
    q->slot = NULL;
}

enum err_code db_first(struct store *s, struct query *q, const char *sql, const struct cell *cells,
                       size_t n, struct err *e)
{
    enum err_code code = db_query(s, q, sql, cells, n, e);
    if (code)
        return code;
    if (query_next(q))
        return ERR_OK;
    code = query_check(q, e);
    return code ? code : err_set(e, ERR_NOT_FOUND, "no such row");
}

enum err_code db_run(struct store *s, const char *sql, const struct cell *cells, size_t n,
                     int64_t *n_changed, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_query(s, &q, sql, cells, n, e);
    if (code)
        return code;
    while (query_next(&q))
        ;
    code = query_check(&q, e);
    if (!code && n_changed)
        *n_changed = sqlite3_changes64(s->db);
    return code;
}

bool query_is_null(struct query *q, int column)
{
    return sqlite3_column_type(q->stmt, column) == SQLITE_NULL;
}

int64_t query_int(struct query *q, int column)
{
    return sqlite3_column_int64(q->stmt, column);
}

double query_real(struct query *q, int column)
{
    return query_is_null(q, column) ? NAN : sqlite3_column_double(q->stmt, column);
}

const char *query_text(struct query *q, int column)
{
    return (const char *)sqlite3_column_text(q->stmt, column);
}

char *query_dup(struct query *q, int column)
{
    const char *text = query_text(q, column);
    return text ? mem_dup(text) : NULL;
}

const void *query_blob(struct query *q, int column, size_t *n)
{
    const void *bytes = sqlite3_column_blob(q->stmt, column);
    *n = (size_t)sqlite3_column_bytes(q->stmt, column);
    return bytes;
}

struct id query_id(struct query *q, int column)
{
    struct id id = {""};
    const char *text = query_text(q, column);
    if (text)
        snprintf(id.text, sizeof(id.text), "%s", text);
    return id;
}

struct cell query_cell(struct query *q, int column)
{
    switch (sqlite3_column_type(q->stmt, column)) {
    case SQLITE_INTEGER:
        return cell_int(query_int(q, column));
    case SQLITE_FLOAT:
        return (struct cell){.kind = CELL_REAL, .d = sqlite3_column_double(q->stmt, column)};
    case SQLITE_NULL:
        return (struct cell){.kind = CELL_NULL};
    case SQLITE_TEXT: {
        const unsigned char *text = sqlite3_column_text(q->stmt, column);
        return (struct cell){
            .kind = CELL_TEXT, .bytes = text, .n = (size_t)sqlite3_column_bytes(q->stmt, column)};
    }
    default: {
        struct cell c = {.kind = CELL_BLOB};
        c.bytes = query_blob(q, column, &c.n);
        return c;
    }
    }
}

/* ---- units of work ---- */

enum err_code unit_begin(struct store *s, struct unit *u, struct err *e)
{
    *u = (struct unit){0};
    bool is_outermost = sqlite3_get_autocommit(s->db) && !s->in_turn;
    /* IMMEDIATE: a busy database is waited for here, and never met in the middle. */
    enum err_code code =
        db_run(s, is_outermost ? "BEGIN IMMEDIATE" : "SAVEPOINT unit", NO_CELLS, NULL, e);
    if (code)
        return code;
    *u = (struct unit){.store = s, .is_outermost = is_outermost};
    return ERR_OK;
}

enum err_code unit_keep(struct unit *u, struct err *e)
{
    enum err_code code =
        db_run(u->store, u->is_outermost ? "COMMIT" : "RELEASE unit", NO_CELLS, NULL, e);
    if (!code)
        u->store = NULL;
    return code;
}

void unit_end(struct unit *u)
{
    if (!u->store)
        return;
    struct store *s = u->store;
    u->store = NULL;
    if (sqlite3_get_autocommit(s->db)) /* SQLite undid all of it by itself */
        return;
    /* Undoing cannot fail in a way that keeps the changes. */
    if (u->is_outermost) {
        (void)!db_run(s, "ROLLBACK", NO_CELLS, NULL, NULL);
    } else {
        (void)!db_run(s, "ROLLBACK TO unit", NO_CELLS, NULL, NULL);
        (void)!db_run(s, "RELEASE unit", NO_CELLS, NULL, NULL);
    }
}

/* ---- texts in columns ---- */

char *column_of_json(const json *v)
{
    AUTO(buf_fini) struct buf text = {0};
    json_dump(v, JSON_COMPACT, &text);
    return buf_take(&text);
}

enum err_code json_of_column(const char *text, json **out, struct err *e)
{
    if (!text) {
        *out = NULL;
        return ERR_OK;
    }
    if (json_parse(text, strlen(text), out, e))
        return err_wrap(e, "stored text");
    return ERR_OK;
}

char *column_of_strings(const struct strings *s)
{
    if (!s || !s->n)
        return NULL;
    AUTO(json_free) json *list = json_new_array();
    for (size_t i = 0; i < s->n; i++)
        json_push(list, json_new_string(s->items[i]));
    return column_of_json(list);
}

enum err_code strings_of_column(const char *text, struct strings *out, struct err *e)
{
    AUTO(json_free) json *list = NULL;
    enum err_code code = json_of_column(text, &list, e);
    if (code)
        return code;
    for (size_t i = 0; i < json_len(list); i++)
        strings_add(out, json_str(json_item(list, i), ""));
    return ERR_OK;
}
