/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/import_report.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/figure.h"
#include "report/table.h"
#include "search/detection.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS_SHOWN = 3, DAY_CHARS = 10 };

/* ---- pushes ---- */

/** A series as the detectors see it: all values of a revision together, in order of the first. */
struct timeline {
    const struct imported_series *s;
    uint32_t n;
    struct push *pushes;
    const struct point **first; /* of each push */
    double *values;
    uint32_t n_found;
    struct detected *found;
};

/** A revision and where it stands. */
struct mark {
    const struct point *point;
    uint32_t push;
};

static int by_revision(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    int order = strcmp(x->point->revision.hex, y->point->revision.hex);

    return order ? order : (x->point > y->point) - (x->point < y->point);
}

/** Numbers the points' pushes by the time of the first point; returns how many there are. */
static uint32_t number_pushes(const struct imported_series *s, uint32_t *push_of)
{
    struct mark *marks = mem_array(s->n + 1, sizeof(*marks));
    uint32_t *first = mem_array(s->n + 1, sizeof(*first)), n = 0;

    for (size_t i = 0; i < s->n; i++)
        marks[i] = (struct mark){&s->items[i], 0};
    qsort(marks, s->n, sizeof(*marks), by_revision);
    for (size_t i = 0, head = 0; i < s->n; i++) {
        if (!revision_equal(&marks[i].point->revision, &marks[head].point->revision))
            head = i;
        first[marks[i].point - s->items] = (uint32_t)(marks[head].point - s->items);
    }
    for (size_t i = 0; i < s->n; i++)
        push_of[i] = first[i] == i ? n++ : push_of[first[i]];
    mem_free(marks);
    mem_free(first);
    return n;
}

static void timeline_init(struct timeline *t, const struct imported_series *s)
{
    uint32_t *push_of = mem_array(s->n + 1, sizeof(*push_of));

    *t = (struct timeline){.s = s, .n = number_pushes(s, push_of)};
    t->pushes = mem_array((size_t)t->n + 1, sizeof(*t->pushes));
    t->first = mem_array((size_t)t->n + 1, sizeof(*t->first));
    t->values = mem_array(s->n + 1, sizeof(*t->values));
    for (size_t i = s->n; i-- > 0;) {
        t->first[push_of[i]] = &s->items[i];
        t->pushes[push_of[i]].n++;
    }
    double *at = t->values;
    for (uint32_t k = 0; k < t->n; k++) {
        t->pushes[k].values = at;
        at += t->pushes[k].n;
        t->pushes[k].n = 0;
    }
    for (size_t i = 0; i < s->n; i++) {
        struct push *p = &t->pushes[push_of[i]];
        t->values[p->values - t->values + p->n++] = s->items[i].value;
    }
    mem_free(push_of);
    t->n_found = detect_changes(t->pushes, t->n, &t->found);
}

static void timeline_fini(struct timeline *t)
{
    mem_free(t->pushes);
    mem_free(t->first);
    mem_free(t->values);
    mem_free(t->found);
}
DEFINE_AUTO_FINI(struct timeline, timeline_fini)

static const char *revision_at(const struct timeline *t, uint32_t push)
{
    return t->first[push]->revision.hex;
}

/* ---- commands ---- */

/* bisectctl submit --project P --metric M --platform L --good A --bad B */
static void write_command(const struct imported *i, const struct import_outcome *o,
                          const struct timeline *t, const struct detected *d, struct buf *out)
{
    const char *project = o->is_named || !i->project_file ? i->project : i->project_file;

    buf_printf(out, "bisectctl %s --project ", o->command);
    text_shell(out, project);
    buf_printf(out, " --metric %s --platform %s --good %s --bad %s", t->s->metric, t->s->platform,
               revision_at(t, d->good), revision_at(t, d->bad));
    place_add(&o->place, out);
}

/** A store keeps no projects: without a file it is not known how to build and measure. */
static bool has_command(const struct imported *i, const struct import_outcome *o)
{
    return i->project_file || strcmp(o->command, "submit") == 0;
}

/* ---- text ---- */

static void write_rows(const struct imported *i, struct buf *out)
{
    const struct readings *r = &i->readings;

    figure_count(out, r->n_rows, "row", "rows");
    buf_adds(out, ": ");
    figure_count(out, i->n_points, "point", "points");
    if (r->n_passed_over)
        buf_printf(out, ", %zu passed over by --where", r->n_passed_over);
    buf_addc(out, '\n');
    for (size_t k = 0; k < r->n_rejects; k++)
        buf_printf(out, "  rejected %zu: %s (first in row %zu)\n", r->rejects[k].n,
                   r->rejects[k].reason, r->rejects[k].line);
}

