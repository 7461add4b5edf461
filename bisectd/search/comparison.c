/* SPDX-License-Identifier: Apache-2.0 */
#include "search/comparison.h"

#include "base/buf.h"
#include "base/mem.h"
#include "search/state.h"
#include <math.h>
#include <string.h>

enum {
    BATCH_LEAST = 2,
    BATCH_MOST = 64,
    FIRST_RUNS = 2, /* of each side before anything is said */
    LEAST_RUNS = 4, /* of each side before noisy values, or a change, are believed */
    N_RATES = 65
};
/* Prior of a rate: always passes, always fails, or anything. */
static const double p_rate_exact = .4;
/* Prior of no difference; the second where both build to the same bytes. */
static const double p_even_usual = .5, p_even_identical = .999;
/* Differences are thought of from a quarter of the minimum effect on, in standard deviations. */
static const double delta_least = .02, delta_usual = .45, delta_part = .25;

/** Distribution function of Student's t, to .001 or so (Wallace 1959). */
static double t_below(double t, double dof)
{
    double z = sqrt(dof * log1p(t * t / dof)) * (8 * dof + 1) / (8 * dof + 3);

    return .5 * erfc((t < 0 ? z : -z) * M_SQRT1_2);
}

static double normal_within(const struct split *s, struct scale scale)
{
    double dof = s->n - s->n_hosts - 1;

    if (dof < 1 || s->s_xx <= 0)
        return 0;
    double delta = s->s_xy / s->s_xx;
    double rest = fmax(s->s_yy - s->s_xy * delta, 0) + scale.floor * scale.floor;
    double se = sqrt(rest / dof / s->s_xx);
    return t_below((scale.min_effect - delta) / se, dof) -
           t_below((-scale.min_effect - delta) / se, dof);
}

/** Posterior of a rate at 0, at 1, and at the middles of a grid. */
static void rate_posterior(const struct moments *m, double rate[N_RATES], double p[N_RATES])
{
    double fails = m->n * m->mean, passes = m->n - fails, total = 0, high = -INFINITY;

    for (size_t i = 0; i < N_RATES; i++) {
        bool is_exact = i == 0 || i == N_RATES - 1;
        rate[i] = i == 0 ? 0 : i == N_RATES - 1 ? 1 : ((double)i - .5) / (N_RATES - 2);
        p[i] = log(is_exact ? p_rate_exact : (1 - 2 * p_rate_exact) / (N_RATES - 2));
        p[i] += fails > 0 ? fails * log(rate[i]) : 0;
        p[i] += passes > 0 ? passes * log1p(-rate[i]) : 0;
        high = fmax(high, p[i]);
    }
    for (size_t i = 0; i < N_RATES; i++)
        total += p[i] = exp(p[i] - high);
    for (size_t i = 0; i < N_RATES; i++)
        p[i] /= total;
}

static double rate_within(const struct split *s, struct scale scale)
{
    double rate[N_RATES], base[N_RATES], head[N_RATES], within = 0;

    rate_posterior(&s->good, rate, base);
    rate_posterior(&s->bad, rate, head);
    for (size_t i = 0; i < N_RATES; i++)
        for (size_t j = 0; j < N_RATES; j++)
            if (fabs(rate[i] - rate[j]) < scale.min_effect)
                within += base[i] * head[j];
    return within;
}

void comparison_weigh(const struct split *s, bool is_rate, struct scale scale, double p_even,
                      struct belief *out)
{
    struct fit_none none;
    struct fit fit[2]; /* lower, higher */
    double log_side = log((1 - p_even) / 2);

    if (is_rate)
        fit_rate_none(s, &none);
    else
        fit_normal_none(s, scale, &none);
    double log_same = log(p_even) + none.log_none;
    for (int higher = 0; higher < 2; higher++) {
        if (is_rate)
            fit_rate(s, higher ? 1 : -1, scale, &fit[higher]);
        else
            fit_normal(s, higher ? 1 : -1, scale, &fit[higher]);
        log_same = log_add(log_same, log_side + fit[higher].log_small);
    }
    double low = log_side + fit[0].log_effect, high = log_side + fit[1].log_effect;
    double total = log_add(log_same, log_add(low, high));
    *out = (struct belief){
        .p_higher = exp(high - total),
        .p_lower = exp(low - total),
        .p_same = exp(log_same - total),
        .p_within = is_rate ? rate_within(s, scale) : normal_within(s, scale),
    };
}

uint32_t comparison_batch(double n_runs)
{
    double n = fmax(BATCH_LEAST, fmin(n_runs / 2, BATCH_MOST));

    return (uint32_t)n / 2 * 2;
}

/* As a struct bisection */

static double runs_of(const struct bisection *b, uint32_t v)
{
    uint32_t slot = evidence_find(b->evidence, v);

    return slot == UINT32_MAX ? 0 : b->evidence->sampled[slot].all.n;
}

static bool is_identical(const struct bisection *b)
{
    const char *base = b->standing[b->range->good].artifact;

    return base[0] && strcmp(base, b->standing[b->range->bad].artifact) == 0;
}

/** Pre: both were measured. */
static struct belief believe(const struct bisection *b)
{
    uint8_t is_bad[2] = {0};
    struct split split;
    struct belief out;
    struct scale scale = bisection_scale(b);
    double dof, sd = evidence_within_sd(b->evidence, &dof);

    for (uint32_t i = 0; i < b->evidence->n; i++)
        is_bad[i] = b->evidence->sampled[i].revision == b->range->bad;
    evidence_split(b->evidence, is_bad, &split);
    scale.delta_low = delta_usual;
    if (sd > 0)
        scale.delta_low = fmin(fmax(delta_part * scale.min_effect / sd, delta_least), delta_usual);
    comparison_weigh(&split, is_rate(b), scale, is_identical(b) ? p_even_identical : p_even_usual,
                     &out);
    return out;
}

