/* SPDX-License-Identifier: Apache-2.0 */
/* Slow SQL as a person or a program reads it. */
#include "base/mem.h"
#include "cli/slowsql.h"
#include "report/figure.h"
#include "report/table.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { STATEMENT_BYTES = 100, NAME_BYTES = 60 };

/* JSON */

static json *text_or_null(const char *s)
{
    return s ? json_new_string(s) : json_new_null();
}

static json *change_to_json(const struct slowsql_told_change *c)
{
    json *o = json_new_object(), *interval = json_new_array(), *range = json_new_object();

    json_put(o, "db", text_or_null(c->db));
    json_put(o, "thread", text_or_null(c->thread));
    json_put(o, "statement", text_or_null(c->statement));
    json_put(o, "last_before", json_new_string(c->builds[0]));
    json_put(o, "first_after", json_new_string(c->builds[1]));
    json_put(o, "ratio", json_new_real(c->change.rate.ratio));
    json_push(interval, json_new_real(c->change.rate.low));
    json_push(interval, json_new_real(c->change.rate.high));
    json_put(o, "interval", interval);
    json_put(o, "verdict", json_new_string(rate_verdict_names[c->change.rate.verdict]));
    json_put(range, "after", json_new_string(c->builds[2]));
    json_put(range, "up_to", json_new_string(c->builds[3]));
    json_put(range, "good", text_or_null(c->good));
    json_put(range, "bad", text_or_null(c->bad));
    return json_put(o, "range", range);
}

static json *claim_to_json(const char *text, const struct total_claim *c)
{
    json *o = json_new_object();

    json_put(o, "text", json_new_string(text));
    json_put(o, "count", json_new_real(c->count));
    json_put(o, "mean_ms", json_new_real(c->mean_ms));
    json_put(o, "total_ms", json_new_real(c->total_ms));
    json_put(o, "claimed", json_new_real(c->claimed));
    json_put(o, "claimed_unit", json_new_string(c->claimed_unit));
    json_put(o, "agrees", json_new_bool(c->agrees));
    return json_put(o, "looks_like", text_or_null(c->looks_like));
}

json *slowsql_to_json(const struct slowsql_findings *f, size_t limit)
{
    json *o = f->sheet ? sheet_to_json(f->sheet, limit) : json_new_object();

    if (f->sheet && f->sheet->is_builds) {
        json *changes = json_new_array();
        for (size_t i = 0; i < f->n_changes; i++)
            json_push(changes, change_to_json(&f->changes[i]));
        json_put(o, "changes", changes);
    }
    if (f->n_claims == 0)
        return o;
    json *claims = json_new_array();
    for (size_t i = 0; i < f->n_claims; i++)
        json_push(claims, claim_to_json(f->claim_texts->items[i], &f->claims[i]));
    return json_put(o, "claims", claims);
}

/* Numbers */

static void add_seconds(struct buf *out, double ms)
{
    if (isnan(ms)) {
        buf_addc(out, '-');
        return;
    }
    if (fabs(ms) < 10000) {
        buf_printf(out, "%.6g ms", ms);
        return;
    }
    figure_grouped(out, llround(ms / 1000));
    buf_adds(out, " s");
}

static void add_short(struct buf *out, double x)
{
    if (isnan(x))
        buf_adds(out, "-");
    else if (isinf(x))
        buf_adds(out, "new");
    else if (x >= 10000)
        figure_grouped(out, llround(x));
    else
        buf_printf(out, "%.4g", x);
}

static void cell(struct table *t, struct buf *text)
{
    table_cell(t, buf_str(text), NAME_BYTES);
    buf_clear(text);
}

static double per(int64_t total, double size)
{
    return size > 0 ? (double)total / size : NAN;
}

static double rate_of(const struct sheet *s, const struct sums *of, size_t group)
{
    const struct sums *r = &s->groups[group].reports;

    return s->is_by_hours ? per(of->total_ms, (double)r->used / 1e9)
                          : per(of->total_ms, (double)r->reports);
}

/* Tables */

static void names_of_row(struct table *t, const struct sheet_row *r)
{
    table_cell(t, r->thread ? r->thread : "all", 0);
    table_cell(t, r->db ? r->db : "all", NAME_BYTES);
    table_cell(t, r->statement ? r->statement : "all", STATEMENT_BYTES);
}

static void one_group(const struct sheet *s, size_t limit, const struct style *style,
                      struct buf *out)
{
    static const char *const heads[] = {"TOTAL",    "COUNT",     "MEAN",   "SHARE",
                                        "REPORTS",  "A REPORT",  "1000 H", "THREAD",
                                        "DATABASE", "STATEMENT", NULL};
    static const char *const build_heads[] = {"BUILD",  "TOTAL",    "COUNT",     "MEAN",
                                              "SHARE",  "REPORTS",  "A REPORT",  "1000 H",
                                              "THREAD", "DATABASE", "STATEMENT", NULL};
    AUTO(table_free) struct table *t = table_new(s->is_builds ? build_heads : heads);
    AUTO(buf_fini) struct buf text = {0};

