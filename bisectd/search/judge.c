/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "search/state.h"
#include <math.h>
#include <string.h>

static const double p_outside = .05; /* that the same bytes measure differently on purpose */
static const double sd_ratio = 2;    /* ends that differ more than this have spreads of their own */

/** Where bad runs also scatter more, the spread of the good ones says what is worth a name. */
static double quieter_end_sd(const struct bisection *b)
{
    double quieter = INFINITY;

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t slot = evidence_find(b->evidence, bisection_end(b, i));
        if (slot == UINT32_MAX || b->evidence->sampled[slot].all.n < 4)
            return INFINITY;
        const struct moments *m = &b->evidence->sampled[slot].all;
        quieter = fmin(quieter, sqrt(m->ss / (m->n - 1)));
    }
    return sd_ratio * quieter;
}

/** Mean standard deviation within a revision; rates are smoothed, so that "0 of 2" is not "never".
 */
static double within_sd(const struct bisection *b)
{
    double dof, sum = 0;

    if (!is_rate(b))
        return fmin(evidence_within_sd(b->evidence, &dof), quieter_end_sd(b));
    for (uint32_t i = 0; i < b->evidence->n; i++) {
        const struct moments *m = &b->evidence->sampled[i].all;
        double rate = (m->n * m->mean + 1) / (m->n + 2);
        sum += m->n * sqrt(rate * (1 - rate));
    }
    return sum / b->evidence->n_runs;
}

/** Values that never differ within a revision: any difference between revisions is a change. */
static bool has_no_spread(const struct bisection *b)
{
    double dof, sd = is_rate(b) ? 1 : evidence_within_sd(b->evidence, &dof);

    return sd == 0 && dof >= 2;
}

double bisection_min_effect(const struct bisection *b)
{
    uint32_t slot = evidence_find(b->evidence, b->range->good);
    double level = slot == UINT32_MAX ? 0 : fabs(b->evidence->sampled[slot].all.mean);
    double percent = is_rate(b) ? .01 : level / 100; /* of the good level, or a percentage point */
    double largest = 0;

    if (b->min_effect_percent > 0)
        return b->min_effect_percent * percent;
    if (b->min_effect_percent < 0 && !has_no_spread(b))
        return fmax(percent, within_sd(b) / 2);
    /* No percentage to go by: the smallest difference that is not a rounding error. */
    for (uint32_t i = 0; i < b->evidence->n; i++)
        largest = fmax(largest, fabs(b->evidence->sampled[i].all.mean));
    return fmax(largest * 1e-6, 1e-12);
}

struct scale bisection_scale(const struct bisection *b)
{
    /* A little below M, so that a change of exactly M is not a question without an answer. */
    double m = fmax(.9 * bisection_min_effect(b), 1e-12);

    return (struct scale){.min_effect = m, .floor = m / 20};
}

void bisection_refresh(struct bisection *b)
{
    if (!b->is_stale || b->evidence->n_runs == 0)
        return;
    posterior_update(b->posterior, b->evidence, bisection_scale(b));
    b->is_stale = false;
}

bool bisection_may_test(const struct bisection *b, uint32_t v, bool is_inside)
{
    return !b->is_first_parent || is_inside || b->dag->is_mainline[v] ||
           !b->range->commits[v].is_candidate;
}

/** Would testing v tell members of class k apart? v is one of them. */
static bool does_split(const struct bisection *b, uint32_t k, uint32_t v, uint8_t *mark)
{
    dag_mark_ancestors(b->dag, v, mark);
    for (uint32_t c = b->posterior->classes[k].first; c < b->range->n; c++)
        if (b->posterior->class_of[c] == k && !mark[c])
            return true;
    return false;
}

static bool has_splitters(const struct bisection *b, uint32_t k, bool is_inside)
{
    uint32_t n = b->range->n;
    double *p_builds = mem_array(n, sizeof(*p_builds));
    uint8_t *testable = mem_array(n, 1);
    uint8_t *mark = mem_array(n, 1);
    bool found = false;

    for (uint32_t v = 0; v < n; v++)
        testable[v] = b->standing[v].testable;
    planner_p_builds(testable, n, p_builds);
    for (uint32_t v = b->posterior->classes[k].first; v < n && !found; v++) {
        if (b->posterior->class_of[v] != k || testable[v] == TESTABLE_NO ||
            b->standing[v].is_exhausted || p_builds[v] < planner_presumed_broken ||
            !bisection_may_test(b, v, is_inside) || evidence_find(b->evidence, v) != UINT32_MAX)
            continue;
        found = does_split(b, k, v, mark);
    }
    mem_free(p_builds);
    mem_free(testable);
    mem_free(mark);
    return found;
}

