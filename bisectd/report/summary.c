/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"
#include "base/clock.h"
#include "report/figure.h"
#include <math.h>
#include <string.h>

enum {
    BAR_COLUMNS = 24,
    SUBJECT_BYTES = 160,
    AUTHOR_BYTES = 120,
    NAME_BYTES = 60,
    REASON_BYTES = 200,
    RUNNERS_UP = 3,
    LISTED_MOST = 20,
};

/* One row a verdict: its line, and what a calling program is told. */
struct verdict_row {
    const char *word;
    enum ink ink;
    int exit_status;
};

/* clang-format off */
static const struct verdict_row verdict_rows[] = {
    [VERDICT_NONE]           = {"not finished",   INK_STRONG, 5},
    [VERDICT_CULPRIT]        = {"culprit",        INK_BAD,    0},
    [VERDICT_RANGE]          = {"range",          INK_WARN,   4},
    [VERDICT_NOT_REPRODUCED] = {"not reproduced", INK_GOOD,   3},
    [VERDICT_INCONCLUSIVE]   = {"inconclusive",   INK_WARN,   4},
    [VERDICT_FAILED]         = {"failed",         INK_BAD,    1},
    [VERDICT_REGRESSED]      = {"regressed",      INK_BAD,    0},
    [VERDICT_IMPROVED]       = {"improved",       INK_GOOD,   0},
    [VERDICT_SAME]           = {"same",           INK_GOOD,   0},
};

static const char *const findings[] = {
    [FINDING_NONE]              = NULL,
    [FINDING_REVERSED]          = "The change goes the other way: bad measures better than good.",
    [FINDING_HUMP]              = "Both ends measure alike, but commits between them do not.",
    [FINDING_BAD_MERGE_BASE]    = "The merge base measures bad already: the good side fixed it.",
    [FINDING_DRIFT]             = "The machine drifted while measuring; compare with care.",
    [FINDING_CULPRIT_NOT_BUILT] = "The commit touches nothing that is built: the cause may lie elsewhere.",
};
/* clang-format on */

int verdict_exit_status(const struct verdict *v)
{
    if (v->state == BISECTION_CANCELED && v->kind == VERDICT_NONE)
        return verdict_rows[VERDICT_INCONCLUSIVE].exit_status;
    if (v->state != BISECTION_DONE && v->state != BISECTION_CANCELED)
        return verdict_rows[VERDICT_NONE].exit_status;
    return verdict_rows[v->kind].exit_status;
}

static void add_short(struct buf *out, const struct style *s, const struct revision *r)
{
    style_ink(out, s, INK_STRONG);
    buf_printf(out, "%.*s", SHORT_HEX, r->hex);
    style_plain(out, s);
}

static double largest_level(const struct verdict *v)
{
    double largest = 0;

    for (size_t i = 0; i < v->n_culprits; i++) {
        largest = fmax(largest, fabs(v->culprits[i].good.mean));
        largest = fmax(largest, fabs(v->culprits[i].bad.mean));
    }
    if (v->change)
        largest = fmax(fabs(v->change->good.mean), fabs(v->change->bad.mean));
    return largest;
}

/* A scaled unit is a constant or the metric's own, which came from outside. */
static struct figure_scale scale_of(const struct verdict *v, struct buf *unit)
{
    struct figure_scale scale = figure_scale_of(v->metric_unit, largest_level(v));

    style_hostile(unit, scale.unit, NAME_BYTES);
    scale.unit = buf_str(unit);
    return scale;
}

static void write_step(const struct verdict *v, const struct culprit *c, const struct style *s,
                       struct buf *out)
{
    AUTO(buf_fini) struct buf unit = {0};
    struct figure_scale scale = scale_of(v, &unit);
    struct figure_scale bare = {scale.factor, "", NULL};

    style_label(out, s, "change");
    figure_value(out, c->good.mean, bare);
    buf_adds(out, s->is_utf8 ? " → " : " -> ");
    style_ink(out, s, INK_STRONG);
    figure_value(out, c->bad.mean, scale);
    style_plain(out, s);
    buf_adds(out, ": ");
    figure_change(out, c->delta, scale);
    if (isfinite(c->ratio) && fabs(c->ratio - 1) >= 1e-4) { /* else the difference says more */
        buf_adds(out, ", ");
        figure_ratio(out, c->ratio);
    }
    buf_addc(out, '\n');
    style_label(out, s, "");
    buf_adds(out, "95 % interval ");
    figure_change(out, c->interval[0], bare);
    buf_adds(out, " to ");
    figure_change(out, c->interval[1], scale);
    buf_addc(out, '\n');
}

