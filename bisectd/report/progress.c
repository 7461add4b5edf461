/* SPDX-License-Identifier: Apache-2.0 */
#include "report/progress.h"
#include "base/clock.h"
#include "report/figure.h"
#include "report/summary.h"
#include <math.h>
#include <string.h>

enum { LIKELIEST = 3, ACTIVITY_BYTES = 120, SHORT_LIVE = 7 };

uint32_t progress_candidates(const struct verdict *v)
{
    double listed = 0;

    for (size_t i = 0; i < v->n_candidates; i++)
        listed += v->candidates[i].probability;
    for (size_t i = 0; i < v->n_culprits; i++)
        listed += v->culprits[i].probability;
    size_t n = v->n_candidates + v->n_culprits;
    /* A flat belief over a long range has no candidate worth listing: then all are left. */
    if (isfinite(v->p_no_change))
        listed += v->p_no_change;
    if (n == 0 || n > v->range_size || listed < .5)
        return v->range_size;
    return (uint32_t)n;
}

static void likeliest(const struct verdict *v, struct buf *out)
{
    for (size_t i = 0; i < v->n_candidates && i < LIKELIEST; i++) {
        if (v->candidates[i].probability < .01)
            break;
        buf_printf(out, "%s%.*s %.0f %%", i ? ", " : "", SHORT_LIVE, v->candidates[i].revision.hex,
                   v->candidates[i].probability * 100);
    }
}

static void where(const struct verdict *v, struct buf *out)
{
    if (v->state == BISECTION_QUEUED) {
        buf_adds(out, "waiting for its turn");
        return;
    }
    if (v->state == BISECTION_RESOLVING) {
        buf_adds(out, "reading the history");
        return;
    }
    if (v->is_comparison) {
        buf_printf(out, "comparing %.*s with %.*s", SHORT_LIVE, v->bad.hex, SHORT_LIVE,
                   v->good.hex);
        return;
    }
    uint32_t left = progress_candidates(v);
    buf_printf(out, "%u of ", left);
    figure_count(out, v->range_size, "commit", "commits");
    buf_adds(out, " left");
}

/* Whole seconds: anything finer flickers. */
static void add_clock(double seconds, struct buf *out)
{
    int64_t whole = (int64_t)seconds;
    char took[32];

    if (whole < 60) {
        buf_printf(out, "%ds", (int)whole);
        return;
    }
    duration_format(whole * NS_PER_S, took);
    buf_adds(out, took);
}

static void work_done(const struct verdict *v, double seconds, const char *dot, struct buf *out)
{
    figure_count(out, v->cost.n_builds, "build", "builds");
    buf_adds(out, ", ");
    figure_count(out, v->cost.n_runs, "run", "runs");
    if (isfinite(v->expected_runs) && v->expected_runs >= 1)
        buf_printf(out, ", about %.0f to go", ceil(v->expected_runs));
    if (seconds < 0)
        return;
    buf_adds(out, dot);
    add_clock(seconds, out);
}

/* Cut to whole characters that fit; our lines hold no escapes before this. */
static void cut_to(struct buf *line, size_t columns)
{
    size_t at = 0, seen = 0;

    while (at < line->len) {
        size_t next = at + 1;
        while (next < line->len && ((unsigned char)line->data[next] & 0xc0) == 0x80)
            next++;
        if (++seen > columns)
            break;
        at = next;
    }
    if (at < line->len) {
        line->len = at;
        line->data[at] = '\0';
    }
}

static void doing(const struct verdict *v, struct buf *out)
{
    if (v->state != BISECTION_RUNNING)
        return; /* where() has said it */
    if (v->activity && v->activity[0])
        style_hostile(out, v->activity, ACTIVITY_BYTES);
    else
        buf_adds(out, "waiting for a worker");
}

void progress_live(const struct verdict *v, double seconds, const struct style *s,
                   struct buf lines[PROGRESS_LINES])
{
    const char *dot = s->is_utf8 ? " · " : " | ";
    AUTO(buf_fini) struct buf names = {0};
    struct buf *first = &lines[0], *second = &lines[1];

    where(v, first);
    likeliest(v, &names);
    if (names.len > 0)
        buf_printf(first, "%s%s", dot, buf_str(&names));
    if (v->state == BISECTION_RUNNING && v->p_no_change >= .01)
        buf_printf(first, "%sno change %.0f %%", dot, v->p_no_change * 100);

    doing(v, second);
    if (second->len > 0)
        buf_adds(second, dot);
    work_done(v, seconds, dot, second);
    for (int i = 0; i < PROGRESS_LINES; i++)
        cut_to(&lines[i], style_width(s) - 1);
}

void progress_plain(const struct verdict *v, double seconds, struct buf *out)
{
    AUTO(buf_fini) struct buf part = {0};

    where(v, out);
    likeliest(v, &part);
    if (part.len > 0)
        buf_printf(out, "; %s", buf_str(&part));
    buf_clear(&part);
    doing(v, &part);
    if (part.len > 0)
        buf_printf(out, "; %s", buf_str(&part));
    buf_adds(out, "; ");
    work_done(v, seconds, "; ", out);
    buf_addc(out, '\n');
}
