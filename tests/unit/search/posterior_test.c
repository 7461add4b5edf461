/* SPDX-License-Identifier: Apache-2.0 */
#include "search/posterior.h"

#include "base/clock.h"
#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>

static const struct scale scale = {.min_effect = 1, .floor = .05};

/** Numeric integration over the standard deviation in place of Laplace's method. */
static double slow_log_evidence(const struct split *s, double delta)
{
    double power = s->n - s->n_hosts, s_yy = s->s_yy + scale.floor * scale.floor, sum = 0;
    const double step = 1e-3;

    for (double u = -12; u < 8; u += step) {
        double l = exp(u);
        sum += step * exp(power * u - s_yy * l * l / 2 + delta * s->s_xy * l -
                          delta * delta * s->s_xx / 2);
    }
    return log(sum);
}

static struct evidence *evidence_of_line(uint32_t n, const double (*runs)[2], uint32_t n_runs,
                                         struct posterior *p)
{
    struct evidence *e = evidence_new(n);

    for (uint32_t i = 0; i < n_runs; i++) {
        uint32_t slot, v = (uint32_t)runs[i][0];
        struct observed run = {.at_ns = (int64_t)i * NS_PER_S, .seconds = 1, .value = runs[i][1]};
        if (!evidence_add(e, v, "host", &run, &slot))
            continue;
        for (uint32_t c = 0; c <= v; c++)
            e->sampled[slot].is_ancestor[c] = 1;
        posterior_refine(p, e, slot);
    }
    return e;
}

/** Of all hypotheses, worse being up; those of several steps are in several commits or, as humps,
 * in none, and count once. */
static double total(const struct posterior *p, uint32_t n)
{
    double sum = p->p_none + p->p_reversed + p->p_merge_base;

    for (uint32_t c = 0; c < n; c++)
        sum += posterior_of(p, c);
    for (uint32_t i = 0; i < p->n_readings; i++) {
        const struct reading *r = &p->readings[i];
        sum += r->p;
        for (uint32_t j = 0; j < r->n; j++)
            sum -= !r->is_hump && r->size[j] > 0 ? r->p : 0;
    }
    return sum;
}

static const double line_weight[9] = {0, 1, 1, 1, 1, 1, 1, 1, 1};

static const struct {
    const char *name;
    uint32_t n_runs;
    double runs[12][2];           /* {commit, value} */
    uint32_t want_low, want_high; /* the likeliest candidate lies here; 0..0: no change is */
    double want_p;                /* and holds at least this much */
} rows[] = {
    {"a clear step lies between the last low and the first high run",
     9,
     {{0, 100}, {0, 101}, {8, 150}, {8, 151}, {4, 100.5}, {6, 150.5}, {5, 150}, {5, 151}, {4, 100}},
     5,
     5,
     .99},
    {"alike ends are no change",
     10,
     {{0, 100},
      {8, 100.2},
      {0, 100.1},
      {8, 100},
      {0, 99.9},
      {8, 99.9},
      {0, 100},
      {8, 100.1},
      {0, 100},
      {8, 100}},
     0,
     0,
     .99},
    {"two runs of each end leave the middle open",
     4,
     {{0, 100}, {0, 101}, {8, 150}, {8, 151}},
     1,
     8,
     .5},
};

START_TEST(belief_follows_the_runs)
{
    AUTO(posterior_free) struct posterior *p = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(evidence_free) struct evidence *e = evidence_of_line(9, rows[_i].runs, rows[_i].n_runs, p);
    double inside = 0;

    evidence_settle(e, p->is_rate);
    posterior_update(p, e, scale);
    for (uint32_t c = rows[_i].want_low; c > 0 && c <= rows[_i].want_high; c++)
        inside += posterior_of(p, c);
    if (rows[_i].want_high == 0)
        inside = p->p_none;
    ck_assert_msg(inside >= rows[_i].want_p, "%s: %g", rows[_i].name, inside);
    ck_assert_double_eq_tol(total(p, 9), 1, 1e-9);
}
END_TEST

