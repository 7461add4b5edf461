/* SPDX-License-Identifier: Apache-2.0 */
#include "report/git_log.h"
#include "base/mem.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

enum { SUBJECT_BYTES = 200, REASON_BYTES = 200 };

enum mark { MARK_NONE, MARK_GOOD, MARK_BAD, MARK_SKIP };

static const char *const mark_names[] = {
    [MARK_NONE] = "tried", [MARK_GOOD] = "good", [MARK_BAD] = "bad", [MARK_SKIP] = "skip"};

struct writer {
    const struct verdict *v;
    const struct range *range; /* NULL: unknown */
    struct revision target;    /* bad is what contains it; not set: nothing is named */
    uint8_t *is_above;         /* by index in range: contains the target */
    uint8_t *is_below;         /* is contained in the target, and is not it */
    struct revision bad;       /* the latest one git was told */
    struct buf *out;
};

/* The commit git would be left with: the culprit with the largest share, or the last of a range. */
static struct revision target_of(const struct verdict *v)
{
    struct revision none = {{0}};

    if (v->kind == VERDICT_CULPRIT && v->n_culprits > 0) {
        size_t most = 0;
        for (size_t i = 1; i < v->n_culprits; i++)
            if (fabs(v->culprits[i].share) > fabs(v->culprits[most].share))
                most = i;
        return v->culprits[most].revision;
    }
    if (v->kind == VERDICT_RANGE && v->n_candidates > 0)
        return v->candidates[v->n_candidates - 1].revision;
    return none;
}

/* Parents come before their children, so one pass in either direction is enough. */
static void mark_above(const struct range *r, uint32_t of, uint8_t *is_above)
{
    is_above[of] = 1;
    for (uint32_t i = of + 1; i < r->n; i++)
        for (uint32_t k = 0; k < r->commits[i].n_parents; k++)
            is_above[i] |= is_above[r->commits[i].parents[k]];
}

static void mark_below(const struct range *r, uint32_t of, uint8_t *is_below)
{
    is_below[of] = 1;
    for (uint32_t i = of + 1; i-- > 0;)
        for (uint32_t k = 0; is_below[i] && k < r->commits[i].n_parents; k++)
            is_below[r->commits[i].parents[k]] = 1;
    is_below[of] = 0;
}

static bool is_candidate_of_range(const struct verdict *v, const struct revision *id)
{
    if (v->kind != VERDICT_RANGE)
        return false;
    for (size_t i = 0; i < v->n_candidates; i++)
        if (revision_equal(&v->candidates[i].revision, id))
            return true;
    return false;
}

static const struct culprit *named(const struct writer *w)
{
    for (size_t i = 0; i < w->v->n_culprits; i++)
        if (revision_equal(&w->v->culprits[i].revision, &w->target))
            return &w->v->culprits[i];
    return NULL;
}

static enum mark mark_by_level(const struct writer *w, const struct tried *t)
{
    const struct culprit *c = named(w);

    if (revision_equal(&t->revision, &w->target))
        return MARK_BAD;
    if (!c || !isfinite(t->mean))
        return MARK_NONE;
    return fabs(t->mean - c->bad.mean) < fabs(t->mean - c->good.mean) ? MARK_BAD : MARK_GOOD;
}

static enum mark mark_of(const struct writer *w, const struct tried *t)
{
    if (t->why)
        return MARK_SKIP;
    if (!revision_is_set(&w->target))
        return MARK_NONE;
    uint32_t at = w->range ? range_find(w->range, &t->revision) : UINT32_MAX;
    if (!w->is_above || at == UINT32_MAX)
        return mark_by_level(w, t);
    if (w->is_above[at])
        return MARK_BAD;
    if (w->is_below[at] && !is_candidate_of_range(w->v, &t->revision))
        return MARK_GOOD;
    return MARK_NONE;
}

static const char *subject_of(const struct writer *w, const struct revision *id)
{
    uint32_t at = w->range ? range_find(w->range, id) : UINT32_MAX;

    if (at != UINT32_MAX)
        return w->range->commits[at].subject;
    for (size_t i = 0; i < w->v->n_culprits; i++)
        if (revision_equal(&w->v->culprits[i].revision, id))
            return w->v->culprits[i].subject;
    return NULL;
}

static void write_name(const struct writer *w, const char *word, const struct revision *id)
{
    const char *subject = subject_of(w, id);

    buf_printf(w->out, "# %s: [%s]", word, id->hex);
    if (subject) {
        buf_addc(w->out, ' ');
        text_clean(w->out, subject, strlen(subject), SUBJECT_BYTES);
    }
    buf_addc(w->out, '\n');
}

static void write_mark(struct writer *w, enum mark mark, const struct revision *id)
{
    write_name(w, mark_names[mark], id);
    if (mark != MARK_NONE)
        buf_printf(w->out, "git bisect %s %s\n", mark_names[mark], id->hex);
    if (mark == MARK_BAD)
        w->bad = *id;
}

static void write_evidence(const struct writer *w, const struct tried *t)
{
    if (t->why) {
        buf_adds(w->out, "#   cannot be tested: ");
        text_clean(w->out, t->why, strlen(t->why), REASON_BYTES);
        buf_addc(w->out, '\n');
    } else if (t->n_runs > 0) {
        buf_printf(w->out, "#   mean %.6g", t->mean);
        if (w->v->metric_unit && w->v->metric_unit[0]) {
            buf_addc(w->out, ' ');
            text_clean(w->out, w->v->metric_unit, strlen(w->v->metric_unit), SUBJECT_BYTES);
        }
        buf_printf(w->out, " over %u run%s\n", t->n_runs, t->n_runs == 1 ? "" : "s");
    }
}

