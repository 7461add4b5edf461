/* SPDX-License-Identifier: Apache-2.0 */
#include "search/ranks.h"

#include "base/auto.h"
#include <check.h>
#include <stdlib.h>

/* Mann-Whitney: asymptotic, corrected for ties and continuity, as SciPy gives it; the first three
 * also as Pinpoint's own tests have it. Kolmogorov-Smirnov: Pinpoint's own tests. Negative: none.
 */
static const struct {
    const char *name;
    double a[12], b[12];
    uint32_t n_a, n_b;
    double mann_whitney, kolmogorov_smirnov;
} rows[] = {
    {"two ranges far apart",
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
     {20, 21, 22, 23, 24, 25, 26, 27, 28, 29},
     10,
     10,
     .00018267179,
     1.8879793657162556e-05},
    {"a range and its first half",
     {0, 1, 2, 3, 4},
     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
     5,
     10,
     .13986358,
     .26680230985258474},
    {"two constants", {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, 5, 5, .0039767517, .0037813540593701006},
    {"one outlier on each side",
     {412, 455, 410, 411, 414},
     {430, 428, 470, 431, 429},
     5,
     5,
     .094692943,
     -1},
    {"overlapping by one", {10, 11, 12, 13}, {12.5, 13.5, 14.5, 15.5}, 4, 4, .06060197, -1},
    {"the same numbers", {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, 5, 5, 1, 1},
    {"ten percent more in twelve",
     {100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 101, 100},
     {110, 111, 109, 110, 112, 108, 110, 111, 109, 110, 111, 110},
     12,
     12,
     2.9973225e-05,
     -1},
    {"one constant", {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, 5, 5, 1, 1},
    {"one value each", {0}, {1}, 1, 1, -1, .2890414283708268},
};

START_TEST(p_is_what_others_compute)
{
    struct two_samples s = {rows[_i].a, rows[_i].b, rows[_i].n_a, rows[_i].n_b};
    struct two_samples back = {rows[_i].b, rows[_i].a, rows[_i].n_b, rows[_i].n_a};

    if (rows[_i].mann_whitney >= 0) {
        ck_assert_double_eq_tol(mann_whitney_p(&s), rows[_i].mann_whitney, 1e-8);
        ck_assert_double_eq_tol(mann_whitney_p(&back), rows[_i].mann_whitney, 1e-8);
    }
    if (rows[_i].kolmogorov_smirnov >= 0) {
        ck_assert_double_eq_tol(kolmogorov_smirnov_p(&s), rows[_i].kolmogorov_smirnov, 1e-9);
        ck_assert_double_eq_tol(kolmogorov_smirnov_p(&back), rows[_i].kolmogorov_smirnov, 1e-9);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ranks");
    TCase *tc = tcase_create("ranks");

    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, p_is_what_others_compute, 0, LEN(rows));
    suite_add_tcase(s, tc);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
