/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/readings.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/reading_row.h"
#include "model/quantity.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_TEXT = 200 };

/* Names: revisions, metrics, hosts, each stored once. */

struct names {
    size_t n, n_slots;
    char **items;
    size_t *slots; /* 1 + item, 0 for none */
};

static uint64_t hash_text(struct piece text)
{
    uint64_t h = 0;

    for (size_t i = 0; i < text.n; i++)
        h = mix64(h ^ (unsigned char)text.s[i]);
    return h;
}

static size_t *slot_of(const struct names *all, struct piece text)
{
    size_t at = (size_t)hash_text(text) & (all->n_slots - 1);

    while (all->slots[at] && !piece_is(text, all->items[all->slots[at] - 1]))
        at = (at + 1) & (all->n_slots - 1);
    return &all->slots[at];
}

static void grow(struct names *all)
{
    all->n_slots = all->n_slots ? 2 * all->n_slots : 64;
    mem_free(all->slots);
    all->slots = mem_array(all->n_slots, sizeof(*all->slots));
    for (size_t i = 0; i < all->n; i++)
        *slot_of(all, (struct piece){all->items[i], strlen(all->items[i])}) = i + 1;
}

const char *readings_intern(struct readings *r, struct piece text)
{
    AUTO(buf_fini) struct buf clean = {0};

    text_clean(&clean, text.n ? text.s : "", text.n, LONGEST_TEXT);
    struct piece p = {buf_str(&clean), clean.len};
    if (!r->names)
        r->names = mem_alloc(sizeof(*r->names));
    struct names *all = r->names;
    if (2 * (all->n + 1) > all->n_slots)
        grow(all);
    size_t *slot = slot_of(all, p);
    if (*slot == 0) {
        all->items = mem_resize(all->items, all->n + 1, sizeof(*all->items));
        all->items[all->n] = mem_dup_n(p.s, p.n);
        *slot = ++all->n;
    }
    return all->items[*slot - 1];
}

const char *readings_name(struct readings *r, const char *text)
{
    return readings_intern(r, (struct piece){text, strlen(text)});
}

void readings_fini(struct readings *r)
{
    for (size_t i = 0; r->names && i < r->names->n; i++)
        mem_free(r->names->items[i]);
    if (r->names) {
        mem_free(r->names->items);
        mem_free(r->names->slots);
    }
    mem_free(r->names);
    mem_free(r->items);
    strings_fini(&r->columns);
    mem_free(r->has_column);
    *r = (struct readings){0};
}

void readings_reject(struct readings *r, const char *reason, size_t line)
{
    for (size_t i = 0; i < r->n_rejects; i++)
        if (strcmp(r->rejects[i].reason, reason) == 0) {
            r->rejects[i].n++;
            return;
        }
    if (r->n_rejects < READINGS_REASONS)
        r->rejects[r->n_rejects++] = (struct reject){reason, 1, line};
}

/* Roles */

/* clang-format off */
static const struct {
    enum row_role role;
    const char *const names[8]; /* the first that is there counts; ends with NULL */
} aliases[] = {
    {ROW_REVISION, {"revision", "commit", "sha", "hash", "git_commit", "changeset", "rev"}},
    {ROW_TIME,     {"time", "at", "timestamp", "push_timestamp", "date"}},
    {ROW_VALUE,    {"value"}},
    {ROW_METRIC,   {"metric", "test", "benchmark", "signature"}},
    {ROW_PLATFORM, {"platform", "machine_platform"}},
    {ROW_HOST,     {"host", "machine", "runner"}},
    {ROW_STATUS,   {"status"}},
};
/* clang-format on */

static bool is_called(struct piece name, const char *what)
{
    return strlen(what) == name.n && strncasecmp(name.s, what, name.n) == 0;
}

static int cell_called(const struct row_cell *cells, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (is_called(cells[i].name, name))
            return (int)i;
    return -1;
}

void row_roles_find(const struct row_cell *cells, size_t n, struct row_roles *out)
{
    for (size_t i = 0; i < LEN(aliases); i++) {
        int *to = &out->cell[aliases[i].role];
        *to = -1;
        for (size_t k = 0; *to < 0 && aliases[i].names[k]; k++)
            *to = cell_called(cells, n, aliases[i].names[k]);
    }
}

/* Rows */

static struct piece text_of(const struct row *row, enum row_role role)
{
    int i = row->roles.cell[role];

    return i < 0 ? (struct piece){"", 0} : piece_trimmed(row->cells[i].text);
}

/** As `where` names a column: by its own name, or by that of its role. */
static int column_of(const struct row *row, const char *name)
{
    int at = cell_called(row->cells, row->n, name);

    for (size_t i = 0; at < 0 && i < LEN(aliases); i++)
        if (strcasecmp(aliases[i].names[0], name) == 0)
            at = row->roles.cell[aliases[i].role];
    return at;
}

/** Each column of a row is a metric, and looked at by itself. */
static bool is_each_metric(const struct row *row, const char *column)
{
    return row->n_metrics > 0 && strcasecmp(column, "metric") == 0;
}

