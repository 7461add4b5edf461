/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "search/calibration.h"
#include "unit/run.h"
#include <math.h>

/* Solved in exact sums of binomial terms; 1 - .025^(1/n) for k = 0. */
static const struct {
    uint32_t k, n;
    double low, high;
} rates[] = {
    {0, 1, 0, .975},
    {1, 1, .025, 1},
    {0, 10, 0, .3084971},
    {10, 10, .6915029, 1},
    {3, 3, .2924018, 1},
    {5, 10, .1870860, .8129140},
    {9, 10, .5549839, .9974714},
    {190, 200, .9099725, .9757658},
    {0, 2000, 0, .00184274},
};

START_TEST(interval_of_a_rate)
{
    double got[2];

    rate_interval(rates[_i].k, rates[_i].n, got);
    ck_assert_double_eq_tol(got[0], rates[_i].low, 1e-6);
    ck_assert_double_eq_tol(got[1], rates[_i].high, 1e-6);
}
END_TEST

/* What "at least 95 %" means: over all k, the intervals that hold the rate have that much of it. */
START_TEST(interval_holds_at_every_rate)
{
    static const double at[] = {.001, .05, .3, .5, .77, .95, .999};
    enum { N = 40 };

    for (size_t r = 0; r < LEN(at); r++) {
        double covered = 0, p_k = pow(1 - at[r], N);
        for (uint32_t k = 0; k <= N; k++) {
            double got[2];
            rate_interval(k, N, got);
            if (got[0] <= at[r] && at[r] <= got[1])
                covered += p_k;
            p_k *= (double)(N - k) / (k + 1.) * at[r] / (1 - at[r]);
        }
        ck_assert_double_ge(covered, .95);
    }
}
END_TEST

static const struct {
    double probability;
    size_t bin;
} places[] = {
    {NAN, 0}, {0, 0},   {.899, 0},  {.9, 1},   {.949, 1},
    {.95, 2}, {.99, 3}, {.9989, 3}, {.999, 4}, {1, 4},
};

START_TEST(a_probability_has_one_bin)
{
    struct bin bins[CALIBRATION_BINS];

    calibration_init(bins);
    ck_assert_ptr_eq(calibration_bin(bins, places[_i].probability), &bins[places[_i].bin]);
}
END_TEST

START_TEST(total_adds_the_bins)
{
    struct bin bins[CALIBRATION_BINS];

    calibration_init(bins);
    for (uint32_t i = 0; i < CALIBRATION_BINS; i++) {
        ck_assert_double_eq(bins[i].from, i ? bins[i - 1].to : 0);
        bins[i].n_stated = 10 * i;
        bins[i].n_right = i;
        bins[i].n_wrong = 2;
        bins[i].p_sum = .5;
    }
    struct bin all = calibration_total(bins);
    ck_assert_uint_eq(all.n_stated, 100);
    ck_assert_uint_eq(all.n_right, 10);
    ck_assert_uint_eq(all.n_wrong, 10);
    ck_assert_double_eq(all.p_sum, 2.5);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {interval_of_a_rate, LEN(rates)},
        {interval_holds_at_every_rate, 1},
        {a_probability_has_one_bin, LEN(places)},
        {total_adds_the_bins, 1},
    };

    return unit_run("calibration", tests, LEN(tests));
}
