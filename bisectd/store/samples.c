/* SPDX-License-Identifier: Apache-2.0 */
#include "store/samples.h"

#include "base/mem.h"
#include "store/artifacts.h"
#include "store/chain.h"
#include "store/db.h"
#include "store/rows.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sample_list_fini(struct sample_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct sample_row *row = &l->items[i];
        mem_free(row->project);
        mem_free(row->metric);
        mem_free(row->fixups);
        mem_free(row->run.reason);
        mem_free(row->run.values);
        environment_fini(&row->environment);
    }
    mem_free(l->items);
    *l = (struct sample_list){0};
}

void build_list_fini(struct build_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct build_row *row = &l->items[i];
        mem_free(row->build.reason);
        mem_free(row->fixups);
        mem_free(row->worker);
        mem_free(row->host);
        mem_free(row->platform);
    }
    mem_free(l->items);
    *l = (struct build_list){0};
}

/* ---- conditions ---- */

enum { WHOLE_HEX = 40 };

/** A WHERE clause under way; only what is asked for is in it, so that an index serves it. */
struct clause {
    struct buf sql;
    struct cell cells[10]; /* more than any filter has fields */
    size_t n;
};

static void clause_fini(struct clause *c)
{
    buf_fini(&c->sql);
}
DEFINE_AUTO_FINI(struct clause, clause_fini)

static void add_cell(struct clause *c, const char *condition, struct cell value)
{
    c->cells[c->n++] = value;
    buf_printf(&c->sql, " AND %s ?%zu", condition, c->n);
}

static void add_limit(struct clause *c, size_t limit)
{
    c->cells[c->n++] = cell_int(limit ? (int64_t)limit + 1 : -1);
    buf_printf(&c->sql, " LIMIT ?%zu", c->n);
}

static void add_text(struct clause *c, const char *condition, const char *value)
{
    if (value)
        add_cell(c, condition, cell_text(value));
}

/** 'g' comes after all that a hash may go on with; so the index on revisions serves parts too. */
static void add_prefix(struct clause *c, const char *hex)
{
    if (!hex || strlen(hex) == WHOLE_HEX) {
        add_text(c, "s.revision =", hex);
        return;
    }
    add_cell(c, "s.revision >=", cell_text(hex));
    add_cell(c, "s.revision <", cell_text(hex));
    buf_adds(&c->sql, " || 'g'");
}

/* ---- samples ---- */

enum err_code read_run_columns(struct query *q, int first, struct run_result *out, struct err *e)
{
    AUTO(json_free) json *values = NULL;
    out->run = (uint32_t)query_int(q, first);
    out->attempt = (uint32_t)query_int(q, first + 1);
    out->reason = query_dup(q, first + 3);
    out->value = query_real(q, first + 5);
    out->at.ns = query_int(q, first + 6);
    out->seconds = query_real(q, first + 7);

    enum err_code code = run_status_parse(query_text(q, first + 2), &out->status, e);
    if (!code)
        code = json_of_column(query_text(q, first + 4), &values, e);
    if (code)
        return code;
    out->values = mem_array(json_len(values), sizeof(*out->values));
    for (; out->n_values < json_len(values); out->n_values++)
        out->values[out->n_values] = json_num(json_item(values, out->n_values), NAN);
    return ERR_OK;
}

