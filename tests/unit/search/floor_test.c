/* SPDX-License-Identifier: Apache-2.0 */
#include "search/floor.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* C for normal noise, in bits; given to the digits shown. */
static const struct {
    double effect, bits, tolerance;
} capacities[] = {
    {.5, .0437, 6e-5},
    {1, .1607, 6e-5},
    {2, .486, 6e-4},
    {4, .913, 6e-4},
};

START_TEST(capacity_of_normal_noise)
{
    double c = floor_capacity_bits(NOISE_GAUSSIAN, (double[]){0, capacities[_i].effect}, 2);

    ck_assert_double_eq_tol(c, capacities[_i].bits, capacities[_i].tolerance);
}
END_TEST

static const struct {
    double effect;
    uint32_t n;
    double runs, tolerance;
} floors[] = {
    {1, 64, 34, .5},   {1, 256, 45.5, .05}, {1, 1024, 57, .5},
    {2, 64, 11, .5},   {2, 256, 15.1, .05}, {2, 1024, 19, .5},
    {4, 64, 5.9, .05}, {4, 256, 8, .05},    {4, 1024, 10, .5},
};

START_TEST(floor_of_normal_noise)
{
    double c = floor_capacity_bits(NOISE_GAUSSIAN, (double[]){0, floors[_i].effect}, 2);

    ck_assert_double_eq_tol(floor_runs(log(floors[_i].n), .05, c), floors[_i].runs,
                            floors[_i].tolerance);
}
END_TEST

START_TEST(known_drift_and_workers_leave_normal_noise)
{
    double c = floor_capacity_bits(NOISE_GAUSSIAN, (double[]){0, 2}, 2);

    ck_assert_double_eq(floor_capacity_bits(NOISE_DRIFT, (double[]){0, 2}, 2), c);
    ck_assert_double_eq(floor_capacity_bits(NOISE_WORKERS, (double[]){0, 2}, 2), c);
}
END_TEST

/* Two levels tell at most one bit, three log2(3); far apart they tell that, alike nothing. */
START_TEST(capacity_is_bounded)
{
    for (enum noise_family f = 0; f < N_NOISE_FAMILIES; f++) {
        double far[3] = {0, 40, 80};
        ck_assert_double_eq_tol(floor_capacity_bits(f, far, 2), 1, 1e-3);
        ck_assert_double_eq_tol(floor_capacity_bits(f, far, 3), log2(3), 1e-3);
        ck_assert_double_lt(floor_capacity_bits(f, (double[]){0, 1e-9}, 2), 1e-6);
        ck_assert_double_lt(floor_capacity_bits(f, (double[]){0, 1}, 2), 1);
    }
    ck_assert(isnan(floor_runs(log(256), .05, 0)));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("floor");
    TCase *tc = tcase_create("floor");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, capacity_of_normal_noise, 0, LEN(capacities));
    tcase_add_loop_test(tc, floor_of_normal_noise, 0, LEN(floors));
    tcase_add_test(tc, known_drift_and_workers_leave_normal_noise);
    tcase_add_test(tc, capacity_is_bounded);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