static void write_level(const char *label, const char *value, int n_columns, double share,
                        const struct style *s, struct buf *out)
{
    style_label(out, s, label);
    buf_printf(out, "%-*s  ", n_columns, value);
    style_bar(out, s, share, BAR_COLUMNS);
}

static void write_runs(uint32_t n, struct buf *out)
{
    buf_addc(out, ' ');
    figure_count(out, n, "run", "runs");
    buf_addc(out, '\n');
}

static void write_levels(const struct verdict *v, const struct culprit *c, const struct style *s,
                         struct buf *out)
{
    AUTO(buf_fini) struct buf unit = {0};
    AUTO(buf_fini) struct buf before = {0};
    AUTO(buf_fini) struct buf after = {0};
    struct figure_scale scale = scale_of(v, &unit);
    double full = fmax(fabs(c->good.mean), fabs(c->bad.mean));

    if (full == 0)
        full = 1;
    figure_value(&before, c->good.mean, scale);
    figure_value(&after, c->bad.mean, scale);
    int n_columns = (int)(before.len > after.len ? before.len : after.len);
    write_level(v->is_comparison ? "base" : "before", buf_str(&before), n_columns,
                fabs(c->good.mean) / full, s, out);
    write_runs(c->good.n_runs, out);
    write_level(v->is_comparison ? "head" : "after", buf_str(&after), n_columns,
                fabs(c->bad.mean) / full, s, out);
    write_runs(c->bad.n_runs, out);
}

static void write_who(const struct culprit *c, const struct style *s, struct buf *out)
{
    add_short(out, s, &c->revision);
    buf_addc(out, ' ');
    style_hostile(out, c->subject, SUBJECT_BYTES);
    buf_addc(out, '\n');
}

static void write_author(const struct culprit *c, const struct style *s, struct buf *out)
{
    if (!c->author || !c->author[0])
        return;
    style_label(out, s, "author");
    style_hostile(out, c->author, AUTHOR_BYTES);
    buf_addc(out, '\n');
}

static void write_confidence(const struct culprit *c, const struct verdict *v,
                             const struct style *s, struct buf *out)
{
    style_label(out, s, "confidence");
    figure_probability(out, c->probability);
    buf_printf(out, " (%.4g %% asked for)\n", v->confidence * 100);
}

static void write_culprit_alone(const struct verdict *v, const struct style *s, struct buf *out)
{
    const struct culprit *c = &v->culprits[0];

    style_add(out, s, INK_BAD, "culprit");
    buf_adds(out, ": ");
    write_who(c, s, out);
    buf_addc(out, '\n');
    write_author(c, s, out);
    write_step(v, c, s, out);
    write_levels(v, c, s, out);
    write_confidence(c, v, s, out);
}

static void write_share(const struct culprit *c, const struct style *s, struct buf *out)
{
    AUTO(buf_fini) struct buf percent = {0};

    style_label(out, s, "share");
    buf_printf(&percent, "%.0f %%", c->share * 100);
    buf_printf(out, "%-12s ", buf_str(&percent));
    style_bar(out, s, fabs(c->share), BAR_COLUMNS);
    buf_adds(out, " of the whole change\n");
}

static void write_culprits(const struct verdict *v, const struct style *s, struct buf *out)
{
    style_add(out, s, INK_BAD, "culprits");
    buf_printf(out, ": %zu commits share the change\n", v->n_culprits);
    for (size_t i = 0; i < v->n_culprits; i++) {
        const struct culprit *c = &v->culprits[i];
        buf_printf(out, "\n%zu. ", i + 1);
        write_who(c, s, out);
        write_author(c, s, out);
        write_step(v, c, s, out);
        write_share(c, s, out);
        write_confidence(c, v, s, out);
    }
    buf_addc(out, '\n');
}

static bool is_untestable(const struct verdict *v, const struct revision *r)
{
    for (size_t i = 0; i < v->n_untestable; i++)
        if (revision_equal(&v->untestable[i], r))
            return true;
    return false;
}

/* The whole set of a range: in the order of history. */
static void write_set(const struct verdict *v, const struct style *s, struct buf *out)
{
    size_t n = v->n_candidates > LISTED_MOST ? LISTED_MOST - 1 : v->n_candidates;

    for (size_t i = 0; i < n; i++) {
        const struct candidate *c = &v->candidates[i];
        buf_adds(out, "  ");
        add_short(out, s, &c->revision);
        if (is_untestable(v, &c->revision))
            buf_adds(out, "  cannot be tested");
        buf_addc(out, '\n');
    }
    if (n < v->n_candidates)
        buf_printf(out, "  … and %zu more (--json has all)\n", v->n_candidates - n);
}

