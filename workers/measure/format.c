/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that the command itself prints: alone, or in a result format. */
#include "formats/format.h"
#include "base/mem.h"
#include "workers/measure/kind.h"
#include <stdio.h>

void kind_format(const struct observation *o, struct reading *r)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(values_fini) struct values v = {0};
    struct err e = {0};

    r->status = RUN_CANNOT;
    if (clip_is_cut(o->out)) {
        snprintf(r->reason, sizeof(r->reason), "cannot measure: more than %zu bytes of output",
                 o->out->max_bytes);
        return;
    }
    clip_render(o->out, &text);
    if (format_read(o->metric, buf_str(&text), text.len, &v, &e)) {
        snprintf(r->reason, sizeof(r->reason), "%.380s%s%.120s", e.text, *e.hint ? ". " : "",
                 e.hint);
        return;
    }
    if (v.note)
        snprintf(r->reason, sizeof(r->reason), "%.500s", v.note);
    r->status = RUN_OK;
    r->n_values = v.n;
    r->values = TAKE(v.items);
    r->value = v.reduced;
}
