/* SPDX-License-Identifier: Apache-2.0 */
/* Where a bisection stands, in the words and numbers of the verdict document. */
#include "base/buf.h"
#include "base/mem.h"
#include "search/state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CANDIDATES = 1000 };
static const double least_candidate = .001;

/** 97.5 % point of Student's t (Cornish-Fisher, Abramowitz & Stegun 26.7.5). */
static double t_quantile(double dof)
{
    double z = 1.959963984540054, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

    if (dof < 1)
        return INFINITY;
    return z + (z3 + z) / (4 * dof) + (5 * z5 + 16 * z3 + 3 * z) / (96 * dof * dof) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * dof * dof * dof);
}

/** Of a rate's posterior under Jeffreys' prior: "12 of 12" leaves room. */
static double rate_variance(const struct moments *m)
{
    double a = m->n * m->mean + .5, b = m->n * (1 - m->mean) + .5, n = a + b;

    return a * b / (n * n * (n + 1));
}

/** Of a sampled revision, by its ancestors: 0 before c, 1 after it, LEFT_OUT beyond another
 *  culprit. */
static uint8_t side_of(const struct bisection *b, uint32_t c, const uint8_t *is_ancestor)
{
    uint8_t *below = mem_array(b->range->n, 1);
    bool is_alike = true;

    if (b->n_culprits > 1)
        dag_mark_ancestors(b->dag, c, below);
    for (uint32_t i = 0; i < b->n_culprits; i++) {
        uint32_t other = b->culprits[i];
        is_alike &= other == c || (below[other] != 0) == (is_ancestor[other] != 0);
    }
    mem_free(below);
    return is_alike ? is_ancestor[c] != 0 : LEFT_OUT;
}

void fill_levels(const struct bisection *b, uint32_t c, struct culprit *out)
{
    uint8_t *side = mem_array(b->evidence->n + 1, 1);
    struct split s;

    for (uint32_t i = 0; i < b->evidence->n; i++)
        side[i] = side_of(b, c, b->evidence->sampled[i].is_ancestor);
    evidence_split(b->evidence, side, &s);
    mem_free(side);
    double dof = s.n - s.n_hosts - 1;
    out->good = (struct level){s.good.mean, (uint32_t)s.good.n};
    out->bad = (struct level){s.bad.mean, (uint32_t)s.bad.n};
    out->delta = s.s_xx > 0 ? s.s_xy / s.s_xx : NAN;
    out->ratio = s.good.mean != 0 ? s.bad.mean / s.good.mean : NAN;
    double rest = fmax(s.s_yy - s.s_xy * out->delta, 0);
    double half = s.s_xx > 0 && dof >= 1 ? t_quantile(dof) * sqrt(rest / dof / s.s_xx) : NAN;
    out->interval[0] = out->delta - half;
    out->interval[1] = out->delta + half;
    if (is_rate(b)) {
        double se = sqrt(rate_variance(&s.good) + rate_variance(&s.bad));
        out->interval[0] = fmax(out->delta - 1.96 * se, -1);
        out->interval[1] = fmin(out->delta + 1.96 * se, 1);
    }
}

static void fill_culprit(const struct bisection *b, uint32_t i, struct culprit *out)
{
    uint32_t v = b->culprits[i];
    const struct commit *c = &b->range->commits[v];

    *out = (struct culprit){
        .revision = c->id,
        .subject = mem_dup(c->subject),
        .author = mem_dup(c->author),
        .probability = posterior_of(b->posterior, v),
        .share = b->shares[i],
    };
    if (b->is_first_parent && b->is_no_inside)
        out->probability = posterior_class(b->posterior, b->posterior->class_of[v]);
    fill_levels(b, v, out);
}

static void fill_culprits(const struct bisection *b, struct verdict *out)
{
    out->n_culprits = b->n_culprits;
    out->culprits = mem_array(b->n_culprits + 1, sizeof(*out->culprits));
    for (uint32_t i = 0; i < b->n_culprits; i++)
        fill_culprit(b, i, &out->culprits[i]);
}

static int by_probability(const void *a, const void *b)
{
    double pa = ((const struct candidate *)a)->probability;
    double pb = ((const struct candidate *)b)->probability;

    return (pa < pb) - (pa > pb);
}

static void fill_candidates(const struct bisection *b, struct verdict *out)
{
    bool is_range = b->verdict == VERDICT_RANGE;

    out->candidates = mem_array(b->range->n, sizeof(*out->candidates));
    for (uint32_t v = 0; v < b->range->n; v++) {
        double p = posterior_of(b->posterior, v);
        bool is_shown = is_range ? b->posterior->class_of[v] == b->answer_class
                                 : p >= least_candidate && b->evidence->n > 0;
        if (!is_shown || (b->verdict == VERDICT_CULPRIT && is_culprit(b, v)))
            continue;
        out->candidates[out->n_candidates++] = (struct candidate){b->range->commits[v].id, p};
    }
    if (!is_range)
        qsort(out->candidates, out->n_candidates, sizeof(*out->candidates), by_probability);
    if (out->n_candidates > MAX_CANDIDATES && !is_range)
        out->n_candidates = MAX_CANDIDATES;
}

