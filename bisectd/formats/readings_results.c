/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of the result formats as rows of a time series. */
#include "base/buf.h"
#include "formats/format.h"
#include "formats/reading_row.h"
#include "formats/readings_parse.h"
#include "model/metric.h"
#include <stdio.h>
#include <string.h>

enum { N_CELLS = 8, NUMBER_BYTES = 32 };

/** A result without numbers, as cells. */
struct named {
    struct row_cell cells[N_CELLS];
    size_t n;
    struct buf label;
};

static void add_cell(struct named *c, const char *name, const char *text)
{
    if (text && *text)
        c->cells[c->n++] = (struct row_cell){{name, strlen(name)}, {text, strlen(text)}};
}

static void name_result(struct named *c, const struct result *x, bool has_field)
{
    bool is_one = strcmp(x->suite, x->test) == 0;

    buf_adds(&c->label, x->suite);
    if (x->test[0] && !is_one)
        buf_printf(&c->label, "%s%s", c->label.len ? " " : "", x->test);
    if (x->options[0])
        buf_printf(&c->label, "%s%s", c->label.len ? " " : "", x->options);
    if (has_field && x->field[0])
        buf_printf(&c->label, "%s%s", c->label.len ? " " : "", x->field);
    add_cell(c, "metric", buf_str(&c->label));
    add_cell(c, "suite", x->suite);
    add_cell(c, "test", x->test);
    add_cell(c, "options", x->options);
    add_cell(c, "field", x->field);
}

static void take(struct readings *r, const struct readings_query *q, const struct named *name,
                 double value, const struct stamp *stamp)
{
    struct named c = *name;
    char number[NUMBER_BYTES];

    snprintf(number, sizeof(number), "%.17g", value);
    add_cell(&c, "value", number);
    add_cell(&c, "revision", stamp->revision);
    add_cell(&c, "time", stamp->time);
    struct row row = {.cells = c.cells, .n = c.n, .line = r->n_rows + 1};
    row_roles_find(c.cells, c.n, &row.roles);
    row_take(r, q, &row);
}

/** All values of one revision are one run; values that say when they were taken are one each. */
static void take_result(struct readings *r, const struct readings_query *q,
                        const struct results *all, const struct result *x)
{
    bool has_field = pairs_get(&q->where, "field") != NULL;
    struct named c = {.n = 0};

    if (!x->is_main && !has_field) {
        r->n_rows++;
        r->n_passed_over++;
        return;
    }
    if (x->fault || x->n == 0) {
        r->n_rows++;
        readings_reject(r, "the document has no number for it", r->n_rows);
        return;
    }
    name_result(&c, x, has_field);
    for (size_t i = 0; x->stamps && i < x->n && !r->is_full; i++)
        take(r, q, &c, x->values[i], &x->stamps[i]);
    if (!x->stamps)
        take(r, q, &c, reduce_values(REDUCE_MEDIAN, x->values, x->n), &all->stamp);
    buf_fini(&c.label);
}

enum err_code readings_of_results(const char *bytes, size_t n, const struct readings_query *q,
                                  struct readings *r, struct err *e)
{
    AUTO(results_fini) struct results all = {0};

    if (format_list(METRIC_AUTO, bytes, n, &all, e)) {
        if (e->hint[0]) /* it speaks of metrics */
            err_hint(e,
                     "Expected CSV whose head line has a column revision, JSON lines, an answer of "
                     "Treeherder or what a benchmark wrote; --format csv, jsonl or perfherder "
                     "says why it is none.");
        return e->code;
    }
    for (size_t i = 0; i < all.n && !r->is_full; i++)
        take_result(r, q, &all, &all.items[i]);
    return ERR_OK;
}
