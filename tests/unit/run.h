/* SPDX-License-Identifier: Apache-2.0 */
/** What each test program ends with: one suite, one case, run in forks unless CK_FORK says no. */
#ifndef UNIT_RUN_H
#define UNIT_RUN_H

#include <check.h>

/** A test and how often to run it with _i = 0, 1, …; 1 for a test without a table. */
struct unit_test {
    const TTest *test;
    int n_rows;
};

static inline int unit_run(const char *name, const struct unit_test *tests, size_t n)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);

    for (size_t i = 0; i < n; i++)
        tcase_add_loop_test(tcase, tests[i].test, 0, tests[i].n_rows);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? 1 : 0;
}

#endif