/** Notes which columns of `where` there are at all. */
static void note_where(struct readings *r, const struct readings_query *q, const struct row *row)
{
    size_t n = q->where.n;

    if (r->n_has == n)
        return;
    if (!r->has_column)
        r->has_column = mem_array(n, sizeof(*r->has_column));
    for (size_t i = 0; i < n; i++) {
        const char *column = q->where.items[i].key;
        if (r->has_column[i] || (column_of(row, column) < 0 && !is_each_metric(row, column)))
            continue;
        r->has_column[i] = true;
        r->n_has++;
    }
}

void readings_find_no_column(struct readings *r, const struct readings_query *q)
{
    for (size_t i = 0; r->has_column && !r->no_column && i < q->where.n; i++)
        if (!r->has_column[i])
            r->no_column = readings_name(r, q->where.items[i].key);
}

static bool is_wanted(const struct readings_query *q, const struct row *row)
{
    for (size_t i = 0; i < q->where.n; i++) {
        int at = column_of(row, q->where.items[i].key);
        if (at < 0 && is_each_metric(row, q->where.items[i].key))
            continue;
        if (at < 0 || !piece_is(piece_trimmed(row->cells[at].text), q->where.items[i].value))
            return false;
    }
    return true;
}

/** The same for a column that is a metric. */
static bool is_metric_wanted(const struct readings_query *q, struct piece name)
{
    for (size_t i = 0; i < q->where.n; i++)
        if (strcasecmp(q->where.items[i].key, "metric") == 0 &&
            !piece_is(name, q->where.items[i].value))
            return false;
    return true;
}

enum err_code reading_time(const char *text, struct utc *out, struct err *e)
{
    double number;

    if (!piece_number((struct piece){text, strlen(text)}, &number))
        return utc_parse(text, out, e);
    /* Seconds until the year 5138 are below 1e11. */
    double unit = number < 1e11 ? 1e9 : number < 1e14 ? 1e6 : number < 1e17 ? 1e3 : 1;
    if (!(number >= 0) || number * unit > 9.2e18)
        return err_set(e, ERR_INVALID, "%.40s is no time since 1970", text);
    out->ns = (int64_t)(number * unit);
    return ERR_OK;
}

/** False: the row says when, and nobody can tell what it says. */
static bool take_time(const struct readings_query *q, struct piece text, struct reading *out)
{
    AUTO(mem_free) char *stated = mem_dup_n(text.s, text.n < LONGEST_TEXT ? text.n : LONGEST_TEXT);
    const char *time = text.n ? stated : q->time;

    out->has_time = time && *time;
    return !out->has_time || reading_time(time, &out->at, NULL) == ERR_OK;
}

static void add(struct readings *r, const struct reading *new)
{
    if (r->n == READINGS_MOST) {
        r->is_full = true;
        return;
    }
    if (r->n == r->cap) {
        r->cap = 2 * r->cap + 256;
        r->items = mem_resize(r->items, r->cap, sizeof(*r->items));
    }
    r->items[r->n++] = *new;
}

static void add_value(struct readings *r, const struct row *row, struct piece text,
                      struct reading *new)
{
    new->value = NAN;
    text = piece_trimmed(text);
    if (text.n == 0)
        readings_reject(r, "no value", row->line);
    else if (!piece_number(text, &new->value) || !isfinite(new->value))
        readings_reject(r, "the value is not a number", row->line);
    else if (quantity_check(new->value, NULL))
        readings_reject(r, "the value is over the limit of 1e100", row->line);
    else
        add(r, new);
}

void row_take(struct readings *r, const struct readings_query *q, const struct row *row)
{
    struct piece status = text_of(row, ROW_STATUS), revision = text_of(row, ROW_REVISION);
    struct reading new = {.line = row->line};

    r->n_rows++;
    note_where(r, q, row);
    if (!is_wanted(q, row)) {
        r->n_passed_over++;
        return;
    }
    if (status.n && !piece_is(status, "ok")) {
        readings_reject(r, "its status is not ok", row->line);
        return;
    }
    if (revision.n == 0 && q->revision)
        revision = (struct piece){q->revision, strlen(q->revision)};
    if (revision.n == 0) {
        readings_reject(r, "no revision", row->line);
        return;
    }
    if (!take_time(q, text_of(row, ROW_TIME), &new)) {
        readings_reject(r, "the time is in no known form", row->line);
        return;
    }
    new.revision = readings_intern(r, revision);
    new.metric = readings_intern(r, text_of(row, ROW_METRIC));
    new.platform = readings_intern(r, text_of(row, ROW_PLATFORM));
    new.host = readings_intern(r, text_of(row, ROW_HOST));
    if (row->n_metrics == 0)
        add_value(r, row, text_of(row, ROW_VALUE), &new);
    for (size_t i = 0; i < row->n_metrics; i++) {
        const struct row_cell *cell = &row->cells[row->metrics[i]];
        if (!is_metric_wanted(q, cell->name))
            continue;
        new.metric = readings_intern(r, cell->name);
        add_value(r, row, cell->text, &new);
    }
}