static void write_likeliest(const struct verdict *v, const struct style *s, struct buf *out)
{
    size_t n = v->n_candidates > LISTED_MOST / 2 ? LISTED_MOST / 2 : v->n_candidates;

    for (size_t i = 0; i < n; i++) {
        AUTO(buf_fini) struct buf p = {0};
        figure_probability(&p, v->candidates[i].probability);
        buf_adds(out, "  ");
        add_short(out, s, &v->candidates[i].revision);
        buf_printf(out, "  %-11s ", buf_str(&p));
        style_bar(out, s, v->candidates[i].probability, BAR_COLUMNS);
        while (out->len > 0 && out->data[out->len - 1] == ' ')
            out->data[--out->len] = '\0';
        buf_addc(out, '\n');
    }
    if (n < v->n_candidates)
        buf_printf(out, "  … and %zu more (--json has all)\n", v->n_candidates - n);
}

static const char *word_of(const struct verdict *v)
{
    if (v->kind != VERDICT_NONE)
        return verdict_rows[v->kind].word;
    return v->state == BISECTION_CANCELED ? "canceled" : verdict_rows[VERDICT_NONE].word;
}

static void write_no_culprit(const struct verdict *v, const struct style *s, struct buf *out)
{
    style_add(out, s, verdict_rows[v->kind].ink, word_of(v));
    if (v->kind == VERDICT_RANGE) {
        buf_adds(out, ": one of ");
        figure_count(out, v->n_candidates, "commit", "commits");
    }
    buf_addc(out, '\n');
    if (v->message && v->message[0] && strcmp(v->message, word_of(v)) != 0)
        style_paragraph(out, s, 2, v->message);
    buf_addc(out, '\n');
    if (v->n_candidates == 0 || v->kind == VERDICT_FAILED || v->kind == VERDICT_NOT_REPRODUCED)
        return;
    if (v->kind == VERDICT_RANGE)
        write_set(v, s, out);
    else
        write_likeliest(v, s, out);
    buf_addc(out, '\n');
}

static void write_runners_up(const struct verdict *v, const struct style *s, struct buf *out)
{
    if (v->kind != VERDICT_CULPRIT || v->n_candidates == 0)
        return;
    style_label(out, s, "next best");
    for (size_t i = 0; i < v->n_candidates && i < RUNNERS_UP; i++) {
        buf_adds(out, i ? ", " : "");
        buf_printf(out, "%.*s ", SHORT_HEX, v->candidates[i].revision.hex);
        figure_probability(out, v->candidates[i].probability);
    }
    buf_addc(out, '\n');
}

static void write_confirmations(const struct verdict *v, const struct style *s, struct buf *out)
{
    if (v->kind != VERDICT_CULPRIT)
        return; /* the message says it */
    for (size_t i = 0; i < v->n_confirmations; i++) {
        style_label(out, s, i == 0 ? "on head" : "");
        if (v->n_confirmations > 1)
            buf_printf(out, "%.*s: ", SHORT_HEX, v->confirmations[i].revision.hex);
        style_hostile(out, v->confirmations[i].message, REASON_BYTES);
        buf_addc(out, '\n');
    }
}

static void write_fixups(const struct verdict *v, const struct style *s, struct buf *out)
{
    for (size_t i = 0; i < v->n_fixed; i++) {
        const struct fixed *f = &v->fixed[i];
        style_label(out, s, i == 0 ? "built with" : "");
        for (size_t k = 0; k < f->applied.n; k++) {
            buf_adds(out, k ? ", " : "");
            style_hostile(out, f->applied.items[k], NAME_BYTES);
        }
        buf_printf(out, "%s (%.*s)\n", f->applied.n ? "" : "nothing else", SHORT_HEX,
                   f->revision.hex);
    }
}

static void write_reused(struct buf *out, uint32_t n)
{
    if (n > 0)
        buf_printf(out, " (and %u reused)", n);
}

static void write_evidence(const struct verdict *v, const struct style *s, struct buf *out)
{
    char took[32];

    duration_format((int64_t)(v->cost.seconds * 1e9), took);
    style_label(out, s, "evidence");
    figure_count(out, v->cost.n_builds, "build", "builds");
    write_reused(out, v->cost.n_builds_reused);
    buf_adds(out, ", ");
    figure_count(out, v->cost.n_runs, "run", "runs");
    write_reused(out, v->cost.n_runs_reused);
    buf_printf(out, ", %s\n", took);
}

