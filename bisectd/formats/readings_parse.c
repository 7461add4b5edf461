/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of readings.h, each down to rows. */
#include "formats/readings_parse.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/csv.h"
#include "formats/document.h"
#include "formats/reading_row.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 50 };

const char *const readings_formats[] = {"auto", "csv", "jsonl", "perfherder", "results", NULL};

static void note_columns(struct readings *r, const struct row_cell *cells, size_t n)
{
    if (r->n_rows > 0 || r->columns.n > 0)
        return;
    for (size_t i = 0; i < n && i < MOST_SHOWN; i++)
        strings_add(&r->columns, readings_intern(r, cells[i].name));
}

/* ---- CSV ---- */

struct table {
    struct csv csv;
    struct row_cell *cells;
    struct row_roles roles;
    size_t *metrics;
    size_t n_metrics;
    bool has_metrics; /* they are known: from the first row */
};

static void table_fini(struct table *t)
{
    csv_fini(&t->csv);
    mem_free(t->cells);
    mem_free(t->metrics);
}
DEFINE_AUTO_FINI(struct table, table_fini)

static bool has_role(const struct row_roles *roles, size_t column)
{
    for (size_t i = 0; i < ROW_ROLES; i++)
        if (roles->cell[i] == (int)column)
            return true;
    return false;
}

/** Columns without a role that hold a number in the first row: each is a metric. */
static void find_metrics(struct table *t)
{
    double number;

    t->has_metrics = true;
    if (t->roles.cell[ROW_VALUE] >= 0)
        return;
    t->metrics = mem_array(t->csv.header.n + 1, sizeof(*t->metrics));
    for (size_t i = 0; i < t->csv.header.n; i++)
        if (!has_role(&t->roles, i) && piece_number(t->cells[i].text, &number))
            t->metrics[t->n_metrics++] = i;
}

/** False where nothing behind this row can be told apart any more. */
static bool pass_over_row(struct table *t, struct readings *r)
{
    r->n_rows++;
    if (!t->csv.row.cells) {
        readings_reject(r, "a quote does not end; nothing behind it was read", t->csv.n_line);
        return false;
    }
    readings_reject(r, "not as many columns as the head line", t->csv.n_line);
    return true;
}

/** Whether the head line has semicolons where it should have commas. Values of such files tend to
 *  have decimal commas, so it is not guessed what they mean. */
static bool has_semicolons(struct piece text)
{
    struct piece rest = piece_trimmed(text), line;

    return piece_line(&rest, &line) && memchr(line.s, ';', line.n) && !memchr(line.s, ',', line.n);
}

static enum err_code refuse_semicolons(struct err *e)
{
    err_set(e, ERR_INVALID, "columns of the head line are separated by semicolons");
    return err_hint(e, "Expected commas between columns, and points in numbers.");
}

static enum err_code parse_csv(struct piece text, const struct readings_query *q,
                               struct readings *r, struct err *e)
{
    AUTO(table_fini) struct table t = {0};
    struct err bad = {0};

    if (has_semicolons(text))
        return refuse_semicolons(e);
    if (csv_init(&t.csv, text, e))
        return e->code;
    t.cells = mem_array(t.csv.header.n, sizeof(*t.cells));
    for (size_t i = 0; i < t.csv.header.n; i++)
        t.cells[i].name = t.csv.header.cells[i];
    row_roles_find(t.cells, t.csv.header.n, &t.roles);
    note_columns(r, t.cells, t.csv.header.n);
    while (!r->is_full) {
        bad = (struct err){0};
        if (!csv_next(&t.csv, &bad)) {
            if (!bad.code || !pass_over_row(&t, r))
                break;
            continue;
        }
        for (size_t i = 0; i < t.csv.header.n; i++)
            t.cells[i].text = t.csv.row.cells[i];
        if (!t.has_metrics)
            find_metrics(&t);
        const struct row row = {t.cells,   t.csv.header.n, t.roles,
                                t.metrics, t.n_metrics,    t.csv.n_line};
        row_take(r, q, &row);
    }
    return ERR_OK;
}

/* ---- JSON ---- */

enum { CELLS_MOST = 64, NUMBER_BYTES = 32 };

/** Cells of an object. Text of numbers lies in `room`. */
struct fields {
    struct row_cell cells[CELLS_MOST];
    size_t n;
    char room[CELLS_MOST][NUMBER_BYTES];
};

