/* SPDX-License-Identifier: Apache-2.0 */
/* What the posterior cannot know of: runs that go astray, noise of two modes, a step too faint to
 * have been looked for. */
#include "search/state.h"
#include <math.h>

enum { ENDS_BEFORE_VERIFICATION = 4 };
/* Runs, and more for each sampled revision, after which no step is looked for beside those that
 * are sure: levels that wander look like small steps for ever. */
enum { PATIENCE = 40, PATIENCE_EACH = 6 };
static const double widest_modes_sds = 8; /* two modes of one noise are not farther apart */
static const double spare_bits = 1;       /* ... and are not believed to have agreed by luck */

/* A step beside those that are sure is looked for where a plain one is likelier than this, before
 * they are verified and after. */
static const struct {
    struct plain plain;
    double most;
} beside[2] = {{{.8, .25}, .055}, {{.8, .15}, .03}};
/* A faint one takes many runs to find or to exclude: where it is there rather than not. */
static const struct plain faint = {0};
static const double faint_most = .5;

static uint32_t runs_of(const struct bisection *b, uint32_t v)
{
    uint32_t slot = evidence_find(b->evidence, v);

    return slot == UINT32_MAX ? UINT32_MAX : b->evidence->sampled[slot].n_all;
}

/* Runs that went astray */

/** Would the runs that go astray, as often as that is seen, spoil more than a part of the answers
 *  that may be wrong? */
static bool may_go_astray(const struct bisection *b)
{
    const struct evidence *e = b->evidence;
    double rate = (e->n_wild + 1) / (e->n_runs + 2);

    return e->n_wide == (uint32_t)e->n_runs || rate > (1 - b->confidence) / 4;
}

static uint32_t runs_before_naming(const struct bisection *b, uint32_t suspect, uint32_t v,
                                   bool is_near)
{
    uint32_t near = is_near && may_go_astray(b) ? 2 : 1;

    if (is_rate(b) || has_no_spread(b))
        return 1;
    /* The ends tell whether there are more steps. */
    bool is_settled = b->is_unverified || b->standing[suspect].is_verified;
    if ((v == b->range->good || v == b->bad_end) && !is_settled)
        return ENDS_BEFORE_VERIFICATION;
    return near;
}

uint32_t runs_missing(const struct bisection *b, uint32_t suspect, uint32_t v, bool is_near)
{
    uint32_t have = runs_of(b, v), wanted = runs_before_naming(b, suspect, v, is_near);

    if (have == UINT32_MAX || b->standing[v].is_exhausted)
        return 0;
    return wanted > have ? wanted - have : 0;
}

/** One whose only run, or its parent's, may have gone astray. */
static bool lacks_runs(const struct bisection *b, uint32_t suspect)
{
    uint32_t partners[MAX_PARTNERS];
    uint32_t n = verification_partners(b, suspect, partners, LEN(partners));
    uint32_t missing = runs_missing(b, suspect, suspect, true) +
                       runs_missing(b, suspect, b->range->good, false) +
                       runs_missing(b, suspect, b->bad_end, false);

    for (uint32_t i = 0; i < n; i++)
        missing += runs_missing(b, suspect, partners[i], true);
    return missing > 0;
}

/** Of a suspect and its parents, the one with the fewest runs. */
static uint32_t least_measured(const struct bisection *b, uint32_t suspect)
{
    uint32_t partners[MAX_PARTNERS], least = suspect;
    uint32_t n = verification_partners(b, suspect, partners, LEN(partners));

    for (uint32_t i = 0; i < n; i++)
        if (runs_of(b, partners[i]) < runs_of(b, least) && !b->standing[partners[i]].is_exhausted)
            least = partners[i];
    return least;
}

/* Two modes */

/** Noise of two modes agrees with a step between them in every second run: such a run tells one bit
 *  at most, and there are the commits to tell apart and the confidence to reach. */
static bool may_be_modes(const struct bisection *b, uint32_t suspect)
{
    const struct posterior *p = b->posterior;
    const struct hypothesis *h = &p->classes[p->class_of[suspect]];
    const struct fit *fit = &h->fit[h->p[1] > h->p[0]];
    double bits = spare_bits + log2(b->confidence / (1 - b->confidence)), n = 0;

    if (is_rate(b) || has_no_spread(b) || b->standing[suspect].is_exhausted ||
        fabs(fit->step.mean) > widest_modes_sds * fit->sigma)
        return false;
    for (uint32_t k = 0; k < p->n_classes; k++)
        n += p->classes[k].n;
    return b->evidence->n_runs < bits + log2(n);
}