    for (size_t i = 0; i < 7; i++)
        table_align(t, i + s->is_builds, ALIGN_RIGHT);
    for (size_t i = 0; i < s->n_rows && i < limit; i++) {
        const struct sheet_row *r = &s->rows[i];
        const struct sheet_group *g = &s->groups[r->group];
        if (s->is_builds)
            table_cell(t, g->name, 0);
        add_seconds(&text, (double)r->of[0].total_ms);
        cell(t, &text);
        figure_grouped(&text, r->of[0].count);
        cell(t, &text);
        add_seconds(&text, per(r->of[0].total_ms, (double)r->of[0].count));
        cell(t, &text);
        buf_printf(&text, "%.1f %%", 100 * per(r->of[0].total_ms, (double)g->slow.total_ms));
        cell(t, &text);
        figure_grouped(&text, r->of[0].reports);
        cell(t, &text);
        add_seconds(&text, per(r->of[0].total_ms, (double)g->reports.reports));
        cell(t, &text);
        if (g->reports.used > 0)
            add_seconds(&text, per(r->of[0].total_ms, (double)g->reports.used / 1e9));
        else
            buf_adds(&text, "-");
        cell(t, &text);
        names_of_row(t, r);
    }
    table_write(t, style, out);
}

static void add_interval(struct buf *out, const struct sheet *s, const struct rate *r)
{
    if (!s->has_rates || isnan(r->low)) {
        buf_adds(out, "-");
        return;
    }
    add_short(out, r->low);
    buf_adds(out, " to ");
    if (isinf(r->high))
        buf_adds(out, "any");
    else
        add_short(out, r->high);
}

static void two_groups(const struct sheet *s, size_t limit, const struct style *style,
                       struct buf *out)
{
    static const char *const heads[] = {"BEFORE",   "AFTER",     "COUNT",   "COUNT",
                                        "RATIO",    "95 %",      "VERDICT", "THREAD",
                                        "DATABASE", "STATEMENT", NULL};
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf text = {0};

    for (size_t i = 0; i < 5; i++)
        table_align(t, i, ALIGN_RIGHT);
    for (size_t i = 0; i < s->n_rows && i < limit; i++) {
        const struct sheet_row *r = &s->rows[i];
        for (size_t g = 0; g < 2; g++) {
            add_seconds(&text, rate_of(s, &r->of[g], g));
            cell(t, &text);
        }
        for (size_t g = 0; g < 2; g++) {
            figure_grouped(&text, r->of[g].count);
            cell(t, &text);
        }
        add_short(&text, r->rate.ratio);
        cell(t, &text);
        add_interval(&text, s, &r->rate);
        cell(t, &text);
        table_cell(t, rate_verdict_names[r->rate.verdict], 0);
        names_of_row(t, r);
    }
    buf_printf(out, "Slow time %s:\n", s->is_by_hours ? "in 1,000 hours of use" : "a report");
    table_write(t, style, out);
}

/* Words */

static const char *words_of(const char *reject)
{
    for (size_t i = 0; i < REJECT_COUNT_OF; i++)
        if (strcmp(reject_names[i], reject) == 0)
            return reject_words[i];
    return reject;
}

static void tell_notes(const struct sheet *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_filtered; i++) {
        buf_adds(out, "  left out  ");
        figure_grouped(out, s->filtered[i].n);
        buf_printf(out, " of another %s\n",
                   strcmp(s->filtered[i].name, "submitted") == 0 ? "date" : s->filtered[i].name);
    }
    if (s->n_superseded) {
        buf_adds(out, "  left out  ");
        figure_grouped(out, s->n_superseded);
        buf_adds(out, " that a later report of their session counts again\n");
    }
    for (size_t i = 0; i < s->n_rejected; i++) {
        buf_adds(out, "  rejected  ");
        figure_grouped(out, s->rejected[i].n);
        buf_adds(out, ": ");
        style_hostile(out, words_of(s->rejected[i].name), NAME_BYTES * 2);
        buf_addc(out, '\n');
    }
}

static void tell_group(const struct sheet_group *g, const char *name, struct buf *out)
{
    buf_printf(out, "  %-8s  ", name);
    figure_grouped(out, g->reports.reports);
    buf_adds(out, g->reports.reports == 1 ? " report, " : " reports, ");
    figure_grouped(out, llround((double)g->reports.used / 1e6));
    buf_adds(out, " hours of use: ");
    figure_grouped(out, g->slow.count);
    buf_adds(out, " slow statements, ");
    add_seconds(out, (double)g->slow.total_ms);
    buf_addc(out, '\n');
}

