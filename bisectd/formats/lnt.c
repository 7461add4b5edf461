/* SPDX-License-Identifier: Apache-2.0 */
/* LNT reports: JSON of format_version 2, and lines of "test.metric value". */
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"
#include <string.h>

/* The first one that a test has is its main one. */
static const struct {
    const char *metric, *unit, *status;
    enum better better;
} metrics[] = {
    {"execution_time", "s", "execution_status", BETTER_LOWER},
    {"compile_time", "s", "compile_status", BETTER_LOWER},
    {"score", "", NULL, BETTER_HIGHER},
    {"mem_bytes", "B", NULL, BETTER_LOWER},
    {"code_size", "B", NULL, BETTER_LOWER},
};

static struct result *at(struct results *out, const char *test, const char *metric)
{
    struct result *x = results_at(out, &(struct result_key){.test = test, .field = metric});

    for (size_t i = 0; i < LEN(metrics); i++) {
        if (strcmp(metrics[i].metric, metric) != 0)
            continue;
        result_set_unit(x, metrics[i].unit);
        x->better = metrics[i].better;
    }
    return x;
}

/** Statuses are no measurements: one that is not 0 says that what it is of is none either. */
static void apply_statuses(struct results *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct result *x = &out->items[i];
        for (size_t k = 0; k < LEN(metrics); k++) {
            if (!metrics[k].status || strcmp(metrics[k].metric, x->field) != 0)
                continue;
            const struct result *status = results_find(
                out, &(struct result_key){.test = x->test, .field = metrics[k].status});
            for (size_t v = 0; status && v < status->n; v++)
                if (status->values[v] != 0)
                    result_fault(x, "%s is %.10g, not a pass", metrics[k].status,
                                 status->values[v]);
            if (status && status->fault)
                result_fault(x, "%s", status->fault);
        }
    }
}

static void mark_main(struct results *out)
{
    for (size_t i = 0; i < out->n; i++) {
        for (size_t k = 0; k < LEN(metrics); k++) {
            struct result *x = results_find(
                out, &(struct result_key){.test = out->items[i].test, .field = metrics[k].metric});
            if (!x)
                continue;
            x->is_main = true;
            break;
        }
    }
}

/* ---- JSON ---- */

static enum err_code list_test(const json *t, struct results *out, struct err *e)
{
    const char *name = NULL;

    if (json_need_str(t, "name", &name, e))
        return ERR_INVALID;
    for (const char *k = json_first_key(t); k; k = json_next_key(t, k)) {
        const json *v = json_at(t, k);
        if (strcmp(k, "name") == 0 || strcmp(k, "hash") == 0)
            continue;
        if (json_is_array(v))
            result_add_array(out, at(out, name, k), v, k);
        else
            result_add_json(out, at(out, name, k), v, k);
    }
    return ERR_OK;
}

static char *dup_of(const json *v)
{
    const char *s = json_str(v, NULL);

    return s ? mem_dup(s) : NULL;
}

static enum err_code list_json(const json *document, struct results *out, struct err *e)
{
    const json *version = json_at(document, "format_version");
    json *tests = NULL;

    if (strcmp(json_str(version, ""), "2") != 0 && json_num(version, 0) != 2)
        return err_set(e, ERR_INVALID, "format_version is not \"2\"");
    if (json_need_array(document, "tests", &tests, e))
        return ERR_INVALID;
    for (size_t i = 0; i < json_len(tests); i++) {
        if (list_test(json_item(tests, i), out, e))
            return err_wrap(e, "test %zu", i + 1);
    }
    const json *run = json_at(document, "run");
    out->stamp.time = dup_of(json_at(run, "start_time"));
    out->stamp.revision = dup_of(json_at(run, "llvm_project_revision"));
    return ERR_OK;
}

/* ---- text ---- */

/** "test.metric value"; a test's name may have dots too. */
static bool read_line(struct piece line, struct piece *test, struct piece *metric,
                      struct piece *value)
{
    struct piece rest = piece_trimmed(line);
    struct piece name = piece_word(&rest);
    const char *dot = name.n ? memrchr(name.s, '.', name.n) : NULL;

    *value = rest;
    if (!dot || dot == name.s || dot + 1 == name.s + name.n || rest.n == 0)
        return false;
    *test = (struct piece){name.s, (size_t)(dot - name.s)};
    *metric = piece_from(name, dot + 1);
    return true;
}

static enum err_code list_text(struct piece rest, struct results *out, struct err *e)
{
    struct piece line, test, metric, value;
    size_t n_line = 0;

    while (piece_line(&rest, &line)) {
        n_line++;
        if (piece_trimmed(line).n == 0)
            continue;
        if (!read_line(line, &test, &metric, &value)) {
            AUTO(buf_fini) struct buf quote = {0};
            text_clean(&quote, line.s, line.n, 60);
            return err_set(e, ERR_INVALID, "line %zu: \"%s\" is not \"test.metric value\"", n_line,
                           buf_str(&quote));
        }
        AUTO(mem_free) char *name = mem_dup_n(test.s, test.n);
        AUTO(mem_free) char *field = mem_dup_n(metric.s, metric.n);
        if (strcmp(field, "hash") != 0)
            result_add_piece(out, at(out, name, field), value, field);
    }
    return ERR_OK;
}

/* ---- the format ---- */

static bool is_text(const struct document *d)
{
    struct piece rest = d->text, line, test, metric, value;
    size_t n = 0;
    double ignored;

    while (piece_line(&rest, &line)) {
        if (piece_trimmed(line).n == 0)
            continue;
        if (!read_line(line, &test, &metric, &value) || !piece_number(value, &ignored))
            return false;
        n++;
    }
    return n > 0;
}

bool lnt_is(const struct document *d)
{
    return json_at(d->json, "format_version") || (!d->json && is_text(d));
}

enum err_code lnt_list(const struct document *d, struct results *out, struct err *e)
{
    if (d->error.code)
        return err_set(e, ERR_INVALID, "%s", d->error.text);
    if (d->json ? list_json(d->json, out, e) : list_text(d->text, out, e))
        return ERR_INVALID;
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no test in the output");
    apply_statuses(out);
    mark_main(out);
    return ERR_OK;
}