/** Known not to build or measure, or, in the answer, inside a stretch whose probes all failed. */
static bool is_untestable(const struct bisection *b, uint32_t v)
{
    return b->standing[v].testable == TESTABLE_NO ||
           (b->verdict == VERDICT_RANGE && b->posterior->class_of[v] == b->answer_class &&
            !b->standing[v].is_verified);
}

static void fill_untestable(const struct bisection *b, struct verdict *out)
{
    out->untestable = mem_array(b->range->n, sizeof(*out->untestable));
    for (uint32_t v = 0; v < b->range->n; v++)
        if (is_untestable(b, v))
            out->untestable[out->n_untestable++] = b->range->commits[v].id;
}

static double mean_of_end(const struct bisection *b, uint32_t v)
{
    uint32_t slot = evidence_find(b->evidence, v);

    return slot == UINT32_MAX ? NAN : b->evidence->sampled[slot].all.mean;
}

void say_change(const struct bisection *b, double good, double bad, struct buf *out)
{
    const char *unit = b->metric->unit ? b->metric->unit : "";
    const char *gap = unit[0] ? " " : "";

    if (is_rate(b)) {
        buf_printf(out, "%.0f %% to %.0f %% failing", 100 * good, 100 * bad);
        return;
    }
    buf_printf(out, "%.5g%s%s to %.5g%s%s", good, gap, unit, bad, gap, unit);
    if (good != 0)
        buf_printf(out, " (%+.1f %%)", 100 * (bad - good) / fabs(good));
}

static void say_sure(double p, struct buf *out)
{
    if (p > .999)
        buf_adds(out, "over 99.9 % sure");
    else
        buf_printf(out, "%.3g %% sure", 100 * p);
}

static void say_culprits(const struct bisection *b, const struct verdict *v, struct buf *out)
{
    buf_printf(out, "%zu commits changed %s from ", v->n_culprits, b->metric->name);
    say_change(b, mean_of_end(b, b->range->good), mean_of_end(b, b->range->bad), out);
    for (size_t i = 0; i < v->n_culprits; i++) {
        const struct culprit *c = &v->culprits[i];
        buf_printf(out, "%s %.10s \"%s\" (%.0f %% of it, ", i == 0 ? ":" : ",", c->revision.hex,
                   c->subject, 100 * c->share);
        say_sure(c->probability, out);
        buf_adds(out, ")");
    }
}

static void say_culprit(const struct bisection *b, const struct verdict *v, struct buf *out)
{
    const struct culprit *c = &v->culprits[0];

    if (v->n_culprits > 1) {
        say_culprits(b, v, out);
        return;
    }

    buf_printf(out, "%.10s \"%s\" changed %s from ", c->revision.hex, c->subject, b->metric->name);
    say_change(b, c->good.mean, c->bad.mean, out);
    buf_adds(out, ", ");
    say_sure(c->probability, out);
}

/** How many of the answer failed in an earlier bisection, and in which (NULL: in several). */
static uint32_t count_recalled(const struct bisection *b, const struct verdict *v,
                               const char **source)
{
    uint32_t n = 0;

    for (size_t i = 0; i < v->n_candidates; i++) {
        uint32_t at = range_index_find(b->index, &v->candidates[i].revision);
        const char *in = b->standing[at].failed_in;
        if (!in)
            continue;
        *source = n == 0 || (*source && strcmp(*source, in) == 0) ? in : NULL;
        n++;
    }
    return n;
}

static void say_range(const struct bisection *b, const struct verdict *v, struct buf *out)
{
    const char *source = NULL;
    uint32_t n_broken = 0, n_recalled = count_recalled(b, v, &source);

    for (size_t i = 0; i < v->n_candidates; i++) {
        uint32_t at = range_index_find(b->index, &v->candidates[i].revision);
        n_broken += is_untestable(b, at);
    }
    buf_printf(out,
               "the change came in one of %zu commits that cannot be told apart: %u of them cannot "
               "be tested",
               v->n_candidates, n_broken);
    if (n_recalled > 0)
        buf_printf(out, " (%u failed in %s%s; --fresh tries them again)", n_recalled,
                   source ? "bisection " : "earlier bisections", source ? source : "");
}

/** Which commits it is worse between, by the likeliest reading. */
static void say_hump(const struct bisection *b, struct buf *out)
{
    const struct posterior *p = b->posterior;
    const struct reading *r = &p->readings[0];

    buf_adds(out, "good and bad measure alike, but not what is between them: ");
    for (uint32_t i = 0; i < r->n; i++) {
        const struct hypothesis *h = &p->classes[r->classes[i]];
        buf_printf(out, "%s%s%.10s changed it by %+.4g%s%s", i > 0 ? ", " : "",
                   h->n > 1 ? "a commit from " : "", b->range->commits[h->first].id.hex, r->size[i],
                   b->metric->unit[0] ? " " : "", b->metric->unit);
    }
    buf_adds(out,
             "; to name them, ask for the ranges from good and to bad of a revision in between");
}

