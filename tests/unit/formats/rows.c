/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"
#include "base/mem.h"
#include <string.h>

void format_row_check(const struct format_row *row)
{
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(values_fini) struct values v = {0};
    size_t n = strlen(row->text);
    AUTO(mem_free) char *exact = mem_array(n, 1);
    struct err e = {0};

    ck_assert_msg(metric_from_spec(row->spec, &m, &e) == ERR_OK, "%s: %s", row->name, e.text);
    memcpy(exact, row->text, n);
    enum err_code rc = format_read(m, exact, n, &v, &e);
    if (isnan(row->want)) {
        ck_assert_msg(rc == ERR_INVALID, "%s: read as %g", row->name, v.reduced);
        ck_assert_msg(strncmp(e.text, "cannot measure: ", 16) == 0, "%s: %s", row->name, e.text);
        ck_assert_msg(strcmp(e.text + 16, row->says) == 0, "%s: %s", row->name, e.text + 16);
        ck_assert_msg(!v.items && v.n == 0, "%s", row->name);
        return;
    }
    ck_assert_msg(rc == ERR_OK, "%s: %s", row->name, e.text);
    ck_assert_msg(fabs(v.reduced - row->want) <= 1e-9 * fabs(row->want), "%s: %.17g", row->name,
                  v.reduced);
    const char *note = v.note ? v.note : "", *want = row->says ? row->says : "";
    ck_assert_msg(strcmp(note, want) == 0, "%s: %s", row->name, note);
}

void format_looks_check(const char *text, enum metric_kind kind)
{
    AUTO(document_fini) struct document d = {0};

    document_init(&d, (struct piece){text, strlen(text)});
    for (size_t i = 0; i < n_formats; i++) {
        if (!formats[i].is || !formats[i].is(&d))
            continue;
        ck_assert_msg(formats[i].kind == kind, "%s: %s", metric_kinds[formats[i].kind].name, text);
        return;
    }
    ck_assert_msg(kind == METRIC_AUTO, "%s", text);
}
