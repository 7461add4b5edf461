/* SPDX-License-Identifier: Apache-2.0 */
#include "search/t_test.h"

#include "unit/run.h"
#include <math.h>
#include <stdlib.h>

enum { MOST = 12 };

/* Welch as SciPy gives it; Student's p from an integral of the density by Simpson's rule. Negative:
 * not looked at. */
/* clang-format off */
static const struct {
    const char *name;
    uint32_t n_a, n_b;
    double a[MOST], b[MOST];
    double t, df, p, student_p;
} rows[] = {
    {"two ranges far apart", 10, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {20, 21, 22, 23, 24, 25, 26, 27, 28, 29},
     14.770979, 18, 1.667048e-11, 1.667048e-11},
    {"a range and its first half", 5, 10, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
     2.100420, 12.87624, .055969488, -1},
    {"two constants", 5, 5, {0}, {1, 1, 1, 1, 1}, INFINITY, 8, 0, 0},
    {"one outlier on each side", 5, 5, {412, 455, 410, 411, 414}, {430, 428, 470, 431, 429},
     1.447885, 7.96466, .18584078, -1},
    {"overlapping by one", 4, 4, {10, 11, 12, 13}, {12.5, 13.5, 14.5, 15.5},
     2.738613, 6, .033797788, .033797788},
    {"the same numbers", 5, 5, {1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, 0, 8, 1, 1},
    {"ten percent more in twelve", 12, 12, {100, 101, 99, 100, 102, 98, 100, 101, 99, 100, 101, 100},
     {110, 111, 109, 110, 112, 108, 110, 111, 109, 110, 111, 110}, 22.604596, 22, 1.0165116e-16, 1.0165116e-16},
    {"one constant", 3, 3, {7, 7, 7}, {7, 7, 7}, 0, 4, 1, 1},
    {"too few on a side for Welch", 1, 3, {1}, {5, 6, 7}, 0, 0, 1, .0494136242},
    {"too few in all", 1, 1, {1}, {5}, 0, 0, 1, 1},
};
/* clang-format on */

static struct moments moments_of(const double *values, uint32_t n)
{
    struct moments m = {0};

    for (uint32_t i = 0; i < n; i++)
        moments_add(&m, values[i]);
    return m;
}

/* 1e-7: the digits that are given. */
static void check(double got, double want, const char *what)
{
    ck_assert_msg(got == want || fabs(got - want) <= 1e-6 * fabs(want), "%s: %.9g, not %.9g", what,
                  got, want);
}

START_TEST(says_what_others_compute)
{
    struct moments a = moments_of(rows[_i].a, rows[_i].n_a);
    struct moments b = moments_of(rows[_i].b, rows[_i].n_b);
    struct t_test w = t_test_welch(&a, &b), back = t_test_welch(&b, &a);

    check(w.t, rows[_i].t, rows[_i].name);
    check(w.df, rows[_i].df, rows[_i].name);
    check(w.p, rows[_i].p, rows[_i].name);
    check(back.t, -rows[_i].t, rows[_i].name);
    check(back.p, rows[_i].p, rows[_i].name);
    if (rows[_i].student_p >= 0)
        check(t_test_student(&a, &b).p, rows[_i].student_p, rows[_i].name);
}
END_TEST

/* With 1 degree of freedom the tail is 1 - 2 atan(t) / pi, with 2 it is 1 - t / sqrt(2 + t^2). */
START_TEST(tail_is_exact_where_it_has_a_formula)
{
    static const double ts[] = {1e-3, .1, 1, 3, 30, 1e4};

    for (size_t i = 0; i < LEN(ts); i++) {
        struct moments a = {2, 0, 1}, b = {1, ts[i] * sqrt(1.5), 0}; /* variance 1 */
        struct moments c = {2, 0, 1}, d = {2, ts[i], 1};
        check(t_test_student(&a, &b).p, 2 * atan(1 / ts[i]) / M_PI, "1 degree of freedom");
        check(t_test_student(&c, &d).p,
              2 / (sqrt(2 + ts[i] * ts[i]) * (sqrt(2 + ts[i] * ts[i]) + ts[i])),
              "2 degrees of freedom");
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {says_what_others_compute, LEN(rows)},
        {tail_is_exact_where_it_has_a_formula, 1},
    };

    return unit_run("t_test", tests, LEN(tests));
}
