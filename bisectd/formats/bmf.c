/* SPDX-License-Identifier: Apache-2.0 */
/* Bencher Metric Format: {benchmark: {measure: {value, lower_value?, upper_value?}}}. */
#include "formats/format.h"
#include <string.h>

bool bmf_is(const struct document *d)
{
    const char *name = json_is_object(d->json) ? json_first_key(d->json) : NULL;
    const json *measures = json_at(d->json, name ? name : "");
    const char *measure = json_is_object(measures) ? json_first_key(measures) : NULL;

    return measure && json_at(json_at(measures, measure), "value");
}

static enum err_code list_benchmark(const char *name, const json *measures, struct results *out,
                                    struct err *e)
{
    if (!json_is_object(measures))
        return err_set(e, ERR_INVALID, "benchmark '%.80s': expected an object of measures", name);
    for (const char *k = json_first_key(measures); k; k = json_next_key(measures, k)) {
        const json *measure = json_at(measures, k);
        if (!json_is_object(measure))
            return err_set(e, ERR_INVALID, "benchmark '%.80s': measure '%.80s': expected an object",
                           name, k);
        struct result *x = results_at(out, &(struct result_key){.test = name, .field = k});
        x->is_main = strcmp(k, "latency") == 0;
        result_add_json(out, x, json_at(measure, "value"), "value");
    }
    return ERR_OK;
}

enum err_code bmf_list(const struct document *d, struct results *out, struct err *e)
{
    if (document_need_json(d, "Bencher's JSON", e))
        return ERR_INVALID;
    if (!json_is_object(d->json) || json_len(d->json) == 0)
        return err_set(e, ERR_INVALID, "expected an object of benchmarks");
    for (const char *k = json_first_key(d->json); k; k = json_next_key(d->json, k)) {
        if (list_benchmark(k, json_at(d->json, k), out, e))
            return ERR_INVALID;
    }
    return ERR_OK;
}