/* Steps beside */

static bool is_beside_likely(const struct bisection *b, const struct answer *a)
{
    const struct posterior *p = b->posterior;
    bool is_settled = !b->is_unverified;

    for (uint32_t i = 0; i < a->n_named; i++)
        is_settled &= b->standing[a->named[i]].is_verified;
    return posterior_beside(p, a->sure, a->n_sure, beside[is_settled].plain) >=
           beside[is_settled].most;
}

/** The likeliest class of a step beside those that are sure: its first commit. */
static uint32_t likeliest_beside(const struct posterior *p, const struct answer *a)
{
    uint32_t step = UINT32_MAX;
    double best = 0;

    for (uint32_t i = 0; i < p->n_readings; i++)
        for (uint32_t j = 0; j < p->readings[i].n; j++) {
            uint32_t k = p->readings[i].classes[j];
            if (is_among(a->sure, a->n_sure, k) || p->readings[i].p <= best)
                continue;
            best = p->readings[i].p;
            step = p->classes[k].first;
        }
    return step;
}

/** Where a run tells most about a step beside those named: at either end of the stretch, between
 *  the ends and the culprits, in which one is likeliest. */
static bool find_beside(const struct bisection *b, const struct answer *a, uint32_t *at)
{
    uint32_t low = b->range->good, high = b->bad_end, step = likeliest_beside(b->posterior, a);

    for (uint32_t i = 0; i < a->n_named && step != UINT32_MAX; i++) {
        uint32_t parents[MAX_PARTNERS];
        verification_partners(b, a->named[i], parents, LEN(parents));
        if (a->named[i] <= step && (low == b->range->good || a->named[i] > low))
            low = a->named[i];
        if (a->named[i] > step && (high == b->bad_end || parents[0] < high))
            high = parents[0];
    }
    *at = runs_of(b, low) <= runs_of(b, high) ? low : high;
    return step != UINT32_MAX && a->n_named > 0 && runs_of(b, *at) != UINT32_MAX &&
           !b->standing[*at].is_exhausted;
}

/** A culprit beside others for which its own runs and its parent's alone do not speak as surely as
 *  is asked for: levels that wander, or scatter more where they are worse, may have made it. */
static bool is_unsupported(const struct bisection *b, uint32_t suspect)
{
    const double least_support = log(b->believed / (1 - b->believed));
    uint32_t partners[MAX_PARTNERS];
    uint32_t own = evidence_find(b->evidence, suspect);
    uint32_t n = verification_partners(b, suspect, partners, LEN(partners));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = evidence_find(b->evidence, partners[i]);
        if (own != UINT32_MAX && slot != UINT32_MAX &&
            log_odds_of_pair(b, slot, own) < least_support)
            return true;
    }
    return false;
}

enum judgement bisection_doubt(struct bisection *b, const struct answer *a, uint32_t *at)
{
    for (uint32_t i = 0; i < a->n_named; i++) {
        recall_verification(b, a->named[i]);
        *at = a->named[i];
        if (lacks_runs(b, a->named[i]))
            return JUDGE_REPEAT;
        *at = least_measured(b, a->named[i]);
        if (may_be_modes(b, a->named[i]))
            return JUDGE_ONE;
    }
    if (b->evidence->n_runs >= PATIENCE + PATIENCE_EACH * b->evidence->n)
        return JUDGE_FINISHED;
    for (uint32_t i = 0; i < a->n_named && a->n_named > 1; i++) {
        *at = least_measured(b, a->named[i]);
        if (!b->standing[*at].is_exhausted && is_unsupported(b, a->named[i]))
            return JUDGE_ONE;
    }
    if (posterior_beside(b->posterior, a->sure, a->n_sure, faint) >= faint_most)
        return JUDGE_SEARCH;
    if (!is_beside_likely(b, a))
        return JUDGE_FINISHED;
    return find_beside(b, a, at) ? JUDGE_ONE : JUDGE_SEARCH;
}
