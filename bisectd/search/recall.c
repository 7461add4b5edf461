/* SPDX-License-Identifier: Apache-2.0 */
/* Verifications of earlier bisections: what need not be built and measured once more. */
#include "base/mem.h"
#include "search/state.h"
#include <string.h>

static bool is_same_bytes(const struct stored_verification *v)
{
    if (!v->builds[0].artifact[0])
        return false;
    for (size_t i = 1; i < v->n_builds; i++)
        if (strcmp(v->builds[i].artifact, v->builds[0].artifact) == 0)
            return true;
    return false;
}

static bool is_pair_of_ends(const struct bisection *b, const struct recollection *r)
{
    return r->n == 2 && r->revisions[0] == b->range->good && r->revisions[1] == b->bad_end;
}

void recall_add(struct bisection *b, const struct stored_verification *v)
{
    struct recollection r = {.is_fresh = v->is_fresh, .n = (uint32_t)v->n_builds};

    if (b->is_comparison || v->n_builds < 2)
        return;
    r.bisection = mem_dup(v->bisection);
    r.is_same_bytes = v->is_fresh && is_same_bytes(v);
    r.revisions = mem_array(r.n, sizeof(*r.revisions));
    for (uint32_t i = 0; i < r.n; i++)
        r.revisions[i] = range_index_find(b->index, &v->builds[i].revision);
    b->recollections = mem_resize(b->recollections, b->n_recollections + 1, sizeof(r));
    b->recollections[b->n_recollections++] = r;
    if (!r.is_fresh && is_pair_of_ends(b, &r)) {
        b->is_none_checked = true;
        b->none_checked_in = r.bisection;
    }
}

void recall_failure(struct bisection *b, const struct stored_failure *f)
{
    uint32_t v = range_index_find(b->index, &f->revision);

    if (v == UINT32_MAX || bisection_is_end(b, v) || evidence_find(b->evidence, v) != UINT32_MAX)
        return;
    same_set_untestable(b, v, f->reason);
    mem_free(b->standing[v].failed_in);
    b->standing[v].failed_in = mem_dup(f->bisection);
}

void recall_free(struct bisection *b)
{
    for (uint32_t v = 0; b->standing && v < b->range->n; v++)
        mem_free(b->standing[v].failed_in);
    for (uint32_t i = 0; i < b->n_recollections; i++) {
        mem_free(b->recollections[i].bisection);
        mem_free(b->recollections[i].revisions);
    }
    mem_free(b->recollections);
}

static bool has_partner(const struct recollection *r, uint32_t v)
{
    for (uint32_t i = 1; i < r->n; i++)
        if (r->revisions[i] == v)
            return true;
    return false;
}

void recall_verification(struct bisection *b, uint32_t suspect)
{
    struct standing *s = &b->standing[suspect];
    uint32_t partners[MAX_PARTNERS];
    uint32_t n = verification_partners(b, suspect, partners, LEN(partners));

    /* The newest first: its artifacts are the likeliest to be at hand. */
    for (uint32_t i = b->n_recollections; i-- > 0 && !s->is_verified;) {
        const struct recollection *r = &b->recollections[i];
        bool has_all = r->is_fresh && r->revisions[0] == suspect;
        for (uint32_t j = 0; j < n; j++)
            has_all &= has_partner(r, partners[j]);
        if (!has_all)
            continue;
        s->is_verified = true;
        s->is_same_bytes = r->is_same_bytes;
        s->verified_in = r->bisection;
    }
}

const char *recall_source(const struct bisection *b)
{
    if (b->n_culprits > 0)
        return b->standing[b->culprits[0]].verified_in;
    if (b->verdict == VERDICT_RANGE)
        for (uint32_t v = 0; v < b->range->n; v++)
            if (b->posterior->class_of[v] == b->answer_class && b->standing[v].verified_in)
                return b->standing[v].verified_in;
    return b->verdict == VERDICT_NOT_REPRODUCED ? b->none_checked_in : NULL;
}