static enum err_code read_sample(struct query *q, struct sample_row *row, struct err *e)
{
    row->seq = query_int(q, 0);
    row->bisection = query_id(q, 1);
    row->task = query_id(q, 2);
    row->project = query_dup(q, 3);
    row->metric = query_dup(q, 4);
    row->number = (uint32_t)query_int(q, 6);
    row->seed = query_is_null(q, 7) ? 0 : strtoull(query_text(q, 7), NULL, 10);
    row->stored.ns = query_int(q, 8);
    row->environment = (struct environment){
        .platform = query_dup(q, 9),
        .host = query_dup(q, 10),
        .worker = query_dup(q, 11),
        .kernel = query_dup(q, 12),
        .cpu = query_dup(q, 13),
        .n_cpus = (uint32_t)query_int(q, 14),
        .load = query_real(q, 15),
        .sandbox = query_dup(q, 16),
        .isolation = query_dup(q, 17),
    };
    enum err_code code = revision_parse(query_text(q, 5), &row->revision, e);
    if (!code)
        code = read_run_columns(q, 18, &row->run, e);
    if (!code && !query_is_null(q, 26))
        code = revision_parse(query_text(q, 26), &row->reverted, e);
    row->fixups = query_dup(q, 27);
    if (!code && query_is_null(q, 22)) { /* an imported point: its value is all it has */
        row->run.values = mem_resize(row->run.values, 1, sizeof(*row->run.values));
        row->run.values[row->run.n_values++] = row->run.value;
    }
    return code ? err_wrap(e, "sample %lld", (long long)row->seq) : ERR_OK;
}

static void add_sample_conditions(const struct sample_filter *f, struct clause *c)
{
    add_text(c, "s.bisection =", f->bisection);
    add_text(c, "s.project =", f->project);
    add_text(c, "s.metric =", f->metric);
    add_prefix(c, f->revision);
    add_text(c, "s.platform =", f->platform);
    if (f->only_ok)
        buf_adds(&c->sql, " AND s.status = 'ok'");
    if (f->after)
        add_cell(c, "s.seq >", cell_int(f->after));
}

static void sample_clause(const struct sample_filter *f, struct clause *c)
{
    AUTO(clause_fini) struct clause shared = {0};

    add_sample_conditions(f, &shared);
    buf_adds(&c->sql,
             "SELECT s.seq, s.bisection, s.task, s.project, s.metric, s.revision, s.number, s.seed,"
             " s.stored_ns, s.platform, s.host, s.worker, r.kernel, r.cpu, r.n_cpus, r.load,"
             " r.sandbox, r.isolation, s.run, s.attempt, s.status, s.reason, s.all_values, s.value,"
             " s.at_ns, s.seconds, s.reverted, s.fixups"
             " FROM samples AS s LEFT JOIN results AS r ON r.task = s.task WHERE 1");
    memcpy(c->cells, shared.cells, sizeof(c->cells));
    c->n = shared.n;
    buf_adds(&c->sql, buf_str(&shared.sql));
    add_text(c, "s.measure_key =", f->measure_key ? f->measure_key->hex : NULL);
    if (!f->measure_key && !f->bisection)
        buf_printf(&c->sql, " UNION ALL SELECT * FROM imported AS s WHERE 1%s",
                   buf_str(&shared.sql));
    buf_adds(&c->sql, " ORDER BY 1");
    add_limit(c, f->limit);
}

enum err_code store_sample_list(struct store *s, const struct sample_filter *f,
                                struct sample_list *out, struct err *e)
{
    AUTO(clause_fini) struct clause c = {0};
    AUTO(query_end) struct query q = {0};
    AUTO(sample_list_fini) struct sample_list l = {0};
    size_t cap = 0;

    sample_clause(f, &c);
    enum err_code code = db_query(s, &q, buf_str(&c.sql), c.cells, c.n, e);
    while (!code && !l.has_more && query_next(&q)) {
        if (f->limit && l.n == f->limit) {
            l.has_more = true;
            continue;
        }
        if (l.n == cap) {
            cap = cap ? 2 * cap : 16;
            l.items = mem_resize(l.items, cap, sizeof(*l.items));
        }
        l.items[l.n] = (struct sample_row){0};
        code = read_sample(&q, &l.items[l.n++], e);
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct sample_list){0};
    return ERR_OK;
}

/* ---- builds ---- */

