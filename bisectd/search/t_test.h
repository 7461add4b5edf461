/* SPDX-License-Identifier: Apache-2.0 */
/** Whether two normal samples have one mean: two-sided, from their moments alone. */
#ifndef SEARCH_T_TEST_H
#define SEARCH_T_TEST_H

#include "search/evidence.h"

struct t_test {
    double t;  /* of b against a; infinite where nothing varies and the means differ */
    double df; /* degrees of freedom */
    double p;  /* 1 where there are too few values to tell */
};

/** Student's: both have the same variance. Needs three values in all, and one on each side. */
struct t_test t_test_student(const struct moments *a, const struct moments *b);
/** Welch's: each has its own. Needs two values on each side. */
struct t_test t_test_welch(const struct moments *a, const struct moments *b);

#endif