void say_least(const struct bisection *b, struct buf *out)
{
    double m = bisection_min_effect(b);

    if (bisection_wants_any_change(b))
        buf_adds(out, "any size");
    else if (is_rate(b))
        buf_printf(out, "at least %.3g percentage points", 100 * m);
    else
        buf_printf(out, "at least %.4g%s%s", m, b->metric->unit[0] ? " " : "", b->metric->unit);
}

static void say_not_reproduced(const struct bisection *b, struct buf *out)
{
    double good = mean_of_end(b, b->range->good), bad = mean_of_end(b, b->bad_end);

    if (b->finding == FINDING_REVERSED) {
        buf_adds(out, "the ends look swapped: bad measures better than good, ");
        say_change(b, good, bad, out);
        buf_printf(out, "; to search for this change too, ask with --worse %s",
                   b->metric->worse == WORSE_UP ? "down" : "up");
        return;
    }
    if (is_rate(b) && good > .5) {
        buf_printf(out,
                   "the good revision fails already, in %.0f %% of its runs: check the command, or "
                   "choose an older good revision",
                   100 * good);
        return;
    }
    if (b->finding == FINDING_HUMP) {
        say_hump(b, out);
        return;
    }
    buf_adds(out, "no change of ");
    say_least(b, out);
    buf_adds(out, " between the ends: ");
    say_change(b, good, bad, out);
    if (alike_is_same(b->alike, b->range->good, b->range->bad))
        buf_adds(out, "; both build to the same bytes");
    buf_adds(out, "; if it was seen elsewhere, look at what differs there (machine, time, input)");
}

static char *say(const struct bisection *b, const struct verdict *v)
{
    struct buf out = {0};
    const struct range *r = b->range;

    if (!b->is_finished)
        buf_printf(&out, "searching %u commits", r->n_candidates);
    else if (b->verdict == VERDICT_CULPRIT)
        say_culprit(b, v, &out);
    else if (b->verdict == VERDICT_RANGE)
        say_range(b, v, &out);
    else if (b->verdict == VERDICT_NOT_REPRODUCED)
        say_not_reproduced(b, &out);
    else if (b->finding == FINDING_BAD_MERGE_BASE)
        buf_printf(&out,
                   "the merge base %.10s measures bad already: the change is older than the range, "
                   "and good has a fix that bad lacks; search for that fix, or choose a good "
                   "revision that bad descends from",
                   r->commits[r->merge_bases[0]].id.hex);
    else
        buf_adds(&out, b->why ? b->why : "stopped");
    const char *source = b->is_finished ? recall_source(b) : NULL;
    if (source)
        buf_printf(&out, "; verified in bisection %s", source);
    return buf_take(&out);
}

void bisection_verdict(const struct bisection *b, struct verdict *out)
{
    const struct range *r = b->range;
    double level = fabs(mean_of_end(b, r->good));

    *out = (struct verdict){
        .kind = b->verdict,
        .p_no_change = b->evidence->n > 0 ? b->posterior->p_none : NAN,
        .finding = b->finding,
        .metric_name = mem_dup(b->metric->name),
        .metric_unit = mem_dup(b->metric->unit),
        .worse = b->metric->worse,
        .platform = mem_dup(b->platform),
        .good = r->commits[r->good].id,
        .bad = r->commits[r->bad].id,
        .range_size = r->n_candidates,
        .excluded = same_count(b),
        .cost = b->cost,
        .confidence = b->confidence,
        .seed = b->seed,
        .expected_runs = b->is_finished ? NAN : b->runs_to_go,
        .min_effect_percent = NAN,
        .min_effect_value = NAN,
    };
    if (r->n_merge_bases > 0)
        out->merge_base = r->commits[r->merge_bases[0]].id;
    if (b->posterior->scale.min_effect > 0) {
        out->min_effect_value = bisection_min_effect(b);
        out->min_effect_percent = 100 * out->min_effect_value / (is_rate(b) ? 1 : level);
    }
    if (b->is_comparison) {
        fill_untestable(b, out);
        comparison_fill(b, out);
        fixups_fill(b, out);
        return;
    }
    if (b->verdict == VERDICT_CULPRIT)
        fill_culprits(b, out);
    fill_candidates(b, out);
    fill_untestable(b, out);
    out->message = say(b, out);
    fixups_fill(b, out);
    confirm_fill(b, out);
}

json *bisection_posterior_json(const struct bisection *b)
{
    if (b->is_comparison)
        return comparison_posterior_json(b);
    struct verdict v = {0};
    json *top = json_new_array();

    fill_candidates(b, &v);
    for (size_t i = 0; i < v.n_candidates && i < 20; i++) {
        json *pair = json_push(json_new_array(),
                               json_new_int(range_index_find(b->index, &v.candidates[i].revision)));
        json_push(top, json_push(pair, json_new_real(v.candidates[i].probability)));
    }
    mem_free(v.candidates);
    json *out = json_put(json_new_object(), "p_no_change", json_new_real(b->posterior->p_none));
    json_put(out, "entropy_bits", json_new_real(b->posterior->entropy_bits));
    return json_put(out, "top", top);
}