bool bisection_is_inside(const struct bisection *b)
{
    uint32_t k = posterior_best_class(b->posterior);

    return b->is_first_parent && !b->is_no_inside && k != UINT32_MAX &&
           posterior_class(b->posterior, k) >= b->confidence && !has_splitters(b, k, false);
}

static uint32_t best_candidate(const struct bisection *b)
{
    uint32_t best = UINT32_MAX;
    double high = 0;

    for (uint32_t c = 0; c < b->range->n; c++)
        if (posterior_of(b->posterior, c) > high) {
            high = posterior_of(b->posterior, c);
            best = c;
        }
    return best;
}

/** The commit to verify for a class that cannot be cut further: its last one that can be tested,
 *  else the first revision measured bad. */
static uint32_t last_testable(const struct bisection *b, uint32_t k)
{
    uint32_t best = UINT32_MAX;
    bool is_inside = bisection_is_inside(b);

    for (uint32_t c = 0; c < b->range->n; c++)
        if (b->posterior->class_of[c] == k && b->standing[c].testable != TESTABLE_NO &&
            bisection_may_test(b, c, is_inside))
            best = c;
    if (best != UINT32_MAX)
        return best;
    for (uint32_t i = 0; i < b->evidence->n; i++) {
        const struct sampled *s = &b->evidence->sampled[i];
        if (s->is_ancestor[b->posterior->classes[k].first] && s->revision < best)
            best = s->revision;
    }
    return best;
}

/** A fresh build of a parent that is the same bytes as the culprit's: nothing that was measured
 *  changed. UINT32_MAX: none is. */
static uint32_t same_parent(const struct bisection *b, uint32_t c)
{
    uint32_t partners[MAX_PARTNERS];
    uint32_t n = verification_partners(b, c, partners, LEN(partners));
    const char *own = b->standing[c].artifact;

    if (n > 0 && b->standing[c].is_same_bytes) /* in an earlier bisection */
        return partners[0];
    for (uint32_t i = 0; i < n && own[0]; i++)
        if (strcmp(own, b->standing[partners[i]].artifact) == 0)
            return partners[i];
    return UINT32_MAX;
}

static void finish_with_culprit(struct bisection *b, uint32_t c)
{
    uint32_t same = same_parent(b, c);

    b->culprit = c;
    if (same != UINT32_MAX)
        bisection_finish(
            b, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT,
            "%.10s measures worse than %.10s before it, but both build to the same bytes",
            b->range->commits[c].id.hex, b->range->commits[same].id.hex);
    else if (!b->range->commits[c].matters)
        bisection_finish(
            b, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT,
            "%.10s measures worse than its parent, but touches nothing the build reads",
            b->range->commits[c].id.hex);
    else
        bisection_finish(b, VERDICT_CULPRIT, FINDING_NONE, NULL);
}

static enum judgement verify_or_finish(struct bisection *b, uint32_t suspect, uint32_t k,
                                       bool is_single, uint32_t *verify)
{
    const struct standing *s = &b->standing[suspect];
    recall_verification(b, suspect);
    bool is_settled = s->is_verified || b->is_unverified;

    if (!is_settled && s->n_fresh_failed < 2) {
        *verify = suspect;
        return JUDGE_VERIFY;
    }
    if (!is_settled) {
        b->culprit = is_single ? suspect : UINT32_MAX;
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                         "%.10s could not be verified by a fresh build: %s",
                         b->range->commits[suspect].id.hex, s->reason ? s->reason : "it failed");
    } else if (is_single) {
        finish_with_culprit(b, suspect);
    } else {
        b->answer_class = k;
        bisection_finish(b, VERDICT_RANGE, FINDING_NONE, NULL);
    }
    return JUDGE_FINISHED;
}

