/* SPDX-License-Identifier: Apache-2.0 */
#include "search/outlook.h"

#include "base/mem.h"
#include "search/history.h"
#include "unit/run.h"
#include <math.h>

enum { N = 16 }; /* candidates 1 to N in a line, equally likely */

/* Eight runs tell a side almost surely: what is left to learn is the entropy of the split of each
 * part that those in flight leave. */
static const struct {
    const char *name;
    uint32_t in_flight[3]; /* 0 ends them */
    uint32_t choice;
    double bits;
} rows[] = {
    {"half of the range", {0}, 8, 1},
    {"a fourth", {0}, 4, .811278},
    {"what is in flight already", {8}, 8, 0},
    {"half of one half", {8}, 4, .5},
    {"half of the other", {8}, 12, .5},
    {"half of a fourth", {8, 4}, 2, .25},
    {"half of what is untouched", {8, 4}, 12, .5},
    {"nothing between two that are one apart", {8, 9}, 9, 0},
    {"a half of an eighth beside three", {4, 6, 8}, 5, .125},
};

START_TEST(what_is_in_flight_is_not_learned_twice)
{
    AUTO(range_free) struct range *range = history_line(N);
    AUTO(dag_free) struct dag *dag = dag_new(range);
    AUTO(outlook_fini) struct outlook o = {.n_choices = 1, .choices = {rows[_i].choice}};
    double weight[N + 1];

    for (uint32_t v = 0; v <= N; v++)
        weight[v] = v > 0;
    AUTO(posterior_free)
    struct posterior *p = posterior_new(N + 1, weight, false, WORSE_UP, NULL);
    for (; o.n_pending < 3 && rows[_i].in_flight[o.n_pending]; o.n_pending++)
        o.pending[o.n_pending] = (struct pending){rows[_i].in_flight[o.n_pending], 8};
    outlook_fill(&o, dag, p, true);
    double bits = outlook_bits(&o, 0, 8);
    ck_assert_msg(fabs(bits - rows[_i].bits) < .03, "%s: %g", rows[_i].name, bits);
    ck_assert_double_ge(outlook_bound_bits(&o, 0, 8), bits - 1e-9);
    ck_assert_double_le(outlook_bits(&o, 0, 1), bits + 1e-9);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {what_is_in_flight_is_not_learned_twice, LEN(rows)},
    };

    return unit_run("outlook", tests, LEN(tests));
}
