/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the targets of the result formats have in common.
 *
 * First line: the metric's keys, as --metric takes them behind the colon. Rest: the document.
 */
#ifndef FUZZ_FORMATS_RESULTS_H
#define FUZZ_FORMATS_RESULTS_H

#include "formats/format.h"
#include "fuzz/fuzz.h"
#include <math.h>

static inline void check_list(enum metric_kind kind, const char *text, size_t n)
{
    AUTO(results_fini) struct results r = {0};
    AUTO(buf_fini) struct buf label = {0};
    struct err e = {0};

    if (format_list(kind, text, n, &r, &e)) {
        assert(*e.text && !r.items);
        return;
    }
    assert(r.n <= RESULTS_MOST && r.n_values <= RESULT_VALUES_MOST);
    for (size_t i = 0; i < r.n; i++) {
        const struct result *x = &r.items[i];
        const struct result_key key = {x->suite, x->test, x->options, x->field};
        assert(results_find(&r, &key) == x);
        assert(x->n > 0 || x->fault);
        for (size_t v = 0; v < x->n; v++)
            assert(isfinite(x->values[v]));
        result_label(x, &label);
    }
}

static inline void check_read(const struct metric *m, const char *text, size_t n)
{
    AUTO(values_fini) struct values v = {0};
    struct err e = {0};

    if (format_read(m, text, n, &v, &e)) {
        assert(e.code == ERR_INVALID && strncmp(e.text, "cannot measure", 14) == 0 && !v.items);
        return;
    }
    assert(v.n >= 1 && v.n <= VALUES_MOST && isfinite(v.reduced));
    for (size_t i = 0; i < v.n; i++)
        assert(isfinite(v.items[i]));
}

static inline int fuzz_results(enum metric_kind kind, const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *keys = fuzz_line(&bytes, &n);
    AUTO(mem_free) char *spec = mem_printf("%s:%s", metric_kinds[kind].name, keys);
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(document_fini) struct document d = {0};

    document_init(&d, (struct piece){text, n});
    for (size_t i = 0; i < n_formats; i++)
        if (formats[i].is)
            (void)formats[i].is(&d);
    check_list(kind, text, n);
    if (metric_from_spec(*keys ? spec : metric_kinds[kind].name, &m, NULL) == ERR_OK)
        check_read(m, text, n);
    return 0;
}

#endif