static void write_question(const struct verdict *v, const struct style *s, struct buf *out)
{
    style_label(out, s, "metric");
    style_hostile(out, v->metric_name, NAME_BYTES);
    if (v->platform && v->platform[0]) {
        buf_adds(out, " on ");
        style_hostile(out, v->platform, NAME_BYTES);
    }
    /* Values without spread have a minimum effect too small to be worth a word. */
    if (isfinite(v->min_effect_percent) && v->min_effect_percent >= .01) {
        buf_adds(out, ", changes under ");
        figure_effect(out, v->min_effect_percent,
                      figure_scale_of(v->metric_unit, 1).of_change ? "points" : NULL);
        buf_adds(out, " are not looked for");
    }
    buf_addc(out, '\n');
    if (v->range_size == 0 || v->is_comparison)
        return;
    style_label(out, s, "range");
    figure_count(out, v->range_size, "commit", "commits");
    buf_printf(out, ", %.*s..%.*s", SHORT_HEX, v->good.hex, SHORT_HEX, v->bad.hex);
    if (revision_is_set(&v->merge_base))
        buf_printf(out, ", merge base %.*s", SHORT_HEX, v->merge_base.hex);
    if (v->n_untestable > 0)
        buf_printf(out, ", %zu cannot be tested", v->n_untestable);
    buf_addc(out, '\n');
}

static void write_part(struct buf *out, uint32_t n, const char *one, const char *many,
                       const char **gap)
{
    if (n == 0)
        return;
    buf_printf(out, "%s%u %s", *gap, n, n == 1 ? one : many);
    *gap = ", ";
}

static void write_excluded(const struct verdict *v, const struct style *s, struct buf *out)
{
    const struct excluded *x = &v->excluded;
    uint32_t n = x->n_same_bytes + x->n_untouched + x->n_prose;
    const char *gap = ": ";

    if (v->is_comparison || n == 0)
        return;
    style_label(out, s, "excluded");
    figure_count(out, n, "commit", "commits");
    write_part(out, x->n_same_bytes, "builds to the same bytes", "build to the same bytes", &gap);
    write_part(out, x->n_untouched, "touches nothing the build reads",
               "touch nothing the build reads", &gap);
    write_part(out, x->n_prose, "looks like documentation and costs no run",
               "look like documentation and cost no run", &gap);
    buf_addc(out, '\n');
}

static void write_belief(const struct verdict *v, const struct style *s, struct buf *out)
{
    bool is_worth_a_line = v->kind == VERDICT_NOT_REPRODUCED || v->kind == VERDICT_INCONCLUSIVE;

    /* nan: nothing was measured */
    if (!is_worth_a_line || !isfinite(v->p_no_change) || v->is_comparison)
        return;
    style_label(out, s, "no change");
    figure_probability(out, v->p_no_change);
    buf_printf(out, " (%.4g %% asked for)\n", v->confidence * 100);
}

static void write_comparison(const struct verdict *v, const struct style *s, struct buf *out)
{
    style_add(out, s, verdict_rows[v->kind].ink, word_of(v));
    if (revision_is_set(&v->bad)) {
        buf_adds(out, ": head ");
        add_short(out, s, &v->bad);
        buf_adds(out, " against base ");
        add_short(out, s, &v->good);
    }
    buf_addc(out, '\n');
    bool is_decided = verdict_exit_status(v) == 0;
    if (!is_decided && v->message && v->message[0])
        style_paragraph(out, s, 2, v->message);
    buf_addc(out, '\n');
    if (!v->change)
        return;
    write_step(v, v->change, s, out);
    write_levels(v, v->change, s, out);
    style_label(out, s, "changed");
    figure_probability(out, 1 - v->p_no_change);
    buf_printf(out, " (%.4g %% asked for)\n", v->confidence * 100);
}

void summary_write(const struct verdict *v, const struct style *s, struct buf *out)
{
    if (v->is_comparison)
        write_comparison(v, s, out);
    else if (v->kind == VERDICT_CULPRIT && v->n_culprits == 1)
        write_culprit_alone(v, s, out);
    else if (v->kind == VERDICT_CULPRIT && v->n_culprits > 1)
        write_culprits(v, s, out);
    else
        write_no_culprit(v, s, out);
    write_belief(v, s, out);
    write_runners_up(v, s, out);
    write_question(v, s, out);
    write_excluded(v, s, out);
    write_confirmations(v, s, out);
    write_fixups(v, s, out);
    write_evidence(v, s, out);
    if (v->kind == VERDICT_CULPRIT && findings[v->finding]) {
        buf_addc(out, '\n');
        style_ink(out, s, INK_WARN);
        style_paragraph(out, s, 2, findings[v->finding]);
        style_plain(out, s);
    }
}
