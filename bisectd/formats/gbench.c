/* SPDX-License-Identifier: Apache-2.0 */
/* Google Benchmark, JSON and CSV. Iterations are samples, aggregates of them are not. */
#include "base/mem.h"
#include "formats/csv.h"
#include "formats/format.h"
#include <string.h>

/* What a row says of itself; all else are counters. */
static const char *const words[] = {
    "name",
    "family_index",
    "per_family_instance_index",
    "run_name",
    "run_type",
    "repetitions",
    "repetition_index",
    "threads",
    "aggregate_name",
    "aggregate_unit",
    "error_occurred",
    "error_message",
    "skipped",
    "skip_message",
    "iterations",
    "time_unit",
    "label",
    "real_time",
    "cpu_time",
};
static const struct {
    const char *counter, *unit;
} rates[] = {{"bytes_per_second", "B/s"}, {"items_per_second", "items/s"}};

static const char csv_header[] = "name,iterations,real_time,cpu_time,time_unit";

static bool is_word(const char *key)
{
    for (size_t i = 0; i < LEN(words); i++)
        if (strcmp(words[i], key) == 0)
            return true;
    return false;
}

bool gbench_is(const struct document *d)
{
    return piece_find(d->text, csv_header) || (json_is_object(json_at(d->json, "context")) &&
                                               json_is_array(json_at(d->json, "benchmarks")));
}

static struct result *at(struct results *out, const char *test, const char *field)
{
    return results_at(out, &(struct result_key){.test = test, .field = field});
}

static struct result *time_at(struct results *out, const char *test, const char *field,
                              const char *unit)
{
    struct result *x = at(out, test, field);

    if (*x->unit && strcmp(x->unit, unit) != 0)
        result_fault(x, "times in %s and in %.16s", x->unit, unit);
    result_set_unit(x, unit);
    x->is_main = strcmp(field, "real_time") == 0;
    return x;
}

static struct result *counter_at(struct results *out, const char *test, const char *counter)
{
    struct result *x = at(out, test, counter);

    for (size_t i = 0; i < LEN(rates); i++) {
        if (strcmp(rates[i].counter, counter) != 0)
            continue;
        result_set_unit(x, rates[i].unit);
        x->better = BETTER_HIGHER;
    }
    return x;
}

static void fault_test(struct results *out, const char *test, const char *what, const char *why)
{
    static const char *const times[] = {"real_time", "cpu_time"};

    for (size_t i = 0; i < LEN(times); i++) {
        struct result *x = at(out, test, times[i]);
        x->is_main = i == 0;
        result_fault(x, "%s%s%.200s", what, *why ? ": " : "", why);
    }
}

/* ---- JSON ---- */

/** By its run_type; old versions have none, but names that end alike. */
static bool is_aggregate(const json *b, const char *name)
{
    static const char *const ends[] = {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"};
    const char *type = json_str(json_at(b, "run_type"), NULL);
    size_t n = strlen(name);

    if (type)
        return strcmp(type, "iteration") != 0;
    for (size_t i = 0; i < LEN(ends); i++) {
        size_t n_end = strlen(ends[i]);
        if (n > n_end && strcmp(name + n - n_end, ends[i]) == 0)
            return true;
    }
    return false;
}

static bool is_true(const json *v)
{
    return json_bool(v, false) || *json_str(v, "");
}

static enum err_code list_benchmark(const json *b, struct results *out, struct err *e)
{
    const char *name = NULL;

    if (json_need_str(b, "name", &name, e))
        return ERR_INVALID;
    if (is_aggregate(b, name))
        return ERR_OK;
    name = json_str(json_at(b, "run_name"), name);
    if (is_true(json_at(b, "error_occurred"))) {
        fault_test(out, name, "it failed", json_str(json_at(b, "error_message"), ""));
        return ERR_OK;
    }
    if (is_true(json_at(b, "skipped"))) {
        fault_test(out, name, "it was skipped", json_str(json_at(b, "skip_message"), ""));
        return ERR_OK;
    }
    const char *unit = json_str(json_at(b, "time_unit"), "ns");
    struct result *x = time_at(out, name, "real_time", unit);
    result_add_json(out, x, json_at(b, "real_time"), "real_time");
    x = time_at(out, name, "cpu_time", unit);
    result_add_json(out, x, json_at(b, "cpu_time"), "cpu_time");
    for (const char *k = json_first_key(b); k; k = json_next_key(b, k)) {
        if (!is_word(k))
            result_add_json(out, counter_at(out, name, k), json_at(b, k), k);
    }
    return ERR_OK;
}

/** A test of which one repetition failed has no counters either. */
static void spread_faults(struct results *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct result *x = &out->items[i];
        const struct result *time =
            results_find(out, &(struct result_key){.test = x->test, .field = "real_time"});
        if (time && time->fault)
            result_fault(x, "%s", time->fault);
    }
}

