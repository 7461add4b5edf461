/* SPDX-License-Identifier: Apache-2.0 */
#include "search/mixture.h"

#include "base/auto.h"
#include "search/dice.h"
#include "unit/run.h"
#include <math.h>

/* Two hypotheses. Those of normals of equal weight are the capacity of a binary channel with normal
 * noise; those of rates one less the entropy of the rate. */
static const struct {
    const char *name;
    bool is_rate;
    struct component items[2];
    uint32_t n_runs;
    double bits, tolerance;
} rows[] = {
    {"half a deviation apart", false, {{1, 0, 0, 1}, {1, .5, 0, 1}}, 1, .0437, 6e-5},
    {"one deviation apart", false, {{1, 0, 0, 1}, {1, 1, 0, 1}}, 1, .1607, 6e-5},
    {"two apart", false, {{1, 0, 0, 1}, {1, 2, 0, 1}}, 1, .486, 6e-4},
    {"four apart", false, {{1, 0, 0, 1}, {1, 4, 0, 1}}, 1, .913, 6e-4},
    {"four runs halve the deviation", false, {{1, 0, 0, 1}, {1, 1, 0, 1}}, 4, .486, 6e-4},
    {"the level's own uncertainty adds", false, {{1, 0, .5, .5}, {1, 1, .5, .5}}, 1, .1607, 6e-5},
    {"other units", false, {{3, -2e9, 0, 1e18}, {3, 2e9, 0, 1e18}}, 1, .913, 6e-4},
    {"a million apart", false, {{1, 0, 0, 1}, {1, 1e6, 0, 1}}, 1, 1, 1e-6},
    {"a million apart, a fourth of the weight",
     false,
     {{1, 0, 0, 1}, {3, 1e6, 0, 1}},
     1,
     .811278,
     1e-6},
    {"without noise", false, {{1, 5, 0, 0}, {1, 6, 0, 0}}, 1, 1, 1e-6},
    {"the same", false, {{1, 5, .1, 1}, {1, 5, .1, 1}}, 8, 0, 1e-9},
    {"rates of never and always", true, {{1, 0, 0, 0}, {1, 1, 0, 0}}, 1, 1, 1e-4},
    {"rates of a fifth and four", true, {{1, .2, 0, 0}, {1, .8, 0, 0}}, 1, .278072, 1e-5},
    {"equal rates", true, {{1, .3, .01, 0}, {1, .3, .01, 0}}, 4, 0, 1e-9},
};

START_TEST(information_is_the_channels)
{
    struct mixture m = {.is_rate = rows[_i].is_rate};

    for (size_t i = 0; i < 2; i++)
        mixture_add(&m, &rows[_i].items[i]);
    double bits = mixture_bits(&m, rows[_i].n_runs);
    ck_assert_msg(fabs(bits - rows[_i].bits) <= rows[_i].tolerance, "%s: %.7f", rows[_i].name,
                  bits);
    ck_assert_msg(mixture_bound_bits(&m, rows[_i].n_runs) >= bits - 1e-9, "%s: bound",
                  rows[_i].name);
}
END_TEST

enum { N_ITEMS = 60, N_POINTS = 4000 };

static double density(const struct component *c, uint32_t n_runs, double x)
{
    double var = c->var + c->run_var / n_runs;

    return exp(-(x - c->mean) * (x - c->mean) / (2 * var)) / sqrt(2 * M_PI * var);
}

/** By summing over far more points than it takes, with nothing put together. */
static double slow_bits(const struct component *items, uint32_t n_runs, double from, double to)
{
    double total = 0, bits = 0, step = (to - from) / N_POINTS;

    for (size_t i = 0; i < N_ITEMS; i++)
        total += items[i].weight;
    for (size_t k = 0; k < N_POINTS; k++) {
        double x = from + (k + .5) * step, mix = 0;
        for (size_t i = 0; i < N_ITEMS; i++)
            mix += items[i].weight / total * density(&items[i], n_runs, x);
        for (size_t i = 0; i < N_ITEMS; i++) {
            double own = density(&items[i], n_runs, x);
            if (own > 0)
                bits += items[i].weight / total * own * log2(own / mix) * step;
        }
    }
    return bits;
}

/** Hypotheses as a search has them: two groups, each spread by what the few runs so far say. */
static void draw(uint64_t key, struct component *items)
{
    double step = .5 + 5 * dice_uniform(key, 0), spread = .5 * dice_uniform(key, 1);

    for (uint32_t i = 0; i < N_ITEMS; i++)
        items[i] = (struct component){
            .weight = dice_uniform(key, 4 * i + 2),
            .mean = (i % 2) * step + spread * dice_normal(key, 4 * i + 3),
            .var = .3 * dice_uniform(key, 4 * i + 4),
            .run_var = .7 + .6 * dice_uniform(key, 4 * i + 5),
        };
}

START_TEST(many_hypotheses_cost_little_precision)
{
    static const uint32_t repeats[] = {1, 2, 4, 8};
    struct component items[N_ITEMS];
    struct mixture m = {.n = 0};

    draw(dice_key(7, (uint64_t)_i), items);
    for (size_t i = 0; i < N_ITEMS; i++)
        mixture_add(&m, &items[i]);
    for (size_t i = 0; i < LEN(repeats); i++) {
        double slow = slow_bits(items, repeats[i], -12, 20), bits = mixture_bits(&m, repeats[i]);
        ck_assert_msg(fabs(bits - slow) < .006, "%u runs: %g, not %g", repeats[i], bits, slow);
        ck_assert_double_ge(mixture_bound_bits(&m, repeats[i]), bits - 1e-9);
    }
}
END_TEST

START_TEST(no_weight_is_lost_when_it_is_full)
{
    struct mixture m = {.n = 0};
    double mean = 0;

    for (uint32_t i = 0; i < 4 * MIXTURE_MAX; i++)
        mixture_add(&m, &(struct component){.weight = 1, .mean = 100. * i, .run_var = 1});
    for (uint32_t i = 0; i < m.n; i++)
        mean += m.items[i].weight * m.items[i].mean / m.total;
    ck_assert_uint_eq(m.n, MIXTURE_MAX);
    ck_assert_double_eq_tol(m.total, 4 * MIXTURE_MAX, 1e-9);
    ck_assert_double_eq_tol(mean, 100 * (4 * MIXTURE_MAX - 1) / 2., 1e-6);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {information_is_the_channels, LEN(rows)},
        {many_hypotheses_cost_little_precision, 12},
        {no_weight_is_lost_when_it_is_full, 1},
    };

    return unit_run("mixture", tests, LEN(tests));
}
