/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pinpoint_bound.h"

#include "base/auto.h"
#include <check.h>
#include <stdlib.h>

/* From highThresholdsPerformance of skia-buildbot, by tenths and size. It is simulated too, with
 * fewer samples: hence the tolerance. */
static const struct {
    double magnitude;
    uint32_t n;
    double want;
} rows[] = {
    {.3, 80, .8152}, {.4, 40, .8476},  {.4, 80, .3083},  {.5, 20, .9246}, {.5, 40, .5223},
    {.6, 40, .2542}, {.7, 10, .9699},  {.7, 15, .8035},  {.7, 20, .5793}, {.7, 30, .2171},
    {.8, 10, .8502}, {.8, 20, .3235},  {.9, 20, .1806},  {1, 10, .5708},  {1, 15, .2291},
    {1, 20, .0859},  {1.2, 10, .2731}, {1.5, 10, .0757},
};

START_TEST(bound_is_what_pinpoint_has)
{
    double got = pinpoint_same_bound(rows[_i].magnitude, rows[_i].n);

    ck_assert_double_eq_tol(got, rows[_i].want, .1 * rows[_i].want + .01);
}
END_TEST

START_TEST(bound_falls_with_size_of_change_and_sample)
{
    for (double m = .35; m < 4; m += .1) {
        ck_assert_double_le(pinpoint_same_bound(m + .1, 10), pinpoint_same_bound(m, 10));
        ck_assert_double_le(pinpoint_same_bound(m, 40), pinpoint_same_bound(m, 20));
        ck_assert_double_le(pinpoint_same_bound(m, 160), pinpoint_same_bound(m, 80));
    }
    ck_assert_double_eq(pinpoint_same_bound(.1, 160), pinpoint_same_bound(.3, 160));
    ck_assert_double_eq(pinpoint_same_bound(4, 10), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pinpoint_bound");
    TCase *tc = tcase_create("pinpoint_bound");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, bound_is_what_pinpoint_has, 0, LEN(rows));
    tcase_add_test(tc, bound_falls_with_size_of_change_and_sample);
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
