/* SPDX-License-Identifier: Apache-2.0 */
/* What a bisection makes of revisions that build to the same thing (alike.h): it builds one of
 * them, spares the runs of the others, and takes what lies between them out of the search. */
#include "base/mem.h"
#include "search/state.h"
#include <stdlib.h>
#include <string.h>

static bool has_artifact(const struct bisection *b, uint32_t v)
{
    return b->standing[v].artifact[0] != '\0';
}

/* What is learned */

void same_apply(struct bisection *b)
{
    if (!b->has_excluded)
        return;
    uint8_t *is_excluded = mem_array(b->range->n, 1);
    for (uint32_t v = 0; v < b->range->n; v++)
        is_excluded[v] = alike_exclusion(b->alike, v) != EXCLUDED_NOT;
    posterior_exclude(b->posterior, b->range->n, is_excluded);
    mem_free(is_excluded);
    b->has_excluded = false;
    b->is_stale = true;
}

void same_link(struct bisection *b, uint32_t u, uint32_t v)
{
    b->has_excluded |= alike_link(b->alike, u, v) > 0;
}

void same_note_artifact(struct bisection *b, uint32_t v)
{
    bool is_known = false;

    if (!has_artifact(b, v))
        return;
    for (uint32_t i = 0; i < b->n_built; i++) {
        uint32_t u = b->built[i];
        is_known |= u == v;
        if (u != v && strcmp(b->standing[u].artifact, b->standing[v].artifact) == 0)
            same_link(b, u, v);
    }
    if (is_known)
        return;
    b->built = mem_resize(b->built, b->n_built + 1, sizeof(*b->built));
    b->built[b->n_built++] = v;
}

static void set_untestable(struct bisection *b, uint32_t v, const char *reason)
{
    struct standing *s = &b->standing[v];

    s->testable = TESTABLE_NO;
    mem_free(s->reason);
    s->reason = mem_dup(reason);
}

void same_set_untestable(struct bisection *b, uint32_t v, const char *reason)
{
    set_untestable(b, v, reason);
    for (uint32_t u = 0; u < b->range->n; u++)
        if (u != v && b->standing[u].testable == TESTABLE_UNKNOWN &&
            alike_is_same(b->alike, u, v) && !bisection_is_end(b, u) &&
            evidence_find(b->evidence, u) == UINT32_MAX)
            set_untestable(b, u, reason);
}

struct excluded same_count(const struct bisection *b)
{
    struct excluded out = {0};

    for (uint32_t v = 0; v < b->range->n; v++) {
        const struct commit *c = &b->range->commits[v];
        enum exclusion why = alike_exclusion(b->alike, v);
        if (!c->is_candidate)
            continue;
        out.n_untouched += why == EXCLUDED_UNTOUCHED;
        out.n_same_bytes += why == EXCLUDED_SAME_BYTES;
        out.n_prose +=
            why == EXCLUDED_NOT && c->is_prose && evidence_find(b->evidence, v) == UINT32_MAX;
    }
    return out;
}

/* Which of them to build and measure */

/** How good each revision is to stand for those that are like it. */
static uint8_t *merits(const struct bisection *b, bool is_inside)
{
    enum { USABLE = 8, END = 4, SAMPLED = 2, BUILT = 1 };
    uint8_t *merit = mem_array(b->range->n, 1);

    for (uint32_t i = 0; i < b->evidence->n; i++)
        merit[b->evidence->sampled[i].revision] |= SAMPLED;
    for (uint32_t i = 0; i < bisection_n_ends(b); i++)
        merit[bisection_end(b, i)] |= END;
    for (uint32_t v = 0; v < b->range->n; v++) {
        const struct standing *s = &b->standing[v];
        bool is_usable =
            s->testable != TESTABLE_NO && !s->is_exhausted && bisection_may_test(b, v, is_inside);
        merit[v] |= (is_usable ? USABLE : 0) | (has_artifact(b, v) ? BUILT : 0);
    }
    return merit;
}

void same_bar(const struct bisection *b, bool is_inside, uint8_t *is_barred)
{
    uint32_t n = b->range->n;
    uint32_t *root = mem_array(n, sizeof(*root)), *best = mem_array(n, sizeof(*best));
    uint8_t *merit = merits(b, is_inside);

    alike_roots(b->alike, root);
    for (uint32_t v = 0; v < n; v++) { /* a root comes before all that are like it */
        if (root[v] == v || merit[v] > merit[best[root[v]]])
            best[root[v]] = v;
    }
    for (uint32_t v = 0; v < n; v++)
        is_barred[v] |= best[root[v]] != v;
    mem_free(root);
    mem_free(best);
    mem_free(merit);
}

uint32_t same_stand_in(const struct bisection *b, uint32_t v, uint32_t other)
{
    if (alike_is_same(b->alike, v, other))
        return v;
    uint8_t *merit = merits(b, true);
    uint32_t best = UINT32_MAX; /* of equals the oldest: the others add nothing to it */
    for (uint32_t u = 0; u < b->range->n; u++)
        if (alike_is_same(b->alike, u, v) && (best == UINT32_MAX || merit[u] > merit[best]))
            best = u;
    mem_free(merit);
    return best;
}

uint32_t same_base(const struct bisection *b, uint32_t v)
{
    uint32_t base = has_artifact(b, v) ? UINT32_MAX : alike_base(b->alike, v);

    return base == UINT32_MAX || b->standing[base].testable == TESTABLE_NO ? UINT32_MAX : base;
}

/* What the worker is told */

struct neighbour {
    uint32_t distance, revision;
};

static int by_distance(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->revision > y->revision) - (x->revision < y->revision);
}

static bool is_told(const struct task_spec *t, const char *artifact)
{
    for (uint32_t i = 0; i < t->n_known; i++)
        if (strcmp(t->known[i].artifact, artifact) == 0)
            return true;
    return false;
}

void same_tell(const struct bisection *b, uint32_t v, struct task_spec *t)
{
    if (has_artifact(b, v) || b->n_built == 0)
        return;
    struct neighbour *near = mem_array(b->n_built, sizeof(*near));
    for (uint32_t i = 0; i < b->n_built; i++) {
        uint32_t u = b->built[i];
        near[i] = (struct neighbour){u > v ? u - v : v - u, u};
    }
    qsort(near, b->n_built, sizeof(*near), by_distance);
    t->known = mem_array(TASK_MAX_KNOWN, sizeof(*t->known));
    for (uint32_t i = 0; i < b->n_built && t->n_known < TASK_MAX_KNOWN; i++) {
        const char *artifact = b->standing[near[i].revision].artifact;
        if (is_told(t, artifact))
            continue;
        struct task_known *known = &t->known[t->n_known++];
        known->revision = b->range->commits[near[i].revision].id;
        memcpy(known->artifact, artifact, sizeof(known->artifact));
    }
    mem_free(near);
}
