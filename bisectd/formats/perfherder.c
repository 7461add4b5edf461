/* SPDX-License-Identifier: Apache-2.0 */
/* Perfherder data: lines of a log with PERFHERDER_DATA, or a perfherder-data JSON artifact, which
 * is an object, a list of objects, or {"performance_data": [...]}. What Treeherder would pass over
 * is passed over, and noted; the rest counts. */
#include "base/mem.h"
#include "formats/format.h"
#include "formats/perfherder_schema.h"
#include <stdlib.h>
#include <string.h>

static const char marker[] = "PERFHERDER_DATA:";

/** What is being read. */
struct reader {
    struct results *out;
    size_t n_objects, n_read, n_suites;
    struct err first; /* why the first one that is not read is not */
};

/* ---- one object ---- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *options_of(const json *list)
{
    size_t n = json_len(list);
    const char **texts = mem_array(n, sizeof(*texts));
    struct buf out = {0};

    for (size_t i = 0; i < n; i++)
        texts[i] = json_str(json_item(list, i), "");
    qsort(texts, n, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < n; i++)
        buf_printf(&out, "%s%s", i ? " " : "", texts[i]);
    mem_free(texts);
    return buf_take(&out);
}

/** Adds "value" and the replicates of a suite or subtest. */
static void list_series(struct reader *r, const json *o, struct result_key key)
{
    static const char *const fields[] = {"value", "replicates", "base_replicates",
                                         "ref_replicates"};
    const json *lower = json_at(o, "lowerIsBetter");

    for (size_t i = 0; i < LEN(fields); i++) {
        const json *v = json_at(o, fields[i]);
        if (!v)
            continue;
        key.field = fields[i];
        struct result *x = results_at(r->out, &key);
        if (x->part == r->n_suites) /* of subtests with one name the first counts */
            return;
        x->part = r->n_suites;
        result_set_unit(x, json_str(json_at(o, "unit"), NULL));
        if (lower)
            x->better = json_bool(lower, true) ? BETTER_LOWER : BETTER_HIGHER;
        x->is_main = i == 0;
        if (i == 0)
            result_add_json(r->out, x, v, fields[i]);
        else
            result_add_array(r->out, x, v, fields[i]);
    }
}

static void list_suite(struct reader *r, const json *suite)
{
    const json *subtests = json_at(suite, "subtests");
    AUTO(mem_free) char *options = options_of(json_at(suite, "extraOptions"));
    struct result_key key = {.suite = json_str(json_at(suite, "name"), ""), .options = options};

    r->n_suites++;
    list_series(r, suite, key);
    for (size_t i = 0; i < json_len(subtests); i++) {
        key.test = json_str(json_at(json_item(subtests, i), "name"), "");
        list_series(r, json_item(subtests, i), key);
    }
}

/** `what` is where it stands. */
static void list_object(struct reader *r, const json *o, const char *what)
{
    AUTO(buf_fini) struct buf unknown = {0};
    struct err why = {0};

    r->n_objects++;
    if (perfherder_check(o, &unknown, &why)) {
        err_wrap(&why, "%s", what);
        if (!r->first.code)
            r->first = why;
        results_note(r->out, "passed over: %.200s", why.text);
        return;
    }
    r->n_read++;
    if (unknown.len)
        results_note(r->out, "%s: unknown keys: %s", what, buf_str(&unknown));
    const json *suites = json_at(o, "suites");
    for (size_t i = 0; i < json_len(suites); i++)
        list_suite(r, json_item(suites, i));
}

/* ---- where they stand ---- */

/** Lines end at LF or CR, and nothing else. */
static bool next_line(struct piece *rest, struct piece *line)
{
    size_t n = 0;

    if (rest->n == 0)
        return false;
    while (n < rest->n && rest->s[n] != '\n' && rest->s[n] != '\r')
        n++;
    *line = (struct piece){rest->s, n};
    n += n < rest->n;
    *rest = (struct piece){rest->s + n, rest->n - n};
    return true;
}

/** From the brace behind the marker to the last brace of the line. */
static bool find_object(struct piece line, struct piece *object)
{
    const char *at = piece_find(line, marker);

    while (at) {
        struct piece rest = piece_from(line, at + sizeof(marker) - 1);
        struct piece trimmed = piece_trimmed(rest);
        const char *end = trimmed.n ? memrchr(trimmed.s, '}', trimmed.n) : NULL;
        if (trimmed.s > rest.s && trimmed.n > 0 && *trimmed.s == '{' && end) {
            *object = (struct piece){trimmed.s, (size_t)(end - trimmed.s) + 1};
            return true;
        }
        at = piece_find(rest, marker);
    }
    return false;
}

static void list_line(struct reader *r, struct piece object, size_t n_line)
{
    AUTO(mem_free) char *what = mem_printf("line %zu", n_line);
    AUTO(json_free) json *o = NULL;
    struct err why = {0};

    if (!foreign_json(object, &o, &why)) {
        list_object(r, o, what);
        return;
    }
    r->n_objects++;
    err_wrap(&why, "%s", what);
    if (!r->first.code)
        r->first = why;
    results_note(r->out, "passed over: %.200s", why.text);
}

static void list_log(struct reader *r, struct piece rest)
{
    struct piece line, object;
    size_t n_line = 0;

    while (next_line(&rest, &line)) {
        n_line++;
        if (find_object(line, &object))
            list_line(r, object, n_line);
    }
}

static void list_artifact(struct reader *r, const json *v)
{
    const json *inner = json_at(v, "performance_data");
    const json *list = json_is_array(inner) ? inner : v;

    if (json_is_object(inner))
        list = inner;
    if (!json_is_array(list)) {
        list_object(r, list, "the artifact");
        return;
    }
    for (size_t i = 0; i < json_len(list); i++) {
        AUTO(mem_free) char *what = mem_printf("object %zu", i + 1);
        list_object(r, json_item(list, i), what);
    }
}

/* ---- the format ---- */

bool perfherder_is(const struct document *d)
{
    const json *v = json_is_array(d->json) ? json_item(d->json, 0) : d->json;

    return piece_find(d->text, marker) || json_at(v, "performance_data") ||
           (json_is_object(json_at(v, "framework")) && json_at(v, "suites"));
}

enum err_code perfherder_list(const struct document *d, struct results *out, struct err *e)
{
    struct reader r = {.out = out};

    if (d->json)
        list_artifact(&r, d->json);
    else
        list_log(&r, d->text);
    if (r.n_objects == 0 && d->error.code)
        return err_set(e, ERR_INVALID, "%s", d->error.text);
    if (r.n_objects == 0)
        return err_set(e, ERR_INVALID,
                       "no line with PERFHERDER_DATA: {\xE2\x80\xA6} in the output");
    if (r.n_read == 0)
        return err_set(e, ERR_INVALID, "%s", r.first.text);
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: Perfherder data without a value%s%s",
                       r.first.code ? "; " : "", r.first.text);
    return ERR_OK;
}