static void build_clause(const struct build_filter *f, struct clause *c)
{
    buf_adds(&c->sql, "SELECT b.seq, b.bisection, b.task, b.revision, b.fresh, b.status, b.reason,"
                      " b.artifact, b.seconds, b.stored_ns, b.platform, r.worker, r.host,"
                      " b.reverted, b.fixups"
                      " FROM builds AS b LEFT JOIN results AS r ON r.task = b.task WHERE 1");
    if (f->task) /* lets the index on both serve it */
        buf_adds(&c->sql, " AND b.bisection = (SELECT bisection FROM tasks WHERE id = ?1)");
    add_text(c, "b.task =", f->task);
    add_text(c, "b.bisection =", f->bisection);
    add_text(c, "b.revision =", f->revision);
    add_text(c, "b.platform =", f->platform);
    add_text(c, "b.build_key =", f->build_key ? f->build_key->hex : NULL);
    if (f->after)
        add_cell(c, "b.seq >", cell_int(f->after));
    if (f->only_failed)
        add_text(c, "b.status =", build_status_name(BUILD_FAILED));
    if (f->only_usable)
        buf_adds(&c->sql, " AND b.artifact IS NOT NULL ORDER BY b.revision, b.seq DESC");
    else
        buf_adds(&c->sql, " ORDER BY b.seq");
    add_limit(c, f->only_usable ? 0 : f->limit);
}

static enum err_code read_build(struct query *q, struct build_row *row, struct err *e)
{
    const char *artifact = query_text(q, 7);
    row->seq = query_int(q, 0);
    row->bisection = query_id(q, 1);
    row->task = query_id(q, 2);
    row->fresh = query_int(q, 4);
    row->build.reason = query_dup(q, 6);
    row->build.seconds = query_real(q, 8);
    row->stored.ns = query_int(q, 9);
    row->platform = query_dup(q, 10);
    row->worker = query_dup(q, 11);
    row->host = query_dup(q, 12);
    snprintf(row->build.artifact, sizeof(row->build.artifact), "%s", artifact ? artifact : "");
    enum err_code code = revision_parse(query_text(q, 3), &row->build.revision, e);
    if (!code)
        code = build_status_parse(query_text(q, 5), &row->build.status, e);
    if (!code && !query_is_null(q, 13))
        code = revision_parse(query_text(q, 13), &row->build.revert, e);
    row->fixups = query_dup(q, 14);
    return code ? err_wrap(e, "build %lld", (long long)row->seq) : ERR_OK;
}

/** Rows come by revision, newest first: the first whose file is there stands for its revision. */
static bool is_wanted(struct store *s, const struct build_filter *f, const struct build_list *l,
                      struct query *q)
{
    if (!f->only_usable)
        return true;
    bool is_known = l->n && !strcmp(l->items[l->n - 1].build.revision.hex, query_text(q, 3));
    return !is_known && store_artifact_exists(s, query_text(q, 7));
}

enum err_code store_build_list(struct store *s, const struct build_filter *f,
                               struct build_list *out, struct err *e)
{
    AUTO(clause_fini) struct clause c = {0};
    AUTO(query_end) struct query q = {0};
    AUTO(build_list_fini) struct build_list l = {0};

    build_clause(f, &c);
    enum err_code code = db_query(s, &q, buf_str(&c.sql), c.cells, c.n, e);
    while (!code && !l.has_more && query_next(&q)) {
        if (!is_wanted(s, f, &l, &q))
            continue;
        if (f->limit && l.n == f->limit) {
            l.has_more = true;
            continue;
        }
        l.items = mem_resize(l.items, l.n + 1, sizeof(*l.items));
        l.items[l.n] = (struct build_row){0};
        code = read_build(&q, &l.items[l.n++], e);
    }
    if (!code)
        code = query_check(&q, e);
    if (code)
        return code;
    *out = l;
    l = (struct build_list){0};
    return ERR_OK;
}

/* ---- chains ---- */

enum err_code store_samples_verify(struct store *s, const char *bisection, struct err *e)
{
    for (enum chain_of of = 0; of < CHAIN_COUNT; of++)
        if (chain_verify(s, of, bisection, e))
            return err_wrap(e, "bisection %.80s", bisection);
    return ERR_OK;
}
