/* SPDX-License-Identifier: Apache-2.0 */
/* JMH -rf json. NaN and infinities are strings there. */
#include "base/mem.h"
#include "formats/format.h"
#include <string.h>

bool jmh_is(const struct document *d)
{
    const json *first = json_item(d->json, 0);

    return json_is_string(json_at(first, "benchmark")) &&
           json_is_object(json_at(first, "primaryMetric"));
}

/** "thrpt size=10": what tells runs of one benchmark apart. */
static char *options_of(const json *b)
{
    const json *params = json_at(b, "params");
    struct buf out = {0};

    buf_adds(&out, json_str(json_at(b, "mode"), ""));
    for (const char *k = json_first_key(params); k; k = json_next_key(params, k))
        buf_printf(&out, "%s%s=%s", out.len ? " " : "", k, json_str(json_at(params, k), ""));
    return buf_take(&out);
}

struct place {
    const char *test, *options, *unit;
    enum better better;
};

static struct result *at(struct results *out, const struct place *p, const char *field)
{
    struct result *x = results_at(
        out, &(struct result_key){.test = p->test, .options = p->options, .field = field});

    result_set_unit(x, p->unit);
    x->better = p->better;
    return x;
}

/** rawData is a list of forks, each a list of iterations. */
static void list_raw(const json *forks, const struct place *p, struct results *out)
{
    struct result *x = at(out, p, "raw");

    x->is_main = true;
    if (json_len(forks) == 0)
        result_fault(x, "rawData is an empty list");
    for (size_t i = 0; i < json_len(forks); i++)
        result_add_array(out, x, json_item(forks, i), "rawData");
}

static void list_metric(const json *metric, const struct place *p, struct results *out)
{
    const json *raw = json_at(metric, "rawData");
    const json *percentiles = json_at(metric, "scorePercentiles");

    if (json_is_array(raw))
        list_raw(raw, p, out);
    struct result *x = at(out, p, "score");
    x->is_main = !json_is_array(raw);
    result_add_json(out, x, json_at(metric, "score"), "score");
    for (const char *k = json_first_key(percentiles); k; k = json_next_key(percentiles, k)) {
        AUTO(mem_free) char *field = mem_printf("p%.20s", k);
        result_add_json(out, at(out, p, field), json_at(percentiles, k), field);
    }
}

static enum err_code list_benchmark(const json *b, struct results *out, struct err *e)
{
    AUTO(mem_free) char *options = options_of(b);
    const char *name = NULL, *mode = NULL;
    json *metric = NULL;

    if (json_need_str(b, "benchmark", &name, e) || json_need_str(b, "mode", &mode, e) ||
        json_need_object(b, "primaryMetric", &metric, e))
        return ERR_INVALID;
    struct place p = {.test = name,
                      .options = options,
                      .unit = json_str(json_at(metric, "scoreUnit"), ""),
                      .better = strcmp(mode, "thrpt") == 0 ? BETTER_HIGHER : BETTER_LOWER};
    list_metric(metric, &p, out);

    const json *others = json_at(b, "secondaryMetrics");
    for (const char *k = json_first_key(others); k; k = json_next_key(others, k)) {
        AUTO(mem_free) char *test = mem_printf("%s:%s", name, k);
        const json *other = json_at(others, k);
        p = (struct place){test, options, json_str(json_at(other, "scoreUnit"), ""),
                           BETTER_UNKNOWN};
        list_metric(other, &p, out);
    }
    return ERR_OK;
}

enum err_code jmh_list(const struct document *d, struct results *out, struct err *e)
{
    if (document_need_json(d, "JMH's JSON", e))
        return ERR_INVALID;
    if (!json_is_array(d->json) || json_len(d->json) == 0)
        return err_set(e, ERR_INVALID, "expected JMH's list of benchmarks%s",
                       json_is_array(d->json) ? ", it is empty" : "");
    for (size_t i = 0; i < json_len(d->json); i++) {
        if (list_benchmark(json_item(d->json, i), out, e))
            return err_wrap(e, "benchmark %zu", i + 1);
    }
    return ERR_OK;
}
