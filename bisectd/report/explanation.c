/* SPDX-License-Identifier: Apache-2.0 */
#include "report/explanation.h"
#include "report/figure.h"
#include "report/table.h"
#include <math.h>
#include <string.h>

enum {
    SHORT_ROWS = 5,
    SHORT_SYMBOLS = 2,
    SHORT_BYTES = 44,
    LONG_BYTES = 200,
    REASON_BYTES = 300,
    SHORT_HASH = 10
};

/* Resources that moved by less than this part of the larger side are not worth a line. */
static const double least_move = .05;
static const double normal_95 = 1.96;

static const char *arrow(const struct style *s)
{
    return s->is_utf8 ? "→" : "->";
}

static void add_percent(double share, struct buf *out)
{
    double percent = 100 * share;

    if (isfinite(percent))
        buf_printf(out, fabs(percent) < .95 && percent != 0 ? "%.1f %%" : "%.0f %%", percent);
}

/* -- the first line -- */

static void write_head(const struct explanation *v, const struct style *s, struct buf *out)
{
    style_add(out, s, INK_STRONG, "explanation");
    buf_adds(out, ": ");
    if (v->error) {
        buf_adds(out, "none, ");
        style_hostile(out, v->error, REASON_BYTES);
        buf_addc(out, '\n');
        return;
    }
    if (isfinite(v->explained)) {
        buf_adds(out, "system calls explain ");
        style_ink(out, s, INK_STRONG);
        add_percent(v->explained, out);
        style_plain(out, s);
        if (isfinite(v->explained_error))
            buf_printf(out, s->is_utf8 ? " (± %.0f)" : " (+- %.0f)",
                       ceil(100 * normal_95 * v->explained_error));
        buf_adds(out, " of the change\n");
        return;
    }
    buf_adds(out, v->n_differences ? "what differs from the parent\n"
                                   : "no system call differs from the parent\n");
}

void explanation_write_which(const struct explanation *v, size_t n_culprits, const struct style *s,
                             struct buf *out)
{
    if (n_culprits < 2)
        return;
    buf_adds(out, "explained is ");
    style_ink(out, s, INK_STRONG);
    buf_printf(out, "%.*s", SHORT_HASH, v->culprit.hex);
    style_plain(out, s);
    buf_adds(out, ", which changed most; ");
    if (n_culprits == 2)
        buf_adds(out, "the other culprit is not explained\n");
    else
        buf_printf(out, "the other %zu culprits are not explained\n", n_culprits - 1);
}

/* -- the table -- */

static void cell_of_pair(struct table *t, const double pair[SIDES], struct figure_scale scale,
                         const struct style *s)
{
    AUTO(buf_fini) struct buf cell = {0};
    struct figure_scale bare = {scale.factor, "", NULL};

    if (isfinite(pair[BEFORE]) && isfinite(pair[AFTER])) {
        figure_value(&cell, pair[BEFORE], bare);
        buf_printf(&cell, " %s ", arrow(s));
        figure_value(&cell, pair[AFTER], scale);
    }
    table_cell(t, buf_str(&cell), 0);
}

/* The end of a path says more than its beginning. */
static void cell_of_path(struct table *t, const char *path, size_t most)
{
    AUTO(buf_fini) struct buf cell = {0};
    size_t n = strlen(path);

    if (n <= most) {
        table_cell(t, path, LONG_BYTES);
        return;
    }
    const char *at = path + (n - most);
    while (((unsigned char)*at & 0xc0) == 0x80)
        at++;
    buf_printf(&cell, "...%s", at);
    table_cell(t, buf_str(&cell), LONG_BYTES);
}

static double largest_time(const struct explanation *v, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < SIDES; side++)
            most = fmax(most, v->differences[i].seconds[side]);
    return most;
}

static void write_table(const struct explanation *v, enum explanation_length length,
                        const struct style *s, struct buf *out)
{
    static const char *const heads[] = {"  share", "call", "calls", "time", "kind", "file", NULL};
    bool is_short = length == EXPLANATION_SHORT;
    size_t n = is_short && v->n_differences > SHORT_ROWS ? SHORT_ROWS : v->n_differences;
    size_t n_more = v->n_differences - n + v->n_left_out;
    AUTO(table_free) struct table *t = table_new(heads);
    const struct figure_scale bare = {1, "", NULL};
    struct figure_scale scale = figure_scale_of("s", largest_time(v, n));

    if (n == 0)
        return;
    table_align(t, 0, ALIGN_RIGHT);
    for (size_t i = 0; i < n; i++) {
        const struct difference *d = &v->differences[i];
        AUTO(buf_fini) struct buf share = {0};
        add_percent(d->share, &share);
        table_cell(t, buf_str(&share), 0);
        table_cell(t, d->call, 0);
        cell_of_pair(t, d->count, bare, s);
        cell_of_pair(t, d->seconds, scale, s);
        table_cell(t, d->is_wait ? "waiting" : d->group, 0);
        cell_of_path(t, d->path, is_short ? SHORT_BYTES : LONG_BYTES);
    }
    table_write(t, s, out);
    if (n_more > 0) {
        buf_adds(out, "  and ");
        figure_count(out, n_more, "smaller difference", "smaller differences");
        buf_adds(out, is_short ? " (bisectctl explain shows more)\n" : "\n");
    }
}

