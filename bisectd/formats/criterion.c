/* SPDX-License-Identifier: Apache-2.0 */
/* criterion (Rust): raw.csv, sample.json, estimates.json, and cargo-criterion's messages. What it
 * calls measured is the total of several iterations. */
#include "base/mem.h"
#include "formats/csv.h"
#include "formats/format.h"
#include <math.h>
#include <string.h>

static const char *const estimates[] = {"slope", "mean", "median", "median_abs_dev", "std_dev"};

static bool is_csv(const struct document *d)
{
    return piece_starts(piece_trimmed(d->text), "group,function,value,");
}

static bool is_messages(const struct document *d)
{
    return piece_find(d->text, "\"reason\"") && piece_find(d->text, "benchmark-complete");
}

bool criterion_is(const struct document *d)
{
    return is_csv(d) || is_messages(d) ||
           (json_is_array(json_at(d->json, "iters")) && json_is_array(json_at(d->json, "times"))) ||
           json_is_number(json_at(json_at(d->json, "mean"), "point_estimate"));
}

static struct result *at(struct results *out, const struct result_key *key, const char *unit)
{
    struct result *x = results_at(out, key);

    result_set_unit(x, unit);
    return x;
}

/** One measured total of a number of iterations. */
static void add_share(struct results *out, struct result *x, double total, double iterations)
{
    if (iterations > 0)
        result_add(out, x, total / iterations);
    else
        result_fault(x, "an iteration count is not positive");
}

static void add_shares(struct results *out, struct result *x, const json *totals,
                       const json *iterations)
{
    x->is_main = true;
    if (!json_is_array(totals) || json_len(totals) == 0 || json_len(totals) != json_len(iterations))
        result_fault(x, "as many times as iteration counts are wanted, got %zu and %zu",
                     json_len(totals), json_len(iterations));
    for (size_t i = 0; !x->fault && i < json_len(totals); i++) {
        const json *total = json_item(totals, i), *count = json_item(iterations, i);
        if (json_is_number(total) && json_is_number(count))
            add_share(out, x, json_num(total, NAN), json_num(count, NAN));
        else
            result_fault(x, "value %zu is not a number", i + 1);
    }
}

/* ---- raw.csv ---- */

/** function/value, as criterion's own folders have it. */
static char *test_of(const struct csv *c)
{
    struct piece function = csv_cell(c, csv_column(c, "function"));
    struct piece value = csv_cell(c, csv_column(c, "value"));
    bool has_both = function.n > 0 && value.n > 0;

    return mem_printf("%.*s%s%.*s", (int)function.n, function.s, has_both ? "/" : "", (int)value.n,
                      value.s);
}

static void list_row(const struct csv *c, int total_column, struct results *out)
{
    struct piece group = csv_cell(c, csv_column(c, "group"));
    struct piece unit_cell = csv_cell(c, csv_column(c, "unit"));
    struct piece total_cell = csv_cell(c, total_column);
    struct piece count_cell = csv_cell(c, csv_column(c, "iteration_count"));
    AUTO(mem_free) char *suite = mem_dup_n(group.s, group.n);
    AUTO(mem_free) char *test = test_of(c);
    AUTO(mem_free) char *unit = unit_cell.n ? mem_dup_n(unit_cell.s, unit_cell.n) : mem_dup("ns");
    double total, count;
    struct result *x =
        at(out, &(struct result_key){.suite = suite, .test = test, .field = "sample"}, unit);

    x->is_main = true;
    if (strcmp(x->unit, unit) != 0)
        result_fault(x, "times in %s and in %.16s", x->unit, unit);
    if (piece_number(total_cell, &total) && piece_number(count_cell, &count))
        add_share(out, x, total, count);
    else
        result_fault(x, "line %zu has no number", c->n_line);
}

static enum err_code list_csv(const struct document *d, struct results *out, struct err *e)
{
    AUTO(csv_fini) struct csv c = {0};
    struct err why = {0};

    if (csv_init(&c, d->text, e))
        return ERR_INVALID;
    int total = csv_column(&c, "sample_measured_value");
    if (total < 0)
        total = csv_column(&c, "sample_time_nanos");
    if (total < 0 || csv_column(&c, "iteration_count") < 0)
        return err_set(e, ERR_INVALID,
                       "the header wants sample_measured_value and iteration_count");
    while (csv_next(&c, &why))
        list_row(&c, total, out);
    return why.code ? err_set(e, ERR_INVALID, "%s", why.text) : ERR_OK;
}

/* ---- estimates.json, sample.json: of one benchmark, which they do not name ---- */

static enum err_code list_json(const json *o, struct results *out, struct err *e)
{
    bool has_main = false;

    if (json_at(o, "iters") || json_at(o, "times")) {
        add_shares(out, at(out, &(struct result_key){.field = "sample"}, "ns"), json_at(o, "times"),
                   json_at(o, "iters"));
        return ERR_OK;
    }
    for (size_t i = 0; i < LEN(estimates); i++) {
        const json *estimate = json_at(o, estimates[i]);
        if (json_is_null(estimate)) /* there is no slope with flat sampling */
            continue;
        struct result *x = at(out, &(struct result_key){.field = estimates[i]}, "ns");
        x->is_main = !has_main;
        has_main = true;
        result_add_json(out, x, json_at(estimate, "point_estimate"), "point_estimate");
    }
    return out->n ? ERR_OK : err_set(e, ERR_INVALID, "neither samples nor estimates in the JSON");
}

/* ---- messages ---- */

static enum err_code list_message(const json *o, struct results *out, struct err *e)
{
    static const char *const typical = "typical";
    const char *reason = json_str(json_at(o, "reason"), "");
    const char *id = NULL;

    if (strcmp(reason, "benchmark-complete") != 0)
        return ERR_OK;
    if (json_need_str(o, "id", &id, e))
        return ERR_INVALID;
    add_shares(out,
               at(out, &(struct result_key){.test = id, .field = "sample"},
                  json_str(json_at(o, "unit"), "ns")),
               json_at(o, "measured_values"), json_at(o, "iteration_count"));
    for (size_t i = 0; i <= LEN(estimates); i++) {
        const char *field = i < LEN(estimates) ? estimates[i] : typical;
        const json *estimate = json_at(o, field);
        if (json_is_null(estimate))
            continue;
        struct result *x = at(out, &(struct result_key){.test = id, .field = field},
                              json_str(json_at(estimate, "unit"), "ns"));
        result_add_json(out, x, json_at(estimate, "estimate"), "estimate");
    }
    return ERR_OK;
}

static enum err_code list_messages(struct piece rest, struct results *out, struct err *e)
{
    struct err why = {0};
    json *o = NULL;
    size_t n_line = 0;

    while (document_next_object(&rest, &n_line, &o, &why)) {
        enum err_code rc = list_message(o, out, e);
        json_free(o);
        if (rc)
            return err_wrap(e, "line %zu", n_line);
    }
    return why.code ? err_set(e, ERR_INVALID, "%s", why.text) : ERR_OK;
}

enum err_code criterion_list(const struct document *d, struct results *out, struct err *e)
{
    enum err_code rc = ERR_OK;

    if (is_csv(d))
        rc = list_csv(d, out, e);
    else if (is_messages(d))
        rc = list_messages(d->text, out, e);
    else if (document_need_json(d, "criterion's raw.csv, JSON or messages", e))
        rc = ERR_INVALID;
    else
        rc = list_json(d->json, out, e);
    if (!rc && out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no sample in the output");
    return rc;
}
