/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/results.h"
#include "unit/run.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

START_TEST(the_same_key_is_one_result)
{
    AUTO(results_fini) struct results r = {0};
    const struct result_key key = {.suite = "s", .test = "t", .field = "value"};

    result_add(&r, results_at(&r, &key), 1);
    result_add(&r, results_at(&r, &key), 2);
    result_add(&r, results_at(&r, &(struct result_key){.suite = "s", .test = "u"}), 3);
    ck_assert_uint_eq(r.n, 2);
    ck_assert_uint_eq(r.items[0].n, 2);
    ck_assert_double_eq(r.items[0].values[1], 2);
    ck_assert_str_eq(r.items[0].options, "");
    ck_assert_ptr_eq(results_find(&r, &key), &r.items[0]);
    ck_assert_ptr_null(results_find(&r, &(struct result_key){.suite = "s"}));
}
END_TEST

START_TEST(parts_do_not_run_together)
{
    AUTO(results_fini) struct results r = {0};

    results_at(&r, &(struct result_key){.suite = "ab", .test = "c"});
    results_at(&r, &(struct result_key){.suite = "a", .test = "bc"});
    results_at(&r, &(struct result_key){.test = "abc"});
    ck_assert_uint_eq(r.n, 3);
}
END_TEST

START_TEST(what_is_not_finite_is_a_fault)
{
    AUTO(results_fini) struct results r = {0};
    struct result *x = results_at(&r, &(struct result_key){.field = "real_time"});

    result_add(&r, x, 1);
    result_add(&r, x, NAN);
    result_add(&r, x, INFINITY);
    ck_assert_uint_eq(x->n, 1);
    ck_assert_str_eq(x->fault, "real_time is nan");
}
END_TEST

START_TEST(many_results_are_found_again)
{
    AUTO(results_fini) struct results r = {0};
    char name[32];

    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof(name), "t%d", i % 2500);
        result_add(&r, results_at(&r, &(struct result_key){.test = name}), i);
    }
    ck_assert_uint_eq(r.n, 2500);
    ck_assert_uint_eq(r.n_values, 5000);
    for (size_t i = 0; i < r.n; i++)
        ck_assert(r.items[i].n == 2 && r.items[i].values[0] == (double)i);
}
END_TEST

START_TEST(there_is_a_limit)
{
    AUTO(results_fini) struct results r = {0};
    char name[32];

    for (int i = 0; i < RESULTS_MOST; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        results_at(&r, &(struct result_key){.test = name});
    }
    ck_assert(!r.is_full);
    results_at(&r, &(struct result_key){.test = "one more"});
    ck_assert(r.is_full);
    ck_assert_uint_eq(r.n, RESULTS_MOST);
}
END_TEST

START_TEST(values_may_have_stamps)
{
    AUTO(results_fini) struct results r = {0};
    struct result *x = results_at(&r, &(struct result_key){0});

    for (int i = 0; i < 9; i++) {
        result_add(&r, x, i);
        if (i != 3)
            result_stamp(x, "1700000000", i % 2 ? "abc" : NULL);
    }
    ck_assert_str_eq(x->stamps[8].time, "1700000000");
    ck_assert_ptr_null(x->stamps[8].revision);
    ck_assert_str_eq(x->stamps[7].revision, "abc");
    ck_assert_ptr_null(x->stamps[3].time);
}
END_TEST

/* clang-format off */
static const struct {
    struct result_key key;
    const char *want;
} labels[] = {
    {{.suite = "s", .test = "t", .options = "a b", .field = "f"}, "s t [a b]: f"},
    {{.test = "t", .field = "f"},                                 "t: f"},
    {{.suite = "s", .options = "a"},                              "s [a]"},
    {{.options = "a"},                                            "[a]"},
    {{.field = "f"},                                              "f"},
    {{0},                                                         ""},
    {{.test = "a\x1b[1m\xff"},                                    "a\xEF\xBF\xBD[1m\xEF\xBF\xBD"},
};
/* clang-format on */

START_TEST(labels_are_for_people)
{
    AUTO(results_fini) struct results r = {0};
    AUTO(buf_fini) struct buf out = {0};

    result_label(results_at(&r, &labels[_i].key), &out);
    ck_assert_str_eq(buf_str(&out), labels[_i].want);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {the_same_key_is_one_result, 1},
        {parts_do_not_run_together, 1},
        {what_is_not_finite_is_a_fault, 1},
        {many_results_are_found_again, 1},
        {there_is_a_limit, 1},
        {values_may_have_stamps, 1},
        {labels_are_for_people, LEN(labels)},
    };

    return unit_run("results", tests, LEN(tests));
}