static void write_head(const struct imported *i, const struct import_outcome *o, size_t k,
                       const struct timeline *t, const struct style *s, struct buf *out)
{
    char from[32], to[32];

    utc_format(t->s->items[0].at, from);
    utc_format(t->s->items[t->s->n - 1].at, to);
    buf_addc(out, '\n');
    style_ink(out, s, INK_STRONG);
    buf_printf(out, "%s %s", i->project, t->s->metric);
    style_plain(out, s);
    buf_printf(out, " on %s, from ", t->s->platform);
    style_hostile(out, t->s->host, 64);
    buf_adds(out, ": ");
    figure_count(out, t->s->n, "point", "points");
    buf_adds(out, " of ");
    figure_count(out, t->n, "revision", "revisions");
    buf_printf(out, ", %.*s to %.*s\n", DAY_CHARS, from, DAY_CHARS, to);
    if (o->is_dry_run)
        buf_adds(out, "  nothing stored: --dry-run\n");
    else if (!o->n_added[k])
        buf_adds(out, "  nothing stored: the run history has them all already\n");
    else
        buf_printf(out, "  %zu stored%s\n", o->n_added[k],
                   o->n_known[k] ? ", the others were there already" : "");
}

static void add_levels(struct table *table, const struct detected *d)
{
    struct figure_scale scale = {1, "", NULL};
    AUTO(buf_fini) struct buf cell = {0};

    figure_value(&cell, d->before, scale);
    table_cell(table, buf_str(&cell), 0);
    buf_clear(&cell);
    figure_value(&cell, d->after, scale);
    table_cell(table, buf_str(&cell), 0);
    buf_clear(&cell);
    if (d->before > 0)
        figure_ratio(&cell, d->after / d->before);
    table_cell(table, cell.len ? buf_str(&cell) : "-", 0);
}

/** Without any noise t is infinite, which Perfherder stores as 1000. */
static double shown_t(const struct detected *d)
{
    return isinf(d->t) ? 1000 : d->t;
}

static void add_change(struct table *table, const struct timeline *t, const struct detected *d)
{
    AUTO(buf_fini) struct buf cell = {0};
    char at[32];

    utc_format(t->first[d->at]->at, at);
    at[DAY_CHARS] = '\0';
    table_cell(table, at, 0);
    buf_printf(&cell, "%.*s", SHORT_HEX, revision_at(t, d->at));
    table_cell(table, buf_str(&cell), 0);
    add_levels(table, d);
    buf_clear(&cell);
    if (d->is_change_point)
        figure_probability(&cell, 1 - d->p);
    table_cell(table, cell.len ? buf_str(&cell) : "-", 0);
    buf_clear(&cell);
    if (d->is_perfherder)
        buf_printf(&cell, "t %.1f", shown_t(d));
    buf_adds(&cell, d->is_alert ? ", alerts" : d->is_perfherder ? ", no alert" : "sees none");
    table_cell(table, buf_str(&cell), 0);
    buf_clear(&cell);
    buf_printf(&cell, "%.*s..%.*s", SHORT_HEX, revision_at(t, d->good), SHORT_HEX,
               revision_at(t, d->bad));
    table_cell(table, buf_str(&cell), 0);
}

static void write_changes(const struct timeline *t, const struct style *s, struct buf *out)
{
    static const char *const heads[] = {"AT",         "REVISION",   "BEFORE", "AFTER", "CHANGE",
                                        "CONFIDENCE", "PERFHERDER", "RANGE",  NULL};
    AUTO(table_free) struct table *table = table_new(heads);

    if (t->n_found == 0) {
        buf_adds(out, "  no change seen\n");
        return;
    }
    for (size_t column = 2; column < 5; column++)
        table_align(table, column, ALIGN_RIGHT);
    for (uint32_t k = 0; k < t->n_found; k++)
        add_change(table, t, &t->found[k]);
    table_write(table, s, out);
}

/** The newest changes first, since those are what is not yet dealt with. */
static size_t write_steps(const struct imported *i, const struct import_outcome *o,
                          const struct timeline *t, const struct style *s, struct buf *out)
{
    size_t n = 0;

    for (uint32_t k = t->n_found; has_command(i, o) && k-- > 0 && n < MOST_STEPS_SHOWN; n++) {
        AUTO(buf_fini) struct buf command = {0};
        buf_adds(out, "  ");
        style_ink(out, s, INK_FAINT);
        buf_printf(out, "# the change at %.*s", SHORT_HEX, revision_at(t, t->found[k].at));
        style_plain(out, s);
        write_command(i, o, t, &t->found[k], &command);
        buf_adds(out, "\n  ");
        style_add(out, s, INK_STRONG, buf_str(&command));
        buf_addc(out, '\n');
    }
    return n;
}

static void write_advice(const struct imported *i, const struct import_outcome *o, size_t n_found,
                         const struct style *s, struct buf *out)
{
    if (n_found && !has_command(i, o))
        style_paragraph(out, s, 2,
                        "bisectctl run --good A --bad B, with A..B of a RANGE above and the flags "
                        "of your earlier runs, finds the commit.");
    if (i->is_unnamed)
        style_paragraph(out, s, 2,
                        "The file does not say which metric this is, so it is called value here: "
                        "--metric NAME is needed to store it.");
    if (o->is_unknown) {
        AUTO(buf_fini) struct buf text = {0};
        buf_printf(&text,
                   "The service has no project called %s: its bisections use these points once it "
                   "has.",
                   i->project);
        style_paragraph(out, s, 2, buf_str(&text));
    }
}

