/* SPDX-License-Identifier: Apache-2.0 */
#include "store/chain.h"

#include "base/mem.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *number;  /* column that orders the rows */
    const char *columns; /* all but number and hash */
    size_t n_columns;
    size_t n_later; /* the last ones, of a later schema: null is left out, as in rows before it */
} tables[CHAIN_COUNT] = {
    [CHAIN_EVENTS] = {"events", "row",
        "bisection, seq, utc_ns, kind, payload", 5, 0},
    [CHAIN_RESULTS] = {"results", "seq",
        "bisection, task, fence, host, worker, platform, kernel, cpu, n_cpus, load, sandbox,"
        " isolation, stored_ns", 13, 0},
    [CHAIN_BUILDS] = {"builds", "seq",
        "bisection, task, revision, build_key, platform, fresh, status, reason, artifact, seconds,"
        " stored_ns, reverted, fixups", 13, 2},
    [CHAIN_SAMPLES] = {"samples", "seq",
        "bisection, task, run, attempt, project, metric, measure_key, revision, platform, number,"
        " seed, status, reason, value, all_values, at_ns, seconds, host, worker, stored_ns,"
        " reverted, fixups", 22, 2},
};
/* clang-format on */

static void spell(struct buf *text, const struct cell *c)
{
    switch (c->kind) {
    case CELL_NULL:
        buf_adds(text, "N;");
        return;
    case CELL_INT:
        buf_printf(text, "I%lld;", (long long)c->i);
        return;
    case CELL_REAL:
        buf_printf(text, "R%.17g;", c->d);
        return;
    case CELL_TEXT:
    case CELL_BLOB: /* an altered row may hold one: it only has to differ from any text */
        buf_printf(text, "%c%zu:", c->kind == CELL_TEXT ? 'T' : 'B', c->n);
        buf_add(text, c->bytes, c->n);
        return;
    }
}

/** Column `i` of a row. */
static void spell_column(struct buf *text, enum chain_of of, size_t i, const struct cell *c)
{
    size_t n_first = tables[of].n_columns - tables[of].n_later;

    if (i >= n_first && c->kind == CELL_NULL)
        return;
    if (i >= n_first)
        buf_printf(text, "L%zu:", i - n_first);
    spell(text, c);
}

static struct digest link_of(const char *before, struct buf *content)
{
    struct hash *h = hash_new();
    hash_add(h, before, strlen(before));
    hash_add(h, content->data, content->len);
    return hash_end(h);
}

enum err_code chain_begin(struct store *s, enum chain_of of, const char *bisection, struct chain *c,
                          struct err *e)
{
    AUTO(query_end) struct query q = {0};
    *c = (struct chain){.of = of, .bisection = bisection};
    enum err_code code =
        db_first(s, &q, "SELECT n, head FROM chains WHERE bisection = ?1 AND name = ?2",
                 CELLS(cell_text(bisection), cell_text(tables[of].name)), e);
    if (code == ERR_NOT_FOUND)
        return ERR_OK;
    if (code)
        return code;
    c->n = query_int(&q, 0);
    snprintf(c->head, sizeof(c->head), "%s", query_text(&q, 1));
    return ERR_OK;
}

static void insert_sql(enum chain_of of, struct buf *sql)
{
    buf_printf(sql, "INSERT INTO %s (%s, hash) VALUES (", tables[of].name, tables[of].columns);
    for (size_t i = 0; i <= tables[of].n_columns; i++)
        buf_printf(sql, i ? ", ?%zu" : "?%zu", i + 1);
    buf_adds(sql, ")");
}

enum err_code chain_add(struct store *s, struct chain *c, const struct cell *cells, size_t n,
                        struct err *e)
{
    enum { MAX_COLUMNS = 24 };
    struct cell row[MAX_COLUMNS];
    AUTO(buf_fini) struct buf content = {0};
    AUTO(buf_fini) struct buf sql = {0};

    assert(n == tables[c->of].n_columns && n < MAX_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        row[i] = cells[i];
        spell_column(&content, c->of, i, &cells[i]);
    }
    struct digest hash = link_of(c->head, &content);
    row[n] = cell_text(hash.hex);

    insert_sql(c->of, &sql);
    enum err_code code = db_run(s, buf_str(&sql), row, n + 1, NULL, e);
    if (code)
        return code;
    c->n++;
    memcpy(c->head, hash.hex, sizeof(c->head));
    return ERR_OK;
}

enum err_code chain_end(struct store *s, const struct chain *c, struct err *e)
{
    if (!c->n)
        return ERR_OK;
    return db_run(s,
                  "INSERT INTO chains (bisection, name, n, head) VALUES (?1, ?2, ?3, ?4)"
                  " ON CONFLICT DO UPDATE SET n = excluded.n, head = excluded.head",
                  CELLS(cell_text(c->bisection), cell_text(tables[c->of].name), cell_int(c->n),
                        cell_text(c->head)),
                  NULL, e);
}

static enum err_code verify_rows(struct store *s, struct chain *c, struct err *e)
{
    AUTO(query_end) struct query q = {0};
    AUTO(mem_free)
    char *sql = mem_printf("SELECT %s, hash, %s FROM %s WHERE bisection = ?1 ORDER BY %s",
                           tables[c->of].columns, tables[c->of].number, tables[c->of].name,
                           tables[c->of].number);
    int n_columns = (int)tables[c->of].n_columns;

    enum err_code code = db_query(s, &q, sql, CELLS(cell_text(c->bisection)), e);
    while (!code && query_next(&q)) {
        AUTO(buf_fini) struct buf content = {0};
        for (int i = 0; i < n_columns; i++) {
            struct cell cell = query_cell(&q, i);
            spell_column(&content, c->of, (size_t)i, &cell);
        }
        struct digest hash = link_of(c->head, &content);
        const char *stored = query_text(&q, n_columns);
        if (strcmp(hash.hex, stored ? stored : ""))
            return err_set(e, ERR_INVALID, "row %lld of %s is not what was stored",
                           (long long)query_int(&q, n_columns + 1), tables[c->of].name);
        c->n++;
        memcpy(c->head, hash.hex, sizeof(c->head));
    }
    return code ? code : query_check(&q, e);
}

enum err_code chain_verify(struct store *s, enum chain_of of, const char *bisection, struct err *e)
{
    struct chain want;
    struct chain have = {.of = of, .bisection = bisection};

    enum err_code code = chain_begin(s, of, bisection, &want, e);
    if (!code)
        code = verify_rows(s, &have, e);
    if (code)
        return code;
    if (have.n != want.n || strcmp(have.head, want.head))
        return err_set(e, ERR_INVALID, "%s: %lld rows where %lld were stored", tables[of].name,
                       (long long)have.n, (long long)want.n);
    return ERR_OK;
}
