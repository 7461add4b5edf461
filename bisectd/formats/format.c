/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/format.h"
#include "formats/select.h"
#include "formats/slowsql_metric.h"
#include <assert.h>

/* clang-format off */
const struct format formats[] = {
    {METRIC_VALUE,      NULL,          NULL,            ""},
    {METRIC_SLOWSQL,    NULL,          NULL,            ""},
    {METRIC_AUTO,       NULL,          auto_list,       "those of the format"},
    {METRIC_PERFHERDER, perfherder_is, perfherder_list, "value, replicates, base_replicates, ref_replicates"},
    {METRIC_TALOS,      talos_is,      talos_list,      "value, replicates"},
    {METRIC_HYPERFINE,  hyperfine_is,  hyperfine_list,  "times, mean, stddev, median, user, system, min, max, memory_usage_byte; CSV: mean first"},
    {METRIC_GBENCH,     gbench_is,     gbench_list,     "real_time, cpu_time, names of counters"},
    {METRIC_PYTEST,     pytest_is,     pytest_list,     "data (else median), min, max, mean, stddev, median, iqr, q1, q3, total, ops"},
    {METRIC_JMH,        jmh_is,        jmh_list,        "raw (else score), score, percentiles such as p99.0"},
    {METRIC_LNT,        lnt_is,        lnt_list,        "execution_time, compile_time, score, mem_bytes, code_size: the first that is there"},
    {METRIC_PERFSTAT,   perfstat_is,   perfstat_list,   "value, metric"},
    {METRIC_CRITERION,  criterion_is,  criterion_list,  "sample (estimates.json: slope, else mean), mean, median, median_abs_dev, slope, std_dev, typical"},
    {METRIC_FILEIO,     fileio_is,     fileio_list,     "time, creates, reads, writes, fsyncs, stats"},
    {METRIC_BMF,        bmf_is,        bmf_list,        "latency, or the one measure; names of measures"},
    {METRIC_OTAVA,      otava_is,      otava_list,      ""},
    {METRIC_GOBENCH,    gobench_is,    gobench_list,    "the unit of the line's first value, such as ns/op; other units, such as B/op"},
    {METRIC_PLAIN,      plain_is,      plain_list,      ""},
};
/* clang-format on */
const size_t n_formats = LEN(formats);

const struct format *format_of(enum metric_kind kind)
{
    for (size_t i = 0; i < n_formats; i++)
        if (formats[i].kind == kind)
            return &formats[i];
    return NULL;
}

enum err_code auto_list(const struct document *d, struct results *out, struct err *e)
{
    for (size_t i = 0; i < n_formats; i++) {
        if (!formats[i].is || !formats[i].is(d))
            continue;
        enum err_code rc = formats[i].list(d, out, e);
        return rc ? err_wrap(e, "%s", metric_kinds[formats[i].kind].name) : ERR_OK;
    }
    if (d->error.code)
        return err_set(e, ERR_INVALID, "%s", d->error.text);
    err_set(e, ERR_INVALID, "%s",
            piece_trimmed(d->text).n ? "the output is in no format that is known by its looks"
                                     : "the output is empty");
    return err_hint(e, "Name the format: --metric hyperfine:test=… and the like.");
}

enum err_code format_list(enum metric_kind kind, const char *bytes, size_t n, struct results *out,
                          struct err *e)
{
    const struct format *f = format_of(kind);
    AUTO(document_fini) struct document d = {0};
    AUTO(results_fini) struct results found = {0};

    assert(f && f->list);
    document_init(&d, (struct piece){bytes, n});
    enum err_code rc = f->list(&d, &found, e);
    if (rc)
        return rc;
    if (found.is_full)
        return err_set(e, ERR_LIMIT, "more than %d results or %d values", RESULTS_MOST,
                       RESULT_VALUES_MOST);
    *out = found;
    found = (struct results){0};
    return ERR_OK;
}

enum err_code format_read(const struct metric *m, const char *bytes, size_t n, struct values *out,
                          struct err *e)
{
    AUTO(results_fini) struct results r = {0};

    if (m->kind == METRIC_VALUE)
        return value_read(m, bytes, n, out, e);
    if (m->kind == METRIC_SLOWSQL)
        return slowsql_read(m, bytes, n, out, e);
    enum err_code rc = format_list(m->kind, bytes, n, &r, e);
    if (!rc)
        rc = select_values(m, &r, out, e);
    if (rc) {
        err_wrap(e, "cannot measure");
        return ERR_INVALID;
    }
    return ERR_OK;
}
