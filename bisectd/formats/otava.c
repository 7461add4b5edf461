/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as Apache Otava (Hunter) reads it: a time column, attributes, metrics. Which are which stands
 * in Otava's configuration, not in the file: a column is a metric unless its name or first cell
 * says otherwise. An empty cell is a missing value, and is left out. */
#include "base/mem.h"
#include "formats/csv.h"
#include "formats/format.h"
#include <string.h>
#include <strings.h>

enum role { ROLE_METRIC, ROLE_TIME, ROLE_REVISION, ROLE_ATTRIBUTE };

static const struct {
    const char *name;
    enum role role;
} known[] = {
    {"time", ROLE_TIME},          {"timestamp", ROLE_TIME},    {"date", ROLE_TIME},
    {"datetime", ROLE_TIME},      {"commit", ROLE_REVISION},   {"revision", ROLE_REVISION},
    {"sha", ROLE_REVISION},       {"hash", ROLE_REVISION},     {"commit_hash", ROLE_REVISION},
    {"branch", ROLE_ATTRIBUTE},   {"version", ROLE_ATTRIBUTE}, {"build", ROLE_ATTRIBUTE},
    {"build_id", ROLE_ATTRIBUTE}, {"run", ROLE_ATTRIBUTE},     {"tags", ROLE_ATTRIBUTE},
};

static enum role role_of(struct piece name)
{
    for (size_t i = 0; i < LEN(known); i++)
        if (name.n == strlen(known[i].name) && strncasecmp(name.s, known[i].name, name.n) == 0)
            return known[i].role;
    return ROLE_METRIC;
}

/** The columns of a file, and what of them is known so far. */
struct columns {
    enum role *roles;
    bool *is_seen; /* its first cell that is not empty has settled what it is */
    int time, revision;
};

static void columns_fini(struct columns *c)
{
    mem_free(c->roles);
    mem_free(c->is_seen);
}
DEFINE_AUTO_FINI(struct columns, columns_fini)

static void columns_init(struct columns *k, const struct csv *c)
{
    *k = (struct columns){.roles = mem_array(c->header.n, sizeof(*k->roles)),
                          .is_seen = mem_array(c->header.n, sizeof(*k->is_seen)),
                          .time = -1,
                          .revision = -1};
    for (size_t i = 0; i < c->header.n; i++) {
        k->roles[i] = role_of(c->header.cells[i]);
        if (k->roles[i] == ROLE_TIME && k->time < 0)
            k->time = (int)i;
        if (k->roles[i] == ROLE_REVISION && k->revision < 0)
            k->revision = (int)i;
    }
}

static char *text_of(struct piece p)
{
    return p.n ? mem_dup_n(p.s, p.n) : NULL;
}

static void list_row(struct columns *k, const struct csv *c, struct results *out)
{
    AUTO(mem_free) char *time = text_of(csv_cell(c, k->time));
    AUTO(mem_free) char *revision = text_of(csv_cell(c, k->revision));

    for (size_t i = 0; i < c->header.n; i++) {
        struct piece cell = c->row.cells[i];
        double number;
        if (k->roles[i] != ROLE_METRIC || cell.n == 0)
            continue;
        if (!k->is_seen[i] && !piece_number(cell, &number)) {
            k->roles[i] = ROLE_ATTRIBUTE;
            continue;
        }
        k->is_seen[i] = true;
        AUTO(mem_free) char *name = mem_dup_n(c->header.cells[i].s, c->header.cells[i].n);
        AUTO(mem_free) char *what = mem_printf("line %zu", c->n_line);
        struct result *x = results_at(out, &(struct result_key){.test = name});
        size_t n = x->n;
        x->is_main = true;
        result_add_piece(out, x, cell, what);
        if (x->n > n)
            result_stamp(x, time, revision);
    }
}

bool otava_is(const struct document *d)
{
    AUTO(csv_fini) struct csv c = {0};
    AUTO(columns_fini) struct columns k = {0};

    if (d->json || csv_init(&c, d->text, NULL))
        return false;
    columns_init(&k, &c);
    return c.header.n > 1 && k.time >= 0;
}

enum err_code otava_list(const struct document *d, struct results *out, struct err *e)
{
    AUTO(csv_fini) struct csv c = {0};
    AUTO(columns_fini) struct columns k = {0};
    struct err why = {0};

    if (csv_init(&c, d->text, e))
        return ERR_INVALID;
    columns_init(&k, &c);
    if (k.time < 0)
        return err_set(e, ERR_INVALID,
                       "line %zu: no column is called time, timestamp, date or datetime", c.n_line);
    while (csv_next(&c, &why))
        list_row(&k, &c, out);
    if (why.code)
        return err_set(e, ERR_INVALID, "%s", why.text);
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no column of numbers beside the time");
    return ERR_OK;
}