static void tell_verdict(const struct sheet *s, const struct style *style, struct buf *out)
{
    static const enum ink inks[RATE_VERDICT_COUNT] = {INK_WARN, INK_STRONG, INK_GOOD, INK_BAD};

    const bool has[2] = {s->groups[0].reports.reports > 0, s->groups[1].reports.reports > 0};

    style_add(out, style, inks[s->rate.verdict], rate_verdict_names[s->rate.verdict]);
    buf_adds(out, ": ");
    if (!has[0] || !has[1]) {
        buf_printf(out, "no reports %s: check the dates\n\n",
                   has[1]   ? sheet_pair_names[0]
                   : has[0] ? sheet_pair_names[1]
                            : "before or after");
        return;
    }
    for (size_t g = 0; g < 2; g++) {
        buf_adds(out, g ? " -> " : "");
        add_seconds(out, rate_of(s, &s->groups[g].slow, g));
    }
    buf_adds(out, s->is_by_hours ? " slow in 1,000 hours of use" : " slow a report");
    if (s->has_rates && !isnan(s->rate.ratio)) {
        buf_adds(out, isinf(s->rate.ratio) ? ", " : ", ratio ");
        add_short(out, s->rate.ratio);
        buf_adds(out, " (95 % interval ");
        add_interval(out, s, &s->rate);
        buf_adds(out, ")");
    } else if (s->groups[0].slow.count + s->groups[1].slow.count == 0) {
        buf_adds(out, "; neither group has any, so there is nothing to compare");
    } else if (!s->has_rates) {
        buf_adds(out, "; sums alone say nothing of how sure that is: compare documents");
    }
    buf_adds(out, "\n\n");
}

static void tell_changes(const struct slowsql_findings *f, const struct style *style,
                         struct buf *out)
{
    if (f->n_changes == 0)
        buf_adds(out, "No build stands out as the one at which jank changed.\n");
    for (size_t i = 0; i < f->n_changes; i++) {
        const struct slowsql_told_change *c = &f->changes[i];
        bool is_worse = c->change.rate.verdict == RATE_REGRESSED;
        style_add(out, style, is_worse ? INK_BAD : INK_GOOD, is_worse ? "regressed" : "improved");
        buf_printf(out, " with build %s (the one before: %s), ratio ", c->builds[1], c->builds[0]);
        add_short(out, c->change.rate.ratio);
        buf_adds(out, " (95 % interval ");
        add_short(out, c->change.rate.low);
        buf_adds(out, " to ");
        add_short(out, c->change.rate.high);
        buf_adds(out, ")\n");
        if (c->statement || c->db) {
            buf_adds(out, "  ");
            style_hostile(out, c->statement ? c->statement : c->db, STATEMENT_BYTES);
            buf_addc(out, '\n');
        }
        buf_printf(out, "  came after %s and by %s", c->builds[2], c->builds[3]);
        if (c->good && c->bad) {
            buf_adds(out, ": ");
            style_hostile(out, c->good, NAME_BYTES);
            buf_adds(out, "..");
            style_hostile(out, c->bad, NAME_BYTES);
        }
        buf_addc(out, '\n');
    }
    buf_addc(out, '\n');
}

static void tell_claims(const struct slowsql_findings *f, const struct style *style,
                        struct buf *out)
{
    for (size_t i = 0; i < f->n_claims; i++) {
        const struct total_claim *c = &f->claims[i];
        buf_adds(out, "claim: ");
        figure_grouped(out, llround(c->count));
        buf_printf(out, " x %.6g ms = ", c->mean_ms);
        add_seconds(out, c->total_ms);
        if (c->agrees) {
            buf_printf(out, ", which agrees with %.15g %s\n", c->claimed, c->claimed_unit);
            continue;
        }
        buf_adds(out, ", ");
        style_add(out, style, INK_BAD, "not");
        buf_printf(out, " %.15g %s", c->claimed, c->claimed_unit);
        if (c->looks_like)
            buf_printf(out, "; that looks like %s labelled as %s", c->looks_like, c->claimed_name);
        buf_addc(out, '\n');
    }
}

static void tell_sheet(const struct slowsql_findings *f, size_t limit, const struct style *style,
                       struct buf *out)
{
    const struct sheet *s = f->sheet;
    struct sheet_group all = {0};

    if (s->is_pair)
        tell_verdict(s, style, out);
    for (size_t i = 0; i < s->n_groups; i++) {
        all.reports.reports += s->groups[i].reports.reports;
        all.reports.used += s->groups[i].reports.used;
        all.slow.count += s->groups[i].slow.count;
        all.slow.total_ms += s->groups[i].slow.total_ms;
        if (s->is_pair)
            tell_group(&s->groups[i], s->groups[i].name, out);
    }
    if (!s->is_pair)
        tell_group(&all, "counted", out);
    tell_notes(s, out);
    buf_addc(out, '\n');
    if (s->n_rows == 0)
        buf_adds(out, "No slow statements.\n");
    else if (s->is_pair)
        two_groups(s, limit, style, out);
    else
        one_group(s, limit, style, out);
    if (s->n_rows > limit)
        buf_printf(out, "… and %zu more rows; --limit N shows more.\n", s->n_rows - limit);
    buf_addc(out, '\n');
    if (s->is_builds)
        tell_changes(f, style, out);
}

void slowsql_to_text(const struct slowsql_findings *f, size_t limit, const struct style *style,
                     struct buf *out)
{
    if (f->sheet)
        tell_sheet(f, limit, style, out);
    tell_claims(f, style, out);
}
