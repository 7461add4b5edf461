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

bool has_no_spread(const struct bisection *b)
{
    double dof, sd = is_rate(b) ? 1 : evidence_within_sd(b->evidence, &dof);

    return sd == 0 && dof >= 2;
}

uint32_t end_runs(const struct bisection *b)
{
    for (uint32_t i = 0; i < (uint32_t)b->evidence->n_runs; i++)
        if (b->evidence->runs[i].value != floor(b->evidence->runs[i].value))
            return 1;
    return b->evidence->n_runs > 0 ? 2 : 1;
}

bool bisection_wants_any_change(const struct bisection *b)
{
    return b->min_effect_percent == 0 || (b->min_effect_percent < 0 && has_no_spread(b));
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
    evidence_settle(b->evidence, is_rate(b));
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
           posterior_class(b->posterior, k) >= b->believed && !has_splitters(b, k, false);
}

/** The likeliest commit of a class that can be tested. */
static uint32_t best_of_class(const struct bisection *b, uint32_t k)
{
    uint32_t best = UINT32_MAX;
    double high = 0;

    for (uint32_t c = b->posterior->classes[k].first; c < b->range->n; c++)
        if (b->posterior->class_of[c] == k && b->standing[c].testable != TESTABLE_NO &&
            posterior_of(b->posterior, c) > high) {
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

/** The part of each culprit in the change, by the likeliest reading that has them all; sorted by
 *  it. */
static void fill_shares(struct bisection *b)
{
    const struct posterior *p = b->posterior;
    double sum = 0;

    for (uint32_t i = 0; i < b->n_culprits; i++)
        b->shares[i] = 1;
    for (uint32_t r = 0; r < p->n_readings && b->n_culprits > 1; r++) {
        uint32_t n_found = 0;
        for (uint32_t i = 0; i < b->n_culprits; i++)
            for (uint32_t j = 0; j < p->readings[r].n; j++)
                if (p->readings[r].classes[j] == p->class_of[b->culprits[i]]) {
                    b->shares[i] = fabs(p->readings[r].size[j]);
                    n_found++;
                }
        if (n_found == b->n_culprits)
            break;
    }
    for (uint32_t i = 0; i < b->n_culprits; i++) {
        sum += b->shares[i];
        double share = b->shares[i];
        uint32_t commit = b->culprits[i], j = i;
        for (; j > 0 && share > b->shares[j - 1]; j--) {
            b->shares[j] = b->shares[j - 1];
            b->culprits[j] = b->culprits[j - 1];
        }
        b->shares[j] = share;
        b->culprits[j] = commit;
    }
    for (uint32_t i = 0; i < b->n_culprits; i++)
        b->shares[i] /= sum;
}

bool is_among(const uint32_t *list, uint32_t n, uint32_t v)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

bool is_culprit(const struct bisection *b, uint32_t v)
{
    return is_among(b->culprits, b->n_culprits, v);
}

static void name_culprits(struct bisection *b, const uint32_t *commits, uint32_t n)
{
    b->n_culprits = n;
    memcpy(b->culprits, commits, n * sizeof(*commits));
    fill_shares(b);
}

static void finish_with_culprits(struct bisection *b)
{
    uint32_t c = b->culprits[0], same = same_parent(b, c);

    if (b->n_culprits > 1)
        bisection_finish(b, VERDICT_CULPRIT, FINDING_NONE, NULL);
    else if (same != UINT32_MAX)
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

/** Says which suspect is to be built afresh next; UINT32_MAX when all have been, and then whether
 *  one could not be. */
static uint32_t next_to_verify(struct bisection *b, const uint32_t *suspects, uint32_t n,
                               bool *has_failed)
{
    *has_failed = false;
    for (uint32_t i = 0; i < n && !b->is_unverified; i++) {
        const struct standing *s = &b->standing[suspects[i]];
        if (s->is_verified)
            continue;
        if (s->n_fresh_failed < 2)
            return suspects[i];
        *has_failed = true;
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                         "%.10s could not be verified by a fresh build: %s",
                         b->range->commits[suspects[i]].id.hex,
                         s->reason ? s->reason : "it failed");
    }
    return UINT32_MAX;
}

static enum judgement settle_culprits(struct bisection *b, const uint32_t *commits, uint32_t n,
                                      uint32_t *verify)
{
    bool has_failed;

    *verify = next_to_verify(b, commits, n, &has_failed);
    if (*verify != UINT32_MAX)
        return JUDGE_VERIFY;
    name_culprits(b, commits, n);
    if (!has_failed)
        finish_with_culprits(b);
    return JUDGE_FINISHED;
}

static enum judgement settle_range(struct bisection *b, uint32_t k, uint32_t *verify)
{
    uint32_t suspect = last_testable(b, k);
    bool has_failed;

    recall_verification(b, suspect);
    *verify = next_to_verify(b, &suspect, 1, &has_failed);
    if (*verify != UINT32_MAX)
        return JUDGE_VERIFY;
    if (has_failed)
        return JUDGE_FINISHED;
    b->answer_class = k;
    bisection_finish(b, VERDICT_RANGE, FINDING_NONE, NULL);
    return JUDGE_FINISHED;
}

double log_odds_of_pair(const struct bisection *b, uint32_t slot, uint32_t other)
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
    double least = log(b->believed / (1 - b->believed)) + log((1 - p_outside) / p_outside);

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

/** Classes that a step is in with the confidence asked. */
static uint32_t sure_classes(const struct bisection *b, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < b->posterior->n_classes && n < MAX_STEPS; k++)
        if (posterior_class(b->posterior, k) >= b->believed)
            out[n++] = k;
    return n;
}

/** Every sure class is down to a commit, or cannot be cut further, and no step is left out. */
static enum judgement judge_steps(struct bisection *b, uint32_t *verify)
{
    const struct posterior *p = b->posterior;
    bool is_merge_answer = b->is_first_parent && b->is_no_inside;
    bool is_inside = bisection_is_inside(b);
    uint32_t sure[MAX_STEPS], named[MAX_STEPS], n_named = 0, n = sure_classes(b, sure);

    if (n == 0)
        return JUDGE_SEARCH;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = best_of_class(b, sure[i]);
        if (c != UINT32_MAX && posterior_of(p, c) >= b->believed)
            named[n_named++] = c;
        else if (has_splitters(b, sure[i], is_inside))
            return JUDGE_SEARCH;
        else if (is_merge_answer)
            named[n_named++] = last_testable(b, sure[i]);
    }
    struct answer answer = {.sure = sure, .n_sure = n, .named = named, .n_named = n_named};
    enum judgement doubt = bisection_doubt(b, &answer, verify);
    if (doubt != JUDGE_FINISHED)
        return doubt;
    return n_named > 0 ? settle_culprits(b, named, n_named, verify)
                       : settle_range(b, sure[0], verify);
}

enum judgement bisection_judge(struct bisection *b, uint32_t *verify)
{
    const struct posterior *p = b->posterior;

    if (finish_if_contradicted(b))
        return JUDGE_FINISHED;
    if (p->p_none >= b->believed)
        return judge_none(b);
    if (p->p_reversed >= b->believed)
        bisection_finish(b, VERDICT_NOT_REPRODUCED, FINDING_REVERSED, NULL);
    else if (p->p_hump >= b->believed)
        bisection_finish(b, VERDICT_NOT_REPRODUCED, FINDING_HUMP, NULL);
    else if (p->p_merge_base >= b->believed)
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_BAD_MERGE_BASE, NULL);
    return b->is_finished ? JUDGE_FINISHED : judge_steps(b, verify);
}