/** How much likelier a change is than none from the runs of two revisions alone, as a log. */
static double log_odds_of_pair(const struct bisection *b, uint32_t slot, uint32_t other)
{
    struct split s;
    struct fit up, down;
    struct fit_none none;

    evidence_split_pair(b->evidence, slot, other, &s);
    if (is_rate(b)) {
        fit_rate(&s, 1, b->posterior->scale, &up);
        fit_rate(&s, -1, b->posterior->scale, &down);
        fit_rate_none(&s, &none);
    } else {
        fit_normal(&s, 1, b->posterior->scale, &up);
        fit_normal(&s, -1, b->posterior->scale, &down);
        fit_normal_none(&s, b->posterior->scale, &none);
    }
    return log_add(up.log_effect, down.log_effect) -
           log_add(none.log_none, log_add(up.log_small, down.log_small));
}

/** Is the difference of the ends, looked at alone, rather a change than none? */
static bool do_ends_differ(const struct bisection *b)
{
    return log_odds_of_pair(b, evidence_find(b->evidence, b->range->good),
                            evidence_find(b->evidence, b->bad_end)) > 0;
}

/** Two that build to the same thing and surely measure differently: then it is not the build that
 *  matters, and no commit can be blamed. */
static bool finish_if_contradicted(struct bisection *b)
{
    const struct evidence *e = b->evidence;
    double least = log(b->confidence / (1 - b->confidence)) + log((1 - p_outside) / p_outside);

    for (uint32_t i = 0; i < e->n && !b->is_finished; i++)
        for (uint32_t j = 0; j < i && !b->is_finished; j++) {
            uint32_t u = e->sampled[i].revision, v = e->sampled[j].revision;
            if (!alike_is_same(b->alike, u, v) || log_odds_of_pair(b, i, j) < least)
                continue;
            bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT,
                             "%.10s and %.10s measure differently, but build to the same thing: "
                             "look for the cause in the machine, the time, or files that are no "
                             "part of the artifact",
                             b->range->commits[v].id.hex, b->range->commits[u].id.hex);
        }
    return b->is_finished;
}

/** "No change" is believed after the ends were measured once more, in turn: few runs may agree by
 *  luck, and a burst of foreign load may have fallen on one end alone. */
static enum judgement judge_none(struct bisection *b)
{
    bool is_alike = alike_is_same(b->alike, b->range->good, b->range->bad);

    if (!b->is_none_checked && (!has_no_spread(b) || do_ends_differ(b)))
        return JUDGE_ENDS;
    if (is_alike || !do_ends_differ(b)) /* alike: then the difference is not a sure one */
        bisection_finish(b, VERDICT_NOT_REPRODUCED, FINDING_NONE, NULL);
    else if (b->posterior->n_classes == 0)
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_CULPRIT_NOT_BUILT,
                         "the ends measure differently, but no commit between them changes what is "
                         "built: look for the cause in the machine, the time, or files that are no "
                         "part of the artifact");
    else
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                         "the ends differ, but no single commit changes the metric by the minimum "
                         "effect: look for several smaller changes with a smaller --min-effect");
    return JUDGE_FINISHED;
}

enum judgement bisection_judge(struct bisection *b, uint32_t *verify)
{
    const struct posterior *p = b->posterior;

    if (finish_if_contradicted(b))
        return JUDGE_FINISHED;
    if (p->p_none >= b->confidence)
        return judge_none(b);
    if (p->p_reversed >= b->confidence)
        bisection_finish(b, VERDICT_NOT_REPRODUCED, FINDING_REVERSED, NULL);
    else if (p->p_merge_base >= b->confidence)
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_BAD_MERGE_BASE, NULL);
    if (b->is_finished)
        return JUDGE_FINISHED;

    uint32_t c = best_candidate(b);
    uint32_t k = posterior_best_class(p);
    if (c != UINT32_MAX && posterior_of(p, c) >= b->confidence &&
        b->standing[c].testable != TESTABLE_NO)
        return verify_or_finish(b, c, p->class_of[c], true, verify);
    if (k == UINT32_MAX || posterior_class(p, k) < b->confidence ||
        has_splitters(b, k, bisection_is_inside(b)))
        return JUDGE_SEARCH;
    bool is_merge_answer = b->is_first_parent && b->is_no_inside;
    return verify_or_finish(b, last_testable(b, k), k, is_merge_answer, verify);
}