/* git keeps one bad revision, the last it was told: a bad one outside of that is only a comment. */
static bool narrows(const struct writer *w, const struct revision *id)
{
    if (!w->range || !revision_is_set(&w->bad))
        return true;
    uint32_t bad = range_find(w->range, &w->bad), at = range_find(w->range, id);
    if (bad == UINT32_MAX || at == UINT32_MAX)
        return true;
    AUTO(mem_free) char *below = mem_alloc(w->range->n);
    mark_below(w->range, bad, (uint8_t *)below);
    return below[at];
}

static void write_tried(struct writer *w, const struct tried *t)
{
    bool is_end =
        revision_equal(&t->revision, &w->v->bad) || revision_equal(&t->revision, &w->v->good);
    enum mark mark = mark_of(w, t);

    if (is_end || revision_equal(&t->revision, &w->target))
        return; /* named at the start and at the end */
    if (mark == MARK_BAD && !narrows(w, &t->revision))
        mark = MARK_NONE;
    write_mark(w, mark, &t->revision);
    write_evidence(w, t);
}

static const struct tried *find_tried(const struct tried *tried, size_t n,
                                      const struct revision *id)
{
    for (size_t i = 0; i < n; i++)
        if (revision_equal(&tried[i].revision, id))
            return &tried[i];
    return NULL;
}

static void write_end(struct writer *w, enum mark mark, const struct revision *id,
                      const struct tried *t)
{
    write_mark(w, mark, id);
    if (t)
        write_evidence(w, t);
}

/* A parent that needed no run of its own: what is below a culprit is good. */
static void write_parents(struct writer *w, const struct tried *tried, size_t n)
{
    uint32_t at = w->range ? range_find(w->range, &w->target) : UINT32_MAX;

    if (at == UINT32_MAX || w->v->kind != VERDICT_CULPRIT)
        return;
    const struct commit *c = &w->range->commits[at];
    for (uint32_t k = 0; k < c->n_parents; k++) {
        const struct revision *id = &w->range->commits[c->parents[k]].id;
        if (find_tried(tried, n, id) || revision_equal(id, &w->v->good))
            continue;
        buf_adds(w->out, "# not measured itself, follows from the others:\n");
        write_mark(w, MARK_GOOD, id);
    }
}

static void write_target(struct writer *w, const struct tried *tried, size_t n)
{
    if (!revision_is_set(&w->target))
        return;
    if (!revision_equal(&w->target, &w->v->bad))
        write_end(w, MARK_BAD, &w->target, find_tried(tried, n, &w->target));
    if (w->v->kind == VERDICT_CULPRIT) {
        write_name(w, "first bad commit", &w->target);
        return;
    }
    buf_adds(w->out, "# only skipped commits left to test\n");
    for (size_t i = 0; i < w->v->n_candidates; i++)
        write_name(w, "possible first bad commit", &w->v->candidates[i].revision);
}

static void write_untried_skips(struct writer *w, const struct tried *tried, size_t n)
{
    for (size_t i = 0; i < w->v->n_untestable; i++)
        if (!find_tried(tried, n, &w->v->untestable[i]))
            write_mark(w, MARK_SKIP, &w->v->untestable[i]);
}

static void write_head(struct writer *w, const struct tried *tried, size_t n)
{
    buf_adds(w->out, "# bisectd bisection ");
    if (w->v->id)
        text_clean(w->out, w->v->id, strlen(w->v->id), SUBJECT_BYTES);
    const char *name = verdict_name(w->v->kind);
    buf_printf(w->out, ", verdict %s\n", name ? name : "none yet");
    if (!revision_is_set(&w->target) && w->v->message) {
        buf_adds(w->out, "# ");
        text_clean(w->out, w->v->message, strlen(w->v->message), 4 * SUBJECT_BYTES);
        buf_addc(w->out, '\n');
    }
    buf_adds(w->out, "git bisect start\n");
    /* Without an answer the ends are what was claimed, not what was found. */
    write_end(w, MARK_BAD, &w->v->bad, find_tried(tried, n, &w->v->bad));
    write_end(w, MARK_GOOD, &w->v->good, find_tried(tried, n, &w->v->good));
}

void git_log_write(const struct verdict *v, const struct range *range, const struct tried *tried,
                   size_t n, struct buf *out)
{
    struct writer w = {.v = v, .range = range, .target = target_of(v), .out = out};
    uint32_t at = range ? range_find(range, &w.target) : UINT32_MAX;
    AUTO(mem_free) char *above = NULL;
    AUTO(mem_free) char *below = NULL;

    if (at != UINT32_MAX) {
        above = mem_alloc(range->n);
        below = mem_alloc(range->n);
        w.is_above = (uint8_t *)above;
        w.is_below = (uint8_t *)below;
        mark_above(range, at, w.is_above);
        mark_below(range, at, w.is_below);
    }
    write_head(&w, tried, n);
    for (size_t i = 0; i < n; i++)
        write_tried(&w, &tried[i]);
    write_untried_skips(&w, tried, n);
    write_parents(&w, tried, n);
    write_target(&w, tried, n);
}
