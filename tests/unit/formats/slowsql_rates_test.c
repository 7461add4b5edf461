/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "base/mem.h"
#include "formats/slowsql_change.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

static uint64_t draws;

static uint64_t draw(uint64_t below)
{
    return mix64(++draws) % below;
}

START_TEST(weights_are_poisson)
{
    double weights[RATE_REPLICATES], sum = 0, squares = 0, zeros = 0;
    const int n = 200;

    for (int c = 0; c < n; c++) {
        rate_weights(7, (uint64_t)c, weights);
        for (size_t r = 0; r < RATE_REPLICATES; r++) {
            sum += weights[r];
            squares += weights[r] * weights[r];
            zeros += weights[r] == 0;
        }
    }
    double m = (double)n * RATE_REPLICATES;
    ck_assert_double_eq_tol(sum / m, 1, .01);          /* standard error .0022 */
    ck_assert_double_eq_tol(squares / m, 2, .03);      /* E x^2 of mean 1 */
    ck_assert_double_eq_tol(zeros / m, exp(-1), .006); /* standard error .0011 */
}
END_TEST

/** `n` clients in each group; one in `rarity` of them slow, for about `ms` in group 0 and `factor`
 *  times that in group 1. Half of the clients are in both. */
struct world {
    size_t n, rarity;
    int64_t ms;
    double factor;
};

static struct rate_data data_of(const struct world *w, uint64_t seed)
{
    struct rate_data d = {.n_rows = 1, .is_by_hours = true, .margin = .05, .seed = 1};

    draws = seed * 1000000;
    d.uses = mem_array(2 * w->n, sizeof(*d.uses));
    d.hits = mem_array(2 * w->n, sizeof(*d.hits));
    for (size_t i = 0; i < 2 * w->n; i++) {
        uint32_t group = i >= w->n;
        uint64_t client = group && i % 2 ? i - w->n : i;
        double ms = (double)w->ms * (.5 + (double)draw(1000) / 1000) * (group ? w->factor : 1);
        d.uses[d.n_uses++] =
            (struct rate_use){mix64(client), group, 1, 900000 + (int64_t)draw(200000)};
        if (draw(w->rarity) == 0 && ms >= 1)
            d.hits[d.n_hits++] = (struct rate_hit){mix64(client), 0, group, (int64_t)ms};
    }
    return d;
}

/* clang-format off */
static const struct {
    const char *name;
    struct world world;
    enum rate_verdict want;
    double low, high; /* of the ratio */
} verdicts[] = {
    {"half as slow",               {1000, 2, 1000, .5},  RATE_IMPROVED,     .4, .6},
    {"three times as slow",        {1000, 2, 1000, 3},   RATE_REGRESSED,    2.5, 3.5},
    {"gone",                       {1000, 2, 1000, 0},   RATE_IMPROVED,     0, 0},
    {"the same, and much of it",   {30000, 1, 1000, 1},  RATE_SAME,         .98, 1.02},
    {"the same, and little of it", {300, 10, 1000, 1},   RATE_INCONCLUSIVE, .3, 3},
    {"a 1 % change is the same",   {30000, 1, 1000, 1.01}, RATE_SAME,       .99, 1.03},
};
/* clang-format on */

START_TEST(judges_two_groups)
{
    struct rate_data d = data_of(&verdicts[_i].world, 3);
    struct rate r;

    rates_compare(&d, &r);
    ck_assert_msg(r.verdict == verdicts[_i].want, "%s: %s, %g (%g to %g)", verdicts[_i].name,
                  rate_verdict_names[r.verdict], r.ratio, r.low, r.high);
    ck_assert_msg(r.ratio >= verdicts[_i].low && r.ratio <= verdicts[_i].high, "%s: %g",
                  verdicts[_i].name, r.ratio);
    ck_assert(r.low <= r.ratio && r.ratio <= r.high);
    mem_free(d.uses);
    mem_free(d.hits);
}
END_TEST

START_TEST(order_does_not_matter)
{
    const struct world w = {500, 3, 700, 1.3};
    struct rate_data d = data_of(&w, 4), e = data_of(&w, 4);
    struct rate a, b;

    for (size_t i = 0; i < e.n_uses / 2; i++) {
        struct rate_use u = e.uses[i];
        e.uses[i] = e.uses[e.n_uses - 1 - i];
        e.uses[e.n_uses - 1 - i] = u;
    }
    for (size_t i = 0; i < e.n_hits / 2; i++) {
        struct rate_hit h = e.hits[i];
        e.hits[i] = e.hits[e.n_hits - 1 - i];
        e.hits[e.n_hits - 1 - i] = h;
    }
    rates_compare(&d, &a);
    rates_compare(&e, &b);
    ck_assert(a.ratio == b.ratio && a.low == b.low && a.high == b.high);
    mem_free(d.uses);
    mem_free(d.hits);
    mem_free(e.uses);
    mem_free(e.hits);
}
END_TEST

/** Of 200 pairs of equal groups few may be judged to differ, and the interval has the ratio 1 in
 *  it nearly always: binomial, n 200, p .05, at most 20 with probability .998. */
