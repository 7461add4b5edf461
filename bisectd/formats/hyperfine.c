/* SPDX-License-Identifier: Apache-2.0 */
/* hyperfine --export-json and --export-csv. Times are in seconds, whatever --time-unit says. */
#include "base/mem.h"
#include "formats/csv.h"
#include "formats/format.h"

/* The first one there is the main one. */
static const struct {
    const char *field, *unit;
    bool is_list;
} fields[] = {
    {"times", "s", true},   {"mean", "s", false}, {"stddev", "s", false},
    {"median", "s", false}, {"user", "s", false}, {"system", "s", false},
    {"min", "s", false},    {"max", "s", false},  {"memory_usage_byte", "B", true},
};

static bool is_csv(const struct document *d)
{
    return piece_starts(piece_trimmed(d->text), "command,mean,");
}

bool hyperfine_is(const struct document *d)
{
    const json *results = json_at(d->json, "results");

    return is_csv(d) ||
           (json_is_array(results) && json_is_string(json_at(json_item(results, 0), "command")));
}

/* ---- JSON ---- */

static char *options_of(const json *parameters)
{
    struct buf out = {0};

    for (const char *k = json_first_key(parameters); k; k = json_next_key(parameters, k))
        buf_printf(&out, "%s%s=%s", out.len ? " " : "", k, json_str(json_at(parameters, k), ""));
    return buf_take(&out);
}

/** Runs that failed stay in with --ignore-failure. */
static void fault_exits(struct result *x, const json *codes)
{
    for (size_t i = 0; json_is_array(codes) && i < json_len(codes); i++) {
        const json *code = json_item(codes, i);
        double status = json_num(code, 0);
        if (json_is_null(code))
            result_fault(x, "run %zu was ended by a signal", i + 1);
        else if (status >= 128)
            result_fault(x, "run %zu was ended by signal %.0f", i + 1, status - 128);
        else if (status != 0)
            result_fault(x, "run %zu exited with status %.0f", i + 1, status);
    }
}

static enum err_code list_command(const json *command, struct results *out, struct err *e)
{
    AUTO(mem_free) char *options = options_of(json_at(command, "parameters"));
    const char *name = NULL;
    bool has_main = false;

    if (json_need_str(command, "command", &name, e))
        return ERR_INVALID;
    for (size_t i = 0; i < LEN(fields); i++) {
        const json *v = json_at(command, fields[i].field);
        if (!v)
            continue;
        struct result *x = results_at(
            out, &(struct result_key){.test = name, .options = options, .field = fields[i].field});
        result_set_unit(x, fields[i].unit);
        x->is_main = !has_main;
        has_main = true;
        fault_exits(x, json_at(command, "exit_codes"));
        if (fields[i].is_list)
            result_add_array(out, x, v, fields[i].field);
        else
            result_add_json(out, x, v, fields[i].field);
    }
    return ERR_OK;
}

static enum err_code list_json(const json *document, struct results *out, struct err *e)
{
    json *results = NULL;

    if (json_need_array(document, "results", &results, e))
        return ERR_INVALID;
    for (size_t i = 0; i < json_len(results); i++) {
        if (list_command(json_item(results, i), out, e))
            return err_wrap(e, "result %zu", i + 1);
    }
    return ERR_OK;
}

/* ---- CSV ---- */

/** The columns that hold parameters. */
static char *options_of_row(const struct csv *c)
{
    struct buf out = {0};
    static const char prefix[] = "parameter_";

    for (size_t i = 0; i < c->header.n; i++) {
        struct piece name = c->header.cells[i];
        if (!piece_starts(name, prefix))
            continue;
        buf_printf(&out, "%s%.*s=", out.len ? " " : "", (int)(name.n - sizeof(prefix) + 1),
                   name.s + sizeof(prefix) - 1);
        buf_add(&out, c->row.cells[i].s, c->row.cells[i].n);
    }
    return buf_take(&out);
}

static void list_row(const struct csv *c, struct results *out)
{
    AUTO(mem_free) char *options = options_of_row(c);
    struct piece command = csv_cell(c, csv_column(c, "command"));
    AUTO(mem_free) char *name = mem_dup_n(command.s, command.n);

    for (size_t i = 0; i < LEN(fields); i++) {
        int column = csv_column(c, fields[i].field);
        if (column < 0)
            continue;
        struct result *x = results_at(
            out, &(struct result_key){.test = name, .options = options, .field = fields[i].field});
        result_set_unit(x, fields[i].unit);
        x->is_main = piece_is(c->header.cells[column], "mean");
        result_add_piece(out, x, c->row.cells[column], fields[i].field);
    }
}

static enum err_code list_csv(const struct document *d, struct results *out, struct err *e)
{
    AUTO(csv_fini) struct csv c = {0};
    struct err why = {0};

    if (csv_init(&c, d->text, e))
        return ERR_INVALID;
    while (csv_next(&c, &why))
        list_row(&c, out);
    return why.code ? err_set(e, ERR_INVALID, "%s", why.text) : ERR_OK;
}

enum err_code hyperfine_list(const struct document *d, struct results *out, struct err *e)
{
    if (is_csv(d))
        return list_csv(d, out, e);
    if (document_need_json(d, "hyperfine's JSON or CSV", e))
        return ERR_INVALID;
    return list_json(d->json, out, e);
}
