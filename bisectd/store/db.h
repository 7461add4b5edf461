/* SPDX-License-Identifier: Apache-2.0 */
/**
 * SQLite as the rest of this folder sees it: statements by their text, typed cells in and out,
 * units of work that happen whole or not at all.
 */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "base/err.h"
#include "base/json.h"
#include "model/project.h"
#include "queue/life.h"
#include "store/store.h"
#include <math.h>
#include <sqlite3.h>

enum { DB_CACHE_SLOTS = 256 }; /* a power of two, more than there are statements */

struct db_slot {
    char *sql;
    sqlite3_stmt *stmt;
    bool in_use;
};

struct store {
    sqlite3 *db;
    char *dir;
    char *path; /* of the database */
    int lock_fd;
    struct life_limits limits;
    bool in_turn; /* between store_begin and store_commit or store_rollback */
    struct db_slot cache[DB_CACHE_SLOTS];
};

/* Errors */

/** ERR_IO (or ERR_NOMEM, ERR_CONFLICT for a broken constraint) with what to do about it. */
enum err_code db_error(struct store *s, int rc, const char *what, struct err *e);

/* Values */

enum cell_kind { CELL_NULL, CELL_TEXT, CELL_INT, CELL_REAL, CELL_BLOB };
struct cell {
    enum cell_kind kind;
    const void *bytes; /* text and blob; borrowed */
    size_t n;
    int64_t i;
    double d;
};
struct cell cell_text(const char *s); /* NULL gives null */
struct cell cell_int(int64_t i);
struct cell cell_real(double d); /* nan and inf give null */
struct cell cell_blob(const void *bytes, size_t n);

/** The cells of ?1, ?2, … as the two last arguments before `e`. */
#define CELLS(...)                                                                                 \
    (const struct cell[]){__VA_ARGS__},                                                            \
        sizeof((const struct cell[]){__VA_ARGS__}) / sizeof(struct cell)
#define NO_CELLS NULL, 0

/* Statements */

struct query {
    struct store *store;
    sqlite3_stmt *stmt;   /* NULL: ended */
    struct db_slot *slot; /* NULL: not of the cache */
    int rc;
};
void query_end(struct query *q);
DEFINE_AUTO_FINI(struct query, query_end)

/** Prepared once for each text and kept. */
MUST_CHECK enum err_code db_query(struct store *s, struct query *q, const char *sql,
                                  const struct cell *cells, size_t n, struct err *e);
/** True with a row at hand. After false, query_check tells an end from a failure. */
bool query_next(struct query *q);
MUST_CHECK enum err_code query_check(struct query *q, struct err *e);
/** db_query and the first row. ERR_NOT_FOUND without text if there is none. */
MUST_CHECK enum err_code db_first(struct store *s, struct query *q, const char *sql,
                                  const struct cell *cells, size_t n, struct err *e);
/** For statements without rows. `n_changed` may be NULL. */
MUST_CHECK enum err_code db_run(struct store *s, const char *sql, const struct cell *cells,
                                size_t n, int64_t *n_changed, struct err *e);

/* Columns of the row at hand. */
bool query_is_null(struct query *q, int column);
int64_t query_int(struct query *q, int column);
double query_real(struct query *q, int column);      /* null gives nan */
const char *query_text(struct query *q, int column); /* NULL for null; until the next step */
char *query_dup(struct query *q, int column);        /* NULL for null; caller frees */
const void *query_blob(struct query *q, int column, size_t *n);
struct id query_id(struct query *q, int column);     /* empty for null */
struct cell query_cell(struct query *q, int column); /* until the next step */

/* Units of work */

/** A transaction, or a savepoint inside one. Ending without unit_keep undoes it. */
struct unit {
    struct store *store; /* NULL: over */
    bool is_outermost;
};
MUST_CHECK enum err_code unit_begin(struct store *s, struct unit *u, struct err *e);
MUST_CHECK enum err_code unit_keep(struct unit *u, struct err *e);
void unit_end(struct unit *u);
DEFINE_AUTO_FINI(struct unit, unit_end)

/* Texts in columns */

/** JSON array as new text, or NULL for an empty list. Caller frees. */
char *column_of_strings(const struct strings *s);
/** NULL gives an empty list. */
MUST_CHECK enum err_code strings_of_column(const char *text, struct strings *out, struct err *e);
/** Compact. Caller frees. */
char *column_of_json(const json *v);
MUST_CHECK enum err_code json_of_column(const char *text, json **out, struct err *e);

/** ERR_NOT_FOUND in words: "there is no <noun> <id>". */
enum err_code not_found(struct err *e, const char *noun, const char *id);

#endif