static void add_field(struct fields *f, const char *name, const json *v)
{
    struct row_cell *cell = &f->cells[f->n];
    const char *text = json_str(v, NULL);

    if (f->n == CELLS_MOST)
        return;
    if (json_is_number(v)) {
        snprintf(f->room[f->n], NUMBER_BYTES, "%.17g", json_num(v, NAN));
        text = f->room[f->n];
    }
    if (!text)
        return; /* null, and what is nested, is as if it were not there */
    *cell = (struct row_cell){{name, strlen(name)}, {text, strlen(text)}};
    f->n++;
}

static void add_fields(struct fields *f, const json *object)
{
    for (const char *k = json_first_key(object); k; k = json_next_key(object, k))
        add_field(f, k, json_at(object, k));
}

static void take_fields(struct readings *r, const struct readings_query *q, struct fields *f,
                        size_t line)
{
    struct row row = {.cells = f->cells, .n = f->n, .line = line};

    row_roles_find(f->cells, f->n, &row.roles);
    note_columns(r, f->cells, f->n);
    row_take(r, q, &row);
}

static void take_object(struct readings *r, const struct readings_query *q, const json *v,
                        size_t line)
{
    struct fields f = {.n = 0};

    if (!json_is_object(v)) {
        r->n_rows++;
        readings_reject(r, "not a JSON object", line);
        return;
    }
    add_fields(&f, v);
    take_fields(r, q, &f, line);
}

static enum err_code parse_jsonl(const struct document *d, const struct readings_query *q,
                                 struct readings *r, struct err *e)
{
    struct piece rest = d->text, line;

    (void)e;
    for (size_t i = 0; json_is_array(d->json) && i < json_len(d->json) && !r->is_full; i++)
        take_object(r, q, json_item(d->json, i), i + 1);
    if (json_is_array(d->json))
        return ERR_OK;
    for (size_t n = 1; !r->is_full && piece_line(&rest, &line); n++) {
        AUTO(json_free) json *v = NULL;
        line = piece_trimmed(line);
        if (line.n > 0 && foreign_json(line, &v, NULL)) {
            r->n_rows++;
            readings_reject(r, "not JSON", n);
        } else if (line.n > 0) {
            take_object(r, q, v, n);
        }
    }
    return ERR_OK;
}

/* ---- Treeherder ---- */

static bool is_value(const json *v)
{
    return json_is_object(v) && json_at(v, "value") && json_at(v, "push_timestamp");
}

static bool is_summary(const json *v)
{
    return json_is_object(v) && json_at(v, "signature_hash") && json_is_array(json_at(v, "data"));
}

/** {"<signature>": [value, …], …}: at least one list, and every value a list of values. */
static bool is_by_signature(const json *v)
{
    size_t n = 0;

    for (const char *k = json_first_key(v); json_is_object(v) && k; k = json_next_key(v, k), n++)
        if (!json_is_array(json_at(v, k)) ||
            (json_len(json_at(v, k)) > 0 && !is_value(json_item(json_at(v, k), 0))))
            return false;
    return n > 0;
}

static bool is_perfherder(const json *v)
{
    return is_by_signature(v) || (json_is_array(v) && is_summary(json_item(v, 0)));
}

/** The values of one signature; what the signature says stands beside what each value says. */
static void take_values(struct readings *r, const struct readings_query *q, const json *values,
                        const struct fields *signature)
{
    for (size_t i = 0; i < json_len(values) && !r->is_full; i++) {
        struct fields f = {.n = 0};
        const json *v = json_item(values, i);
        if (!json_is_object(v)) {
            r->n_rows++;
            readings_reject(r, "not a JSON object", i + 1);
            continue;
        }
        add_fields(&f, v);
        for (size_t k = 0; k < signature->n && f.n < CELLS_MOST; k++)
            f.cells[f.n++] = signature->cells[k];
        take_fields(r, q, &f, i + 1);
    }
}

/** "suite test" once if they are equal, as Perfherder shows them. */
static void add_test(struct fields *f, const json *summary, char *room, size_t n)
{
    const char *suite = json_str(json_at(summary, "suite"), "");
    const char *test = json_str(json_at(summary, "test"), "");
    bool is_one = !suite[0] || !test[0] || strcmp(suite, test) == 0;

    snprintf(room, n, "%s%s%s", suite, is_one ? "" : " ", is_one && suite[0] ? "" : test);
    f->cells[f->n++] = (struct row_cell){{"metric", 6}, {room, strlen(room)}};
}

