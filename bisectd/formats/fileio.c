/* SPDX-License-Identifier: Apache-2.0 */
/* fileIOReports of telemetry: {path: [total ms, creates, reads, writes, fsyncs, stats]}, of the
 * main thread. Found in the document, in its payload (which old ones hold as a string), or alone.
 */
#include "base/mem.h"
#include "formats/format.h"
#include <string.h>

static const char *const fields[] = {"time", "creates", "reads", "writes", "fsyncs", "stats"};

static const char key[] = "fileIOReports";

static enum err_code list_reports(const json *reports, struct results *out, struct err *e)
{
    for (const char *path = json_first_key(reports); path; path = json_next_key(reports, path)) {
        const json *v = json_at(reports, path);
        if (!json_is_array(v) || json_len(v) != LEN(fields))
            return err_set(e, ERR_INVALID, "fileIOReports: '%.80s': expected a list of %zu numbers",
                           path, LEN(fields));
        for (size_t i = 0; i < LEN(fields); i++) {
            struct result *x =
                results_at(out, &(struct result_key){.test = path, .field = fields[i]});
            result_set_unit(x, i == 0 ? "ms" : "calls");
            x->better = BETTER_LOWER;
            x->is_main = i == 0;
            if (json_num(json_item(v, i), 0) < 0)
                result_fault(x, "%s is negative", fields[i]);
            result_add_json(out, x, json_item(v, i), fields[i]);
        }
    }
    return ERR_OK;
}

/** The payload, read into `parsed` where it is a string. */
static enum err_code find_payload(const json *o, json **parsed, const json **out, struct err *e)
{
    const char *text = json_str(json_at(o, "payload"), NULL);

    *out = json_at(o, "payload");
    if (text && foreign_json((struct piece){text, strlen(text)}, parsed, e))
        return err_wrap(e, "payload");
    if (text)
        *out = *parsed;
    return ERR_OK;
}

/** Only lists: {"{profile}/places.sqlite": [1, 0, 0, 0, 0, 0]}. */
static bool is_reports(const json *o)
{
    const char *path = json_is_object(o) ? json_first_key(o) : NULL;

    return path && json_is_array(json_at(o, path)) && json_len(json_at(o, path)) == LEN(fields);
}

static enum err_code list_document(const json *o, struct results *out, struct err *e)
{
    AUTO(json_free) json *parsed = NULL;
    const json *payload = NULL;

    if (find_payload(o, &parsed, &payload, e))
        return ERR_INVALID;
    const json *reports = json_at(payload, key) ? json_at(payload, key) : json_at(o, key);
    if (!reports && is_reports(o))
        reports = o;
    if (json_is_null(reports)) /* absent where nothing was reported */
        return ERR_OK;
    if (!json_is_object(reports))
        return err_set(e, ERR_INVALID, "fileIOReports: expected an object of files");
    return list_reports(reports, out, e);
}

bool fileio_is(const struct document *d)
{
    return piece_find(d->text, key) != NULL;
}

static enum err_code list_lines(struct piece rest, struct results *out, struct err *e)
{
    struct err why = {0};
    json *o = NULL;
    size_t n_line = 0;

    while (document_next_object(&rest, &n_line, &o, &why)) {
        enum err_code rc = list_document(o, out, e);
        json_free(o);
        if (rc)
            return err_wrap(e, "line %zu", n_line);
    }
    return why.code ? err_set(e, ERR_INVALID, "%s", why.text) : ERR_OK;
}

enum err_code fileio_list(const struct document *d, struct results *out, struct err *e)
{
    enum err_code rc = d->json ? list_document(d->json, out, e) : list_lines(d->text, out, e);

    if (rc)
        return rc;
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: no fileIOReports in the output");
    return ERR_OK;
}