START_TEST(equal_groups_seldom_differ)
{
    const struct world w = {400, 8, 900, 1};
    int n_wrong = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rate_data d = data_of(&w, seed);
        struct rate r;
        rates_compare(&d, &r);
        n_wrong += r.verdict == RATE_IMPROVED || r.verdict == RATE_REGRESSED;
        mem_free(d.uses);
        mem_free(d.hits);
    }
    ck_assert_msg(n_wrong <= 20, "%d of 200", n_wrong);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    size_t n_slow[2], n_clients[2];
    enum rate_verdict want;
} few[] = {
    {"one slow client before, none of a few after",  {1, 0}, {1000, 10},   RATE_INCONCLUSIVE},
    {"one slow client before, none of many after",   {1, 0}, {10, 100},    RATE_INCONCLUSIVE},
    {"many before, none after",                      {300, 0}, {1000, 1000}, RATE_IMPROVED},
    {"none before, many after",                      {0, 300}, {1000, 1000}, RATE_REGRESSED},
    {"none at all",                                  {0, 0}, {1000, 1000}, RATE_INCONCLUSIVE},
    {"nobody after",                                 {300, 0}, {1000, 0}, RATE_INCONCLUSIVE},
    {"two before, two after",                        {2, 2}, {1000, 1000}, RATE_INCONCLUSIVE},
};
/* clang-format on */

START_TEST(few_clients_say_little)
{
    struct rate_use uses[2000];
    struct rate_hit hits[2000];
    struct rate_data d = {.uses = uses, .hits = hits, .n_rows = 1, .margin = .05, .seed = 1};
    struct rate r;

    for (uint32_t g = 0; g < 2; g++)
        for (size_t i = 0; i < few[_i].n_clients[g]; i++) {
            uses[d.n_uses++] = (struct rate_use){mix64(2 * i + g), g, 1, 0};
            if (i < few[_i].n_slow[g])
                hits[d.n_hits++] = (struct rate_hit){mix64(2 * i + g), 0, g, 500};
        }
    rates_compare(&d, &r);
    ck_assert_msg(r.verdict == few[_i].want, "%s: %s (%g to %g)", few[_i].name,
                  rate_verdict_names[r.verdict], r.low, r.high);
}
END_TEST

/* Changes */

/* clang-format off */
static const struct {
    const char *name;
    double factors[20]; /* of each build */
    size_t n_changes;
    uint32_t firsts[2];
} series[] = {
    {"level",      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 0, {0}},
    {"one step",   {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 1, {11}},
    {"a fix",      {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 1, {6}},
    {"a hump",     {1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, 2, {5, 12}},
    {"the last",   {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4}, 1, {19}},
    {"two builds", {1, 3}, 1, {1}},
};
/* clang-format on */

START_TEST(finds_the_build)
{
    enum { CLIENTS = 100 };
    uint32_t n_builds = 0;
    struct rate_use *uses = mem_array(20 * CLIENTS, sizeof(*uses));
    struct rate_hit *hits = mem_array(20 * CLIENTS, sizeof(*hits));
    struct rate_data d = {
        .uses = uses, .hits = hits, .is_by_hours = true, .margin = .05, .seed = 1};
    struct slow_change changes[CHANGES_MOST];
    struct err e = {0};
    size_t n = 0;

    draws = 99;
    while (n_builds < 20 && (n_builds < 2 || series[_i].factors[2] > 0))
        n_builds++;
    for (uint32_t b = 0; b < n_builds; b++)
        for (uint64_t c = 0; c < CLIENTS; c++) {
            double ms = 1000 * series[_i].factors[b] * (.2 + (double)draw(1600) / 1000);
            uses[d.n_uses++] = (struct rate_use){mix64(c), b, 1, 500000 + (int64_t)draw(1000000)};
            if (ms >= 1)
                hits[d.n_hits++] = (struct rate_hit){mix64(c), 0, b, (int64_t)ms};
        }
    ck_assert_int_eq(slow_changes_find(&d, n_builds, changes, &n, &e), ERR_OK);
    ck_assert_msg(n == series[_i].n_changes, "%s: %zu changes", series[_i].name, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(changes[i].first == series[_i].firsts[i], "%s: %u", series[_i].name,
                      changes[i].first);
        ck_assert(changes[i].low >= 1 && changes[i].low <= changes[i].first &&
                  changes[i].high >= changes[i].first && changes[i].high < n_builds);
    }
    ck_assert_int_eq(slow_changes_find(&d, CHANGE_BUILDS + 1, changes, &n, &e), ERR_LIMIT);
    mem_free(uses);
    mem_free(hits);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {weights_are_poisson, 1},           {judges_two_groups, LEN(verdicts)},
        {order_does_not_matter, 1},         {equal_groups_seldom_differ, 1},
        {few_clients_say_little, LEN(few)}, {finds_the_build, LEN(series)},
    };
    return unit_run("slowsql_rates", tests, LEN(tests));
}