/* -- the kernel's books -- */

static bool is_worth_a_line(const struct resource *r)
{
    double larger = fmax(fabs(r->amount[BEFORE]), fabs(r->amount[AFTER]));

    if (isfinite(r->share) && fabs(r->share) >= least_move)
        return true;
    return larger > 0 && !isfinite(r->share) &&
           fabs(r->amount[AFTER] - r->amount[BEFORE]) >= least_move * larger;
}

static void write_resource(const struct resource *r, const struct style *s, struct buf *out)
{
    double larger = fmax(fabs(r->amount[BEFORE]), fabs(r->amount[AFTER]));
    struct figure_scale scale = figure_scale_of(r->unit, larger);
    struct figure_scale bare = {scale.factor, "", NULL};

    style_hostile(out, r->name, LONG_BYTES);
    buf_addc(out, ' ');
    figure_value(out, r->amount[BEFORE], bare);
    buf_printf(out, " %s ", arrow(s));
    figure_value(out, r->amount[AFTER], scale);
    if (isfinite(r->share)) {
        buf_adds(out, " (");
        add_percent(r->share, out);
        buf_addc(out, ')');
    }
    buf_addc(out, '\n');
}

static void write_resources(const struct explanation *v, enum explanation_length length,
                            const struct style *s, struct buf *out)
{
    const char *label = "also";

    for (size_t i = 0; i < v->n_resources; i++) {
        const struct resource *r = &v->resources[i];
        if (length == EXPLANATION_SHORT && !is_worth_a_line(r))
            continue;
        style_label(out, s, label);
        write_resource(r, s, out);
        label = "";
    }
}

static void write_symbols(const struct explanation *v, enum explanation_length length,
                          const struct style *s, struct buf *out)
{
    size_t n =
        length == EXPLANATION_SHORT && v->n_symbols > SHORT_SYMBOLS ? SHORT_SYMBOLS : v->n_symbols;

    for (size_t i = 0; i < n; i++) {
        const struct symbol *x = &v->symbols[i];
        struct figure_scale scale =
            figure_scale_of("s", fmax(x->seconds[BEFORE], x->seconds[AFTER]));
        struct figure_scale bare = {scale.factor, "", NULL};
        style_label(out, s, i ? "" : "busy in");
        style_hostile(out, x->name, SHORT_BYTES);
        buf_adds(out, " of ");
        style_hostile(out, x->object, SHORT_BYTES);
        buf_addc(out, ' ');
        figure_value(out, x->seconds[BEFORE], bare);
        buf_printf(out, " %s ", arrow(s));
        figure_value(out, x->seconds[AFTER], scale);
        if (isfinite(x->share)) {
            buf_adds(out, " (");
            add_percent(x->share, out);
            buf_addc(out, ')');
        }
        buf_addc(out, '\n');
    }
}

/* -- how it came about -- */

static void write_method(const struct explanation *v, const struct style *s, struct buf *out)
{
    struct figure_scale scale = figure_scale_of("s", v->change_s);

    style_label(out, s, "runs");
    buf_printf(out,
               "of each, in turn: %u untraced, %u with all calls counted, %u with calls timed\n",
               v->n_plain, v->n_counted, v->n_timed);
    if (v->timed && v->timed[0]) {
        style_label(out, s, "timed");
        style_hostile(out, v->timed, LONG_BYTES);
        buf_addc(out, '\n');
    }
    if (!isfinite(v->change_s))
        return;
    style_label(out, s, "shares of");
    figure_change(out, v->change_s, scale);
    buf_adds(out, v->is_change_traced
                      ? ", the change of the traced runs less what tracing adds\n"
                      : ", as untraced runs, the books of the kernel and the verdict have it\n");
}

void explanation_write(const struct explanation *v, enum explanation_length length,
                       const struct style *s, struct buf *out)
{
    if (length == EXPLANATION_LONG) {
        buf_printf(out, "%.*s against its parent %.*s\n\n", SHORT_HASH, v->culprit.hex, SHORT_HASH,
                   v->parent.hex);
    }
    write_head(v, s, out);
    if (v->error)
        return;
    buf_addc(out, '\n');
    write_table(v, length, s, out);
    write_resources(v, length, s, out);
    write_symbols(v, length, s, out);
    if (length == EXPLANATION_LONG)
        write_method(v, s, out);
}