void import_report_write(const struct imported *i, const struct import_outcome *o,
                         const struct style *s, struct buf *out)
{
    AUTO(buf_fini) struct buf steps = {0};
    size_t n_found = 0;

    write_rows(i, out);
    for (size_t k = 0; k < i->n; k++) {
        AUTO(timeline_fini) struct timeline t;
        timeline_init(&t, &i->items[k]);
        write_head(i, o, k, &t, s, out);
        write_changes(&t, s, out);
        n_found += t.n_found;
        if (steps.len < 4 * KIB)
            (void)write_steps(i, o, &t, s, &steps);
    }
    write_advice(i, o, n_found, s, &steps);
    if (steps.len) {
        buf_adds(out, "\nWhat to type next:\n");
        buf_adds(out, buf_str(&steps));
    }
}

/* ---- JSON ---- */

static json *perfherder_json(const struct timeline *t, const struct detected *d)
{
    if (!d->is_perfherder)
        return json_new_null();
    json *o = json_put(json_new_object(), "revision", json_new_string(revision_at(t, d->t_at)));
    json_put(o, "t", json_new_real(shown_t(d)));
    return json_put(o, "alert", json_new_bool(d->is_alert));
}

static json *change_json(const struct imported *i, const struct import_outcome *o,
                         const struct timeline *t, const struct detected *d)
{
    json *v = json_new_object();
    AUTO(buf_fini) struct buf command = {0};
    char at[32];

    utc_format(t->first[d->at]->at, at);
    json_put(v, "revision", json_new_string(revision_at(t, d->at)));
    json_put(v, "at", json_new_string(at));
    json_put(v, "before", json_new_real(d->before));
    json_put(v, "after", json_new_real(d->after));
    json_put(v, "percent",
             d->before > 0 ? json_new_real(100 * (d->after / d->before - 1)) : json_new_null());
    json_put(v, "change_point", json_new_bool(d->is_change_point));
    json_put(v, "confidence", json_new_real(1 - d->p));
    json_put(v, "perfherder", perfherder_json(t, d));
    json_put(v, "good", json_new_string(revision_at(t, d->good)));
    json_put(v, "bad", json_new_string(revision_at(t, d->bad)));
    if (has_command(i, o))
        write_command(i, o, t, d, &command);
    return json_put(v, "command",
                    command.len ? json_new_string(buf_str(&command)) : json_new_null());
}

static json *series_json(const struct imported *i, const struct import_outcome *o, size_t k)
{
    AUTO(timeline_fini) struct timeline t;
    const struct imported_series *s = &i->items[k];
    json *v = json_new_object();
    json *changes = json_new_array();

    timeline_init(&t, s);
    for (uint32_t c = 0; c < t.n_found; c++)
        json_push(changes, change_json(i, o, &t, &t.found[c]));
    json_put(v, "project", json_new_string(i->project));
    json_put(v, "metric", json_new_string(s->metric));
    json_put(v, "platform", json_new_string(s->platform));
    json_put(v, "host", json_new_string(s->host));
    json_put(v, "points", json_new_int((int64_t)s->n));
    json_put(v, "revisions", json_new_int(t.n));
    json_put(v, "added", json_new_int(o->n_added ? (int64_t)o->n_added[k] : 0));
    json_put(v, "known", json_new_int(o->n_known ? (int64_t)o->n_known[k] : 0));
    return json_put(v, "changes", changes);
}

static size_t sum_of(const size_t *numbers, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; numbers && i < n; i++)
        sum += numbers[i];
    return sum;
}

json *import_report_json(const struct imported *i, const struct import_outcome *o)
{
    const struct readings *r = &i->readings;
    json *v = json_new_object();
    json *rejects = json_new_object();
    json *series = json_new_array();

    for (size_t k = 0; k < r->n_rejects; k++)
        json_put(rejects, r->rejects[k].reason, json_new_int((int64_t)r->rejects[k].n));
    for (size_t k = 0; k < i->n; k++)
        json_push(series, series_json(i, o, k));
    json_put(v, "rows", json_new_int((int64_t)r->n_rows));
    json_put(v, "points", json_new_int((int64_t)i->n_points));
    json_put(v, "passed_over", json_new_int((int64_t)r->n_passed_over));
    json_put(v, "rejects", rejects);
    json_put(v, "added", json_new_int((int64_t)sum_of(o->n_added, i->n)));
    json_put(v, "known", json_new_int((int64_t)sum_of(o->n_known, i->n)));
    json_put(v, "dry_run", json_new_bool(o->is_dry_run));
    return json_put(v, "series", series);
}
