/* SPDX-License-Identifier: Apache-2.0 */
#include "search/noise.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 200000 };

/* Mean and standard deviation of one run, by the definition of each family: an outlier adds 15 sd
 * on average, one time in 20, so .75 sd to the mean and .05 * (225 + 100/12) - .75^2 to the
 * variance. */
static const struct {
    enum noise_family family;
    double change, mean, sd;
} moments[] = {
    {NOISE_GAUSSIAN, 0, 100, 2},
    {NOISE_GAUSSIAN, 2, 104, 2},
    {NOISE_LOGNORMAL, 0, 100, 2},
    {NOISE_LOGNORMAL, 4, 108, 2},
    {NOISE_BIMODAL, 0, 100, 2},
    {NOISE_BIMODAL, 1, 102, 2},
    {NOISE_OUTLIERS, 0, 101.5, 2 * 3.4821449},
    {NOISE_COUNT, 0, 20, 4.4721360},
    {NOISE_COUNT, 2, 28.9442719, 5.3799881},
};

static double value_of(struct noise *n, double change, uint64_t key, uint32_t worker, double time)
{
    return noise_value(n, &(struct noise_run){change, time, key, worker});
}

START_TEST(draws_have_the_moments_of_their_family)
{
    AUTO(noise_fini) struct noise n;
    double sum = 0, squares = 0, mean = moments[_i].mean;

    noise_init(&n, moments[_i].family, 7, 0, 100);
    for (uint32_t i = 0; i < DRAWS; i++) {
        double off = value_of(&n, moments[_i].change, i, 0, 0) - mean;
        sum += off;
        squares += off * off;
    }
    double sd = sqrt(squares / DRAWS);
    ck_assert_double_eq_tol(sum / DRAWS, 0, 5 * moments[_i].sd / sqrt(DRAWS));
    /* The log-normal's fourth moment is 114: its sd is the least certain. */
    ck_assert_double_eq_tol(sd, moments[_i].sd, moments[_i].sd * .05);
}
END_TEST

/* The share of draws below a point is the density's integral up to there. */
START_TEST(density_is_that_of_the_draws)
{
    enum noise_family f = (enum noise_family)_i;
    AUTO(noise_fini) struct noise n;
    double step = f == NOISE_COUNT ? 1 : .01, from = f == NOISE_COUNT ? 0 : 80, total = 0;
    double sd = noise_sd(f), level = noise_level(f, 1);

    noise_init(&n, f == NOISE_DRIFT || f == NOISE_WORKERS ? NOISE_GAUSSIAN : f, 3, 0, 100);
    for (double x = from; x < level + 60 * sd; x += step)
        total += step * exp(noise_log_density(f, 1, x));
    ck_assert_double_eq_tol(total, 1, 1e-3);
    for (double z = -1.5; z < 2 && f != NOISE_DRIFT; z += .5) {
        double below = 0, at = f == NOISE_COUNT ? floor(level + z * sd) + .5 : level + z * sd;
        uint32_t n_below = 0;
        for (double x = from + (f == NOISE_COUNT ? 0 : step / 2); x < at; x += step)
            below += step * exp(noise_log_density(f, 1, x));
        for (uint32_t i = 0; i < DRAWS; i++)
            n_below += value_of(&n, 1, i, 0, 0) < at;
        ck_assert_double_eq_tol((double)n_below / DRAWS, below, 5 * .5 / sqrt(DRAWS) + .002);
    }
}
END_TEST

START_TEST(modes_are_two_and_apart)
{
    double low = noise_log_density(NOISE_BIMODAL, 0, 98.2);
    double high = noise_log_density(NOISE_BIMODAL, 0, 101.8);

    ck_assert_double_eq_tol(low, high, 1e-12);
    ck_assert_double_gt(low, noise_log_density(NOISE_BIMODAL, 0, 100) + log(2));
}
END_TEST

START_TEST(outliers_are_one_in_twenty_and_far)
{
    AUTO(noise_fini) struct noise n;
    uint32_t n_far = 0;

    noise_init(&n, NOISE_OUTLIERS, 5, 0, 100);
    for (uint32_t i = 0; i < DRAWS; i++) {
        double z = (value_of(&n, 0, i, 0, 0) - 100) / 2;
        n_far += z > 6;
        ck_assert(z < 26);
    }
    ck_assert_double_eq_tol((double)n_far / DRAWS, .05, .0025);
}
END_TEST

/* Two runs of one key at two times differ by the level's move alone. */
START_TEST(drift_wanders_and_jumps_once)
{
    enum { WORLDS = 2000 };
    double squares = 0, product = 0;

    for (uint64_t w = 0; w < WORLDS; w++) {
        AUTO(noise_fini) struct noise n, still;
        noise_init(&n, NOISE_DRIFT, w, 1000, 100);
        noise_init(&still, NOISE_GAUSSIAN, w, 1000, 100);
        double own = value_of(&still, 0, 1, 0, 0);
        double a = (value_of(&n, 0, 1, 0, 10) - own) / 2, b = (value_of(&n, 0, 1, 0, 50) - own) / 2;
        squares += a * a / WORLDS;
        product += a * b / WORLDS;
        ck_assert(n.jump_at >= 1000 && n.jump_at <= 1100);
        double before = value_of(&n, 0, 1, 0, n.jump_at - 1e-9);
        double after = value_of(&n, 0, 1, 0, n.jump_at);
        ck_assert_double_eq_tol(fabs(after - before), 6, 1e-9);
    }
    ck_assert_double_eq_tol(squares, 1, .15);
    ck_assert_double_eq_tol(product, exp(-1), .1);
}
END_TEST

START_TEST(workers_differ_by_a_factor_of_their_own)
{
    AUTO(noise_fini) struct noise n, still;

    noise_init(&n, NOISE_WORKERS, 11, 0, 100);
    noise_init(&still, NOISE_GAUSSIAN, 11, 0, 100);
    for (uint32_t w = 0; w < NOISE_MAX_WORKERS; w++) {
        ck_assert(n.factor[w] >= 1 && n.factor[w] <= 1.5);
        ck_assert_double_eq_tol(value_of(&n, 1, 9, w, 0),
                                n.factor[w] * value_of(&still, 1, 9, w, 0), 1e-9);
    }
    ck_assert(fabs(n.factor[0] - n.factor[1]) > 1e-6);
}
END_TEST

START_TEST(a_run_is_a_function_of_its_key)
{
    AUTO(noise_fini) struct noise n, other;

    noise_init(&n, (enum noise_family)_i, 1, 0, 100);
    noise_init(&other, (enum noise_family)_i, 1, 0, 100);
    (void)value_of(&other, 0, 5, 0, 500); /* asking for a later time first changes nothing */
    for (uint64_t key = 0; key < 100; key++)
        ck_assert_double_eq(value_of(&n, 1, key, 0, (double)key),
                            value_of(&other, 1, key, 0, (double)key));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("noise");
    TCase *tc = tcase_create("noise");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, draws_have_the_moments_of_their_family, 0, LEN(moments));
    tcase_add_loop_test(tc, density_is_that_of_the_draws, 0, N_NOISE_FAMILIES);
    tcase_add_test(tc, modes_are_two_and_apart);
    tcase_add_test(tc, outliers_are_one_in_twenty_and_far);
    tcase_add_test(tc, drift_wanders_and_jumps_once);
    tcase_add_test(tc, workers_differ_by_a_factor_of_their_own);
    tcase_add_loop_test(tc, a_run_is_a_function_of_its_key, 0, N_NOISE_FAMILIES);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
