/* SPDX-License-Identifier: Apache-2.0 */
#include "search/dag.h"

#include "base/mem.h"
#include "unit/run.h"
#include "world.h"
#include <math.h>

/** Ancestors by the definition, one commit at a time. */
static bool is_ancestor(const struct range *r, uint32_t a, uint32_t v)
{
    if (a == v)
        return true;
    for (uint32_t i = 0; i < r->commits[v].n_parents; i++)
        if (r->commits[v].parents[i] >= a && is_ancestor(r, a, r->commits[v].parents[i]))
            return true;
    return false;
}

START_TEST(marks_exactly_the_ancestors)
{
    struct world w = {.n = 14, .p_merge = .35, .seed = (uint64_t)_i};
    AUTO(range_free) struct range *r = world_range(&w);
    AUTO(dag_free) struct dag *d = dag_new(r);
    uint8_t mark[16];

    for (uint32_t v = 0; v < r->n; v++) {
        dag_mark_ancestors(d, v, mark);
        for (uint32_t a = 0; a < r->n; a++)
            ck_assert_msg(mark[a] == is_ancestor(r, a, v), "seed %d: %u of %u", _i, a, v);
    }
}
END_TEST

START_TEST(masses_are_sums_over_ancestors)
{
    struct world w = {.n = 150, .p_merge = .3, .seed = (uint64_t)_i};
    AUTO(range_free) struct range *r = world_range(&w);
    AUTO(dag_free) struct dag *d = dag_new(r);
    double *weight = mem_array(r->n, sizeof(*weight)), *mass = mem_array(r->n, sizeof(*mass));
    uint8_t *mark = mem_array(r->n, 1);
    uint32_t n_known = 0;

    for (uint32_t v = 0; v < r->n; v++)
        weight[v] = uniform_of(v + 1000 * (uint64_t)_i);
    dag_masses(d, weight, 0, 1000, mass);
    for (uint32_t v = 0; v < r->n; v++) {
        double sum = 0;
        if (isnan(mass[v]))
            continue;
        n_known++;
        dag_mark_ancestors(d, v, mark);
        for (uint32_t a = 0; a <= v; a++)
            sum += mark[a] ? weight[a] : 0;
        ck_assert_double_eq_tol(mass[v], sum, 1e-9);
    }
    ck_assert_msg(n_known == r->n, "%u of %u commits swept", n_known, r->n);
    mem_free(weight);
    mem_free(mass);
    mem_free(mark);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {marks_exactly_the_ancestors, 20},
        {masses_are_sums_over_ancestors, 20},
    };

    return unit_run("dag", tests, LEN(tests));
}
