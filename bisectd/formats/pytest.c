/* SPDX-License-Identifier: Apache-2.0 */
/* pytest-benchmark --benchmark-json. Seconds an iteration; benchmarks that failed are not in it. */
#include "base/mem.h"
#include "formats/format.h"
#include <string.h>

/* "data" is there with --benchmark-save-data; without, the median is the main one. */
static const struct {
    const char *field, *unit;
    enum better better;
} fields[] = {
    {"data", "s", BETTER_LOWER},    {"median", "s", BETTER_LOWER},   {"min", "s", BETTER_LOWER},
    {"max", "s", BETTER_LOWER},     {"mean", "s", BETTER_LOWER},     {"stddev", "s", BETTER_LOWER},
    {"iqr", "s", BETTER_LOWER},     {"q1", "s", BETTER_LOWER},       {"q3", "s", BETTER_LOWER},
    {"total", "s", BETTER_UNKNOWN}, {"ops", "ops/s", BETTER_HIGHER},
};

bool pytest_is(const struct document *d)
{
    return json_is_object(json_at(d->json, "machine_info")) &&
           json_is_array(json_at(d->json, "benchmarks"));
}

static enum err_code list_benchmark(const json *b, struct results *out, struct err *e)
{
    const char *name = json_str(json_at(b, "fullname"), NULL);
    bool has_main = false;
    json *stats = NULL;

    if ((!name && json_need_str(b, "name", &name, e)) || json_need_object(b, "stats", &stats, e))
        return ERR_INVALID;
    for (size_t i = 0; i < LEN(fields); i++) {
        const json *v = json_at(stats, fields[i].field);
        if (!v || (json_is_array(v) && json_len(v) == 0))
            continue;
        struct result *x =
            results_at(out, &(struct result_key){.suite = json_str(json_at(b, "group"), NULL),
                                                 .test = name,
                                                 .field = fields[i].field});
        result_set_unit(x, fields[i].unit);
        x->better = fields[i].better;
        x->is_main = !has_main;
        has_main = true;
        if (json_is_array(v))
            result_add_array(out, x, v, fields[i].field);
        else
            result_add_json(out, x, v, fields[i].field);
    }
    return ERR_OK;
}

static char *dup_of(const json *v)
{
    const char *s = json_str(v, NULL);

    return s ? mem_dup(s) : NULL;
}

enum err_code pytest_list(const struct document *d, struct results *out, struct err *e)
{
    json *benchmarks = NULL;

    if (document_need_json(d, "pytest-benchmark's JSON", e) ||
        json_need_array(d->json, "benchmarks", &benchmarks, e))
        return ERR_INVALID;
    for (size_t i = 0; i < json_len(benchmarks); i++) {
        if (list_benchmark(json_item(benchmarks, i), out, e))
            return err_wrap(e, "benchmark %zu", i + 1);
    }
    if (out->n == 0)
        return err_set(e, ERR_INVALID, "no number: \"benchmarks\" is empty; did they all fail?");
    out->stamp.revision = dup_of(json_at(json_at(d->json, "commit_info"), "id"));
    out->stamp.time = dup_of(json_at(d->json, "datetime"));
    return ERR_OK;
}