static enum err_code parse_perfherder(const struct document *d, const struct readings_query *q,
                                      struct readings *r, struct err *e)
{
    const json *v = d->json;

    if (!is_perfherder(v))
        return err_set(e, ERR_INVALID,
                       "expected what performance/data or performance/summary answers");
    for (const char *k = json_first_key(v); json_is_object(v) && k; k = json_next_key(v, k)) {
        struct fields f = {.n = 1, .cells = {{{"signature", 9}, {k, strlen(k)}}}};
        take_values(r, q, json_at(v, k), &f);
    }
    for (size_t i = 0; json_is_array(v) && i < json_len(v); i++) {
        const json *summary = json_item(v, i);
        struct fields f = {.n = 0};
        char name[256];
        if (!is_summary(summary)) {
            r->n_rows++;
            readings_reject(r, "not a signature with data", i + 1);
            continue;
        }
        add_test(&f, summary, name, sizeof(name));
        add_field(&f, "signature", json_at(summary, "signature_hash"));
        add_field(&f, "suite", json_at(summary, "suite"));
        add_field(&f, "platform", json_at(summary, "platform"));
        add_field(&f, "repository", json_at(summary, "repository_name"));
        take_values(r, q, json_at(summary, "data"), &f);
    }
    return ERR_OK;
}

/* ---- telling them apart ---- */

static bool is_json(struct piece text)
{
    struct piece p = piece_trimmed(text);

    return p.n > 0 && (*p.s == '{' || *p.s == '[');
}

/** A head line with a column for revisions and another one. */
static bool is_csv(struct piece text)
{
    AUTO(csv_fini) struct csv c = {0};
    struct row_roles roles;
    bool is_it = false;

    if (csv_init(&c, text, NULL) == ERR_OK && c.header.n > 1) {
        struct row_cell *cells = mem_array(c.header.n, sizeof(*cells));
        for (size_t i = 0; i < c.header.n; i++)
            cells[i].name = c.header.cells[i];
        row_roles_find(cells, c.header.n, &roles);
        is_it = roles.cell[ROW_REVISION] >= 0;
        mem_free(cells);
    }
    return is_it;
}

/** A line, or a list, of objects that have a value. */
static bool is_jsonl(const struct document *d)
{
    AUTO(json_free) json *first = NULL;
    struct piece rest = piece_trimmed(d->text), line;

    if (json_is_array(d->json))
        return json_at(json_item(d->json, 0), "value") != NULL;
    if (!piece_line(&rest, &line) || foreign_json(line, &first, NULL))
        return false;
    return json_is_object(first) && json_at(first, "value");
}

static enum readings_format format_of_document(const struct document *d)
{
    if (d->json && is_perfherder(d->json))
        return READINGS_PERFHERDER;
    if (is_json(d->text) && is_jsonl(d))
        return READINGS_JSONL;
    return is_csv(d->text) ? READINGS_CSV : READINGS_RESULTS;
}

static enum err_code parse(const struct document *d, const struct readings_query *q,
                           struct readings *out, struct err *e)
{
    enum readings_format format = q->format == READINGS_AUTO ? format_of_document(d) : q->format;

    if (piece_trimmed(d->text).n == 0)
        return err_set(e, ERR_INVALID, "it is empty");
    switch (format) {
    case READINGS_CSV:
        return parse_csv(d->text, q, out, e);
    case READINGS_JSONL:
        return parse_jsonl(d, q, out, e);
    case READINGS_PERFHERDER:
        return parse_perfherder(d, q, out, e);
    default:
        if (readings_of_results(d->text.s, d->text.n, q, out, e))
            return has_semicolons(d->text) ? refuse_semicolons(e) : e->code;
        return ERR_OK;
    }
}

enum err_code readings_parse(const char *bytes, size_t n, const struct readings_query *q,
                             struct readings *out, struct err *e)
{
    AUTO(document_fini) struct document d = {0};
    struct err own = {0};
    struct utc time;

    e = e ? e : &own;
    if (q->time && reading_time(q->time, &time, e))
        return e->code;
    document_init(&d, (struct piece){bytes, n});
    if (parse(&d, q, out, e))
        return e->code;
    if (out->is_full)
        return err_set(e, ERR_LIMIT, "more than %d rows", READINGS_MOST);
    readings_find_no_column(out, q);
    return ERR_OK;
}