START_TEST(shifting_and_scaling_changes_nothing)
{
    double runs[40][2], moved[40][2];

    for (uint32_t i = 0; i < 40; i++) {
        runs[i][0] = i % 9;
        runs[i][1] = (i % 9 >= 5 ? 6 : 0) + 2 * normal_of(i + 100 * (uint64_t)_i);
        moved[i][0] = runs[i][0];
        moved[i][1] = 1000 + 8 * runs[i][1];
    }
    AUTO(posterior_free) struct posterior *p = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(posterior_free) struct posterior *q = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(evidence_free) struct evidence *e = evidence_of_line(9, runs, 40, p);
    AUTO(evidence_free) struct evidence *f = evidence_of_line(9, moved, 40, q);
    evidence_settle(e, p->is_rate);
    posterior_update(p, e, scale);
    evidence_settle(f, q->is_rate);
    posterior_update(q, f,
                     (struct scale){.min_effect = 8 * scale.min_effect, .floor = 8 * scale.floor});
    for (uint32_t c = 0; c < 9; c++)
        ck_assert_double_eq_tol(posterior_of(p, c), posterior_of(q, c), 1e-9);
    ck_assert_double_eq_tol(p->p_none, q->p_none, 1e-9);
}
END_TEST

START_TEST(order_of_runs_changes_nothing)
{
    double runs[40][2], back[40][2];

    for (uint32_t i = 0; i < 40; i++) {
        runs[i][0] = (i * 5) % 9;
        runs[i][1] = (runs[i][0] >= 5 ? 6 : 0) + 2 * normal_of(i);
        back[39 - i][0] = runs[i][0];
        back[39 - i][1] = runs[i][1];
    }
    AUTO(posterior_free) struct posterior *p = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(posterior_free) struct posterior *q = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(evidence_free) struct evidence *e = evidence_of_line(9, runs, 40, p);
    AUTO(evidence_free) struct evidence *f = evidence_of_line(9, back, 40, q);
    evidence_settle(e, p->is_rate);
    posterior_update(p, e, scale);
    evidence_settle(f, q->is_rate);
    posterior_update(q, f, scale);
    for (uint32_t c = 0; c < 9; c++)
        ck_assert_double_eq_tol(posterior_of(p, c), posterior_of(q, c), 1e-9);
}
END_TEST

/** Differences of the log evidence against slow integration: Laplace's error must stay small. */
START_TEST(evidence_agrees_with_slow_integration)
{
    double runs[12][2];

    for (uint32_t i = 0; i < 12; i++) {
        runs[i][0] = i % 2 ? 8 : 0;
        runs[i][1] = (i % 2 ? 3 : 0) + normal_of(i + 50 * (uint64_t)_i);
    }
    AUTO(posterior_free) struct posterior *p = posterior_new(9, line_weight, false, WORSE_UP, NULL);
    AUTO(evidence_free) struct evidence *e = evidence_of_line(9, runs, 12, p);
    uint8_t is_bad[2] = {0, 1};
    struct split s;
    struct fit_none none;
    struct fit fit;
    double slow = -INFINITY;

    evidence_split(e, is_bad, &s);
    fit_normal(&s, 1, scale, &fit);
    fit_normal_none(&s, scale, &none);
    for (int j = 0; j < 24; j++)
        slow = log_add(slow, slow_log_evidence(&s, .45 * pow(20 / .45, j / 23.)) - log(24));
    double fast = log_add(fit.log_effect, fit.log_small);
    double slow_factor = slow - slow_log_evidence(&s, 0);
    ck_assert_double_eq_tol(fast - none.log_none, slow_factor, .1);
}
END_TEST

START_TEST(rates_know_a_flaky_failure_from_a_pass)
{
    static const double passes[][2] = {{0, 0}, {0, 0}, {8, 1}, {8, 1},
                                       {4, 0}, {6, 1}, {8, 0}, {8, 1}};
    AUTO(posterior_free) struct posterior *p = posterior_new(9, line_weight, true, WORSE_UP, NULL);
    AUTO(evidence_free) struct evidence *e = evidence_of_line(9, passes, LEN(passes), p);
    double below = 0, middle = 0, above = 0;

    evidence_settle(e, p->is_rate);
    posterior_update(p, e, (struct scale){.min_effect = .1});
    for (uint32_t c = 1; c <= 4; c++)
        below += posterior_of(p, c);
    for (uint32_t c = 5; c <= 6; c++)
        middle += posterior_of(p, c);
    for (uint32_t c = 7; c <= 8; c++)
        above += posterior_of(p, c);
    ck_assert_msg(above < .05, "a failure at 6 leaves %g above it", above);
    ck_assert_msg(below > .01, "one pass at 4 is no proof when bad passes at times: %g", below);
    ck_assert_msg(middle > below, "%g %g", middle, below);
    ck_assert_double_eq_tol(total(p, 9), 1, 1e-9);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {belief_follows_the_runs, LEN(rows)},        {shifting_and_scaling_changes_nothing, 5},
        {order_of_runs_changes_nothing, 1},          {evidence_agrees_with_slow_integration, 5},
        {rates_know_a_flaky_failure_from_a_pass, 1},
    };

    return unit_run("posterior", tests, LEN(tests));
}