static bool is_measured(const struct bisection *b)
{
    return runs_of(b, b->range->good) > 0 && runs_of(b, b->range->bad) > 0;
}

static void judge(struct bisection *b)
{
    const struct belief p = believe(b);
    const enum worse worse = b->metric->worse;
    double p_worse = worse == WORSE_UP ? p.p_higher : p.p_lower;
    double p_better = worse == WORSE_UP ? p.p_lower : p.p_higher;

    if (worse == WORSE_EITHER) {
        p_worse = fmax(p.p_higher, p.p_lower);
        p_better = 0;
    }
    double dof, sd = evidence_within_sd(b->evidence, &dof);
    double least = fmin(runs_of(b, b->range->good), runs_of(b, b->range->bad));
    bool is_exact = sd == 0 && !is_rate(b);

    if (p_worse >= b->confidence && least >= LEAST_RUNS)
        bisection_finish(b, VERDICT_REGRESSED, FINDING_NONE, NULL);
    else if (p_better >= b->confidence && least >= LEAST_RUNS)
        bisection_finish(b, VERDICT_IMPROVED, FINDING_NONE, NULL);
    else if ((is_identical(b) ? p.p_same : p.p_within) >= b->confidence &&
             (is_exact || least >= LEAST_RUNS))
        bisection_finish(b, VERDICT_SAME, FINDING_NONE, NULL);
}

static void check_sides(struct bisection *b)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct standing *s = &b->standing[bisection_end(b, i)];
        if (s->is_exhausted)
            bisection_finish(
                b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                "measuring the %s revision %.10s fails too often: %s", i == 0 ? "base" : "head",
                b->range->commits[bisection_end(b, i)].id.hex, s->reason ? s->reason : "no number");
    }
}

struct task_spec *comparison_next(struct bisection *b)
{
    double have = fmax(runs_of(b, b->range->good), runs_of(b, b->range->bad));
    double least = fmin(runs_of(b, b->range->good), runs_of(b, b->range->bad));
    int64_t left = (b->budget_runs - b->n_runs_issued) / 2;
    uint32_t n = comparison_batch(have);

    if (b->n_out > 0)
        return NULL;
    if (least >= FIRST_RUNS) {
        bisection_refresh(b);
        judge(b);
        check_sides(b);
    }
    if (b->is_finished)
        return NULL;
    if (b->budget_runs > 0 && left < n)
        n = left > 0 ? (uint32_t)left : 0;
    if (n == 0) {
        bisection_finish(b, VERDICT_INCONCLUSIVE, FINDING_NONE,
                         "the budget of %lld runs is used up", (long long)b->budget_runs);
        return NULL;
    }
    return plan_ends(b, (uint32_t)have + n);
}

/* In words and numbers */

static void say_ends(const struct bisection *b, struct buf *out)
{
    buf_printf(out, "head %.10s against base %.10s", b->range->commits[b->range->bad].id.hex,
               b->range->commits[b->range->good].id.hex);
}

static void say_levels(const struct bisection *b, const struct culprit *c, struct buf *out)
{
    buf_printf(out, "%s ", b->metric->name);
    say_change(b, c->good.mean, c->bad.mean, out);
}

static char *say(const struct bisection *b, const struct culprit *c)
{
    struct buf out = {0};

    if (!b->is_finished) {
        buf_adds(&out, "measuring ");
        say_ends(b, &out);
    } else if (b->verdict == VERDICT_SAME) {
        say_ends(b, &out);
        buf_adds(&out, ": no change of ");
        say_least(b, &out);
        buf_adds(&out, ", ");
        say_levels(b, c, &out);
        if (is_identical(b))
            buf_adds(&out, "; both build to the same bytes");
    } else if (b->verdict == VERDICT_REGRESSED || b->verdict == VERDICT_IMPROVED) {
        say_ends(b, &out);
        buf_printf(&out, ": %s, ",
                   b->metric->worse == WORSE_EITHER  ? "changed"
                   : b->verdict == VERDICT_REGRESSED ? "worse"
                                                     : "better");
        say_levels(b, c, &out);
    } else {
        buf_adds(&out, b->why ? b->why : "stopped");
        if (b->verdict == VERDICT_INCONCLUSIVE && c) {
            buf_adds(&out, "; so far ");
            say_levels(b, c, &out);
        }
    }
    return buf_take(&out);
}

void comparison_fill(const struct bisection *b, struct verdict *out)
{
    out->is_comparison = true;
    out->p_no_change = NAN;
    if (is_measured(b)) {
        const struct commit *head = &b->range->commits[b->range->bad];
        out->change = mem_alloc(sizeof(*out->change));
        fill_levels(b, b->range->bad, out->change);
        out->p_no_change = believe(b).p_same;
        out->change->revision = head->id;
        out->change->subject = mem_dup(head->subject);
        out->change->author = mem_dup(head->author);
        out->change->probability = 1 - out->p_no_change;
        out->change->share = 1;
    }
    out->message = say(b, out->change);
}

json *comparison_posterior_json(const struct bisection *b)
{
    json *o = json_new_object();

    if (!is_measured(b))
        return json_put(o, "p_no_change", json_new_null());
    struct belief p = believe(b);
    json_put(o, "p_no_change", json_new_real(p.p_same));
    json_put(o, "p_higher", json_new_real(p.p_higher));
    return json_put(o, "p_lower", json_new_real(p.p_lower));
}
