/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/bisection.h"
#include "queue/life.h"
#include "store/db.h"
#include "store/lock.h"
#include "store/schema.h"
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_MS = 5000,
    QUICK_CHECK_BYTES = 32 * MIB, /* a larger file is not read through at each start */
};

static const char settings[] = "PRAGMA foreign_keys = ON;"
                               "PRAGMA trusted_schema = OFF;"
                               "PRAGMA cell_size_check = ON;"
                               "PRAGMA temp_store = MEMORY;"
                               "PRAGMA synchronous = FULL;"
                               "PRAGMA journal_size_limit = 67108864;";

static enum err_code open_database(struct store *s, struct err *e)
{
    int rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc)
        return db_error(s, rc, NULL, e);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    if (sqlite3_db_readonly(s->db, "main"))
        return db_error(s, SQLITE_READONLY, NULL, e);

    rc = sqlite3_exec(s->db, settings, NULL, NULL, NULL);
    return rc ? db_error(s, rc, NULL, e) : ERR_OK;
}

static enum err_code set_journal(struct store *s, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, "PRAGMA journal_mode = WAL", NO_CELLS, e);
    if (code)
        return code;
    const char *mode = query_text(&q, 0);
    if (mode && !strcmp(mode, "wal"))
        return ERR_OK;
    err_set(e, ERR_IO, "database %s: no write-ahead log on this file system", s->path);
    return err_hint(e, "put data_dir on a local disk");
}

static enum err_code check_with(struct store *s, const char *sql, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, sql, NO_CELLS, e);
    if (code)
        return code;
    const char *answer = query_text(&q, 0);
    if (answer && !strcmp(answer, "ok"))
        return ERR_OK;
    AUTO(mem_free) char *fault = mem_dup(answer);
    return db_error(s, SQLITE_CORRUPT, fault, e);
}

/** Damage is better found before the first write than in the middle of a search. */
static enum err_code check_small(struct store *s, struct err *e)
{
    struct stat st;
    if (stat(s->path, &st) || st.st_size == 0 || st.st_size > QUICK_CHECK_BYTES)
        return ERR_OK;
    return check_with(s, "PRAGMA quick_check(1)", e);
}

static enum err_code check_folder(const char *data_dir, struct err *e)
{
    struct stat st;
    if (!stat(data_dir, &st) && !S_ISDIR(st.st_mode)) {
        err_set(e, ERR_IO, "%s is not a folder", data_dir);
        return err_hint(e, "name another data_dir");
    }
    if (!file_mkdirs(data_dir, 0700, e))
        return ERR_OK;
    err_wrap(e, "data folder");
    if (e)
        e->code = ERR_IO;
    err_hint(e, "make its parent writable for this user, or name another data_dir");
    return ERR_IO;
}

enum err_code store_open(const char *data_dir, struct store **out, struct err *e)
{
    enum err_code code = check_folder(data_dir, e);
    if (code)
        return code;

    AUTO(store_close) struct store *s = mem_alloc(sizeof(*s));
    s->lock_fd = -1;
    s->limits = life_limits_default;
    s->dir = mem_dup(data_dir);
    s->path = path_join(data_dir, "bisectd.db");

    code = lock_take(data_dir, &s->lock_fd, e);
    if (!code)
        code = open_database(s, e);
    if (!code)
        code = check_small(s, e);
    if (!code)
        code = schema_migrate(s, e);
    if (!code)
        code = set_journal(s, e);
    if (!code)
        code = schema_guard(s, e);
    if (code)
        return code;
    *out = TAKE(s);
    return ERR_OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < DB_CACHE_SLOTS; i++) {
        assert(!s->cache[i].in_use);
        sqlite3_finalize(s->cache[i].stmt);
        mem_free(s->cache[i].sql);
    }
    sqlite3_close(s->db); /* rolls back and checkpoints */
    fd_close(s->lock_fd);
    mem_free(s->dir);
    mem_free(s->path);
    mem_free(s);
}

void store_limit_tries(struct store *s, uint32_t max_tries)
{
    s->limits.max_tries = max_tries;
}

const char *store_data_dir(const struct store *s)
{
    return s->dir;
}

enum err_code store_begin(struct store *s, struct err *e)
{
    assert(!s->in_turn);
    enum err_code code = db_run(s, "BEGIN IMMEDIATE", NO_CELLS, NULL, e);
    if (!code)
        s->in_turn = true;
    return code;
}

enum err_code store_commit(struct store *s, struct err *e)
{
    assert(s->in_turn);
    enum err_code code = db_run(s, "COMMIT", NO_CELLS, NULL, e);
    if (code)
        store_rollback(s);
    s->in_turn = false;
    return code;
}

void store_rollback(struct store *s)
{
    if (!s->in_turn)
        return;
    s->in_turn = false;
    if (!sqlite3_get_autocommit(s->db)) /* else SQLite undid it by itself */
        (void)!db_run(s, "ROLLBACK", NO_CELLS, NULL, NULL);
}

enum err_code store_backup(struct store *s, const char *path, struct err *e)
{
    assert(!s->in_turn);
    if (file_exists(path))
        return err_set(e, ERR_CONFLICT, "%s exists already", path);
    enum err_code code = db_run(s, "VACUUM INTO ?1", CELLS(cell_text(path)), NULL, e);
    return code ? err_wrap(e, "backup to %s", path) : ERR_OK;
}

enum err_code store_check(struct store *s, struct err *e)
{
    return check_with(s, "PRAGMA integrity_check(1)", e);
}

/* ---- counts ---- */

static enum err_code count_one(struct store *s, const char *sql, int64_t *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code = db_first(s, &q, sql, NO_CELLS, e);
    if (!code)
        *out = query_int(&q, 0);
    return code;
}

static enum err_code count_bisections(struct store *s, struct store_counts *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_query(s, &q, "SELECT state, count(*) FROM bisections GROUP BY state", NO_CELLS, e);
    while (!code && query_next(&q)) {
        enum bisection_state state;
        code = bisection_state_parse(query_text(&q, 0), &state, e);
        if (!code)
            out->bisections[state] = query_int(&q, 1);
    }
    return code ? code : query_check(&q, e);
}

static enum err_code count_tasks(struct store *s, struct store_counts *out, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    enum err_code code =
        db_query(s, &q, "SELECT state, count(*) FROM tasks GROUP BY state", NO_CELLS, e);
    while (!code && query_next(&q)) {
        enum task_state state;
        code = task_state_parse(query_text(&q, 0), &state, e);
        if (!code)
            out->tasks[state] = query_int(&q, 1);
    }
    return code ? code : query_check(&q, e);
}

enum err_code store_count(struct store *s, struct store_counts *out, struct err *e)
{
    struct store_counts c = {0};
    /* clang-format off */
    const struct {
        const char *sql;
        int64_t *to;
    } rows[] = {
        {"SELECT count(*) FROM leases WHERE state = 'open'", &c.open_leases},
        /* Numbers without gaps: rows are never removed. */
        {"SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'samples'), 0)",
                                                             &c.samples},
        {"SELECT coalesce(max(seq), 0) FROM builds",         &c.builds},
        {"SELECT count(*) FROM workers",                     &c.workers},
        {"SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
                                                             &c.database_bytes},
    };
    /* clang-format on */
    enum err_code code = count_bisections(s, &c, e);
    if (!code)
        code = count_tasks(s, &c, e);
    for (size_t i = 0; !code && i < LEN(rows); i++)
        code = count_one(s, rows[i].sql, rows[i].to, e);
    if (!code)
        *out = c;
    return code;
}