static enum err_code only_aggregates(size_t n, struct err *e)
{
    if (n == 0)
        return err_set(e, ERR_INVALID, "no number: \"benchmarks\" is empty");
    err_set(e, ERR_INVALID, "no number: aggregates alone, which are no samples");
    return err_hint(e, "Leave out --benchmark_report_aggregates_only.");
}

static enum err_code list_json(const json *document, struct results *out, struct err *e)
{
    const json *context = json_at(document, "context");
    json *benchmarks = NULL;

    if (json_need_array(document, "benchmarks", &benchmarks, e))
        return ERR_INVALID;
    if (strcmp(json_str(json_at(context, "library_build_type"), ""), "debug") == 0)
        results_note(out, "the benchmark library is a debug build");
    for (size_t i = 0; i < json_len(benchmarks); i++) {
        if (list_benchmark(json_item(benchmarks, i), out, e))
            return err_wrap(e, "benchmark %zu", i + 1);
    }
    if (out->n == 0)
        return only_aggregates(json_len(benchmarks), e);
    spread_faults(out);
    const char *date = json_str(json_at(context, "date"), NULL);
    out->stamp.time = date ? mem_dup(date) : NULL;
    return ERR_OK;
}

/* ---- CSV ---- */

static char *text_of(struct piece p)
{
    return mem_dup_n(p.s, p.n);
}

static void list_row(const struct csv *c, struct results *out)
{
    AUTO(mem_free) char *name = text_of(csv_cell(c, csv_column(c, "name")));
    AUTO(mem_free) char *unit = text_of(csv_cell(c, csv_column(c, "time_unit")));
    AUTO(mem_free) char *message = text_of(csv_cell(c, csv_column(c, "error_message")));
    static const char *const times[] = {"real_time", "cpu_time"};

    if (is_aggregate(NULL, name))
        return;
    if (piece_is(csv_cell(c, csv_column(c, "error_occurred")), "true")) {
        fault_test(out, name, "it failed", message);
        return;
    }
    for (size_t i = 0; i < LEN(times); i++)
        result_add_piece(out, time_at(out, name, times[i], *unit ? unit : "ns"),
                         csv_cell(c, csv_column(c, times[i])), times[i]);
    for (size_t i = 0; i < c->header.n; i++) {
        AUTO(mem_free) char *key = text_of(c->header.cells[i]);
        if (!is_word(key) && c->row.cells[i].n > 0)
            result_add_piece(out, counter_at(out, name, key), c->row.cells[i], key);
    }
}

static enum err_code list_csv(struct piece text, struct results *out, struct err *e)
{
    AUTO(csv_fini) struct csv c = {0};
    struct err why = {0};

    if (csv_init(&c, text, e))
        return ERR_INVALID;
    while (csv_next(&c, &why))
        list_row(&c, out);
    if (why.code)
        return err_set(e, ERR_INVALID, "%s", why.text);
    if (out->n == 0)
        return only_aggregates(c.n_line, e);
    spread_faults(out);
    return ERR_OK;
}

enum err_code gbench_list(const struct document *d, struct results *out, struct err *e)
{
    const char *header = piece_find(d->text, csv_header);

    if (!d->json && header)
        return list_csv(piece_from(d->text, header), out, e);
    if (document_need_json(d, "Google Benchmark's JSON or CSV", e))
        return ERR_INVALID;
    return list_json(d->json, out, e);
}
