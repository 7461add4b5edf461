/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checkup.h"
#include "cli/findings.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    struct machine machine;
    double busy;
    const char *finding; /* the only one with advice; NULL: none has any */
    const char *says, *advice; /* parts */
} rows[] = {
    {"a quiet machine",
     {.quota_cpus = NAN, .n_cpus = 8, .n_cores = 8, .load = .01, .governor = (char *)"performance", .huge_pages = (char *)"madvise", .celsius = 40},
     .01, NULL, NULL, NULL},
    {"one CPU",           {.quota_cpus = NAN, .n_cpus = 1, .n_cores = 1}, 0, "CPUs", "1 on 1 core", "cpu or counter"},
    {"others at work",    {.quota_cpus = NAN, .load = 3}, .6, "other work", "60 % of its time", "stop it"},
    {"a quota",           {.quota_cpus = 1.5}, 0, "CPU quota", "1.5 CPUs", "without one"},
    {"a shared host",     {.quota_cpus = NAN, .stolen = .02}, 0, "stolen time", "2.00 %", "shared"},
    {"a guest",           {.quota_cpus = NAN, .is_virtual = KNOWN_ON}, 0, "virtual machine", "yes", "alternate"},
    {"clocks that follow", {.quota_cpus = NAN, .governor = (char *)"powersave"}, 0, "governor", "powersave", "frequency-set -g performance"},
    {"turbo",             {.quota_cpus = NAN, .turbo = KNOWN_ON}, 0, "turbo", "on", "no_turbo"},
    {"two on a core",     {.quota_cpus = NAN, .smt = KNOWN_ON}, 0, "SMT", "on", "isolation: cpus"},
    {"random layout",     {.quota_cpus = NAN, .aslr = 2}, 0, "ASLR", "on (randomize_va_space is 2)", "layout: fixed"},
    {"huge pages",        {.quota_cpus = NAN, .huge_pages = (char *)"always"}, 0, "huge pages", "always", "madvise"},
    {"swap in use",       {.quota_cpus = NAN, .swap_bytes = 4 * MIB, .swap_used_bytes = MIB}, 0, "swap", "1 of 4 MiB", "memory"},
    {"heat",              {.quota_cpus = NAN, .celsius = 95}, 0, "temperature", "95 °C", "slow itself down"},
    {"what cannot be read is no cause",
     {.quota_cpus = NAN, .n_cpus = 2, .load = NAN, .turbo = UNKNOWN, .smt = UNKNOWN, .aslr = -1, .swap_bytes = -1, .swap_used_bytes = -1,
      .stolen = NAN, .celsius = NAN, .is_virtual = UNKNOWN}, NAN, NULL, NULL, NULL},
};

static const struct {
    double values[6];
    size_t n;
    struct spread want;
} spreads[] = { /* the standard deviation has n - 1 below */
    {{3},             1, {.median = 3, .low = 3, .high = 3, .p95 = 3, .sd_percent = 0}},
    {{4, 2},          2, {.median = 3, .low = 2, .high = 4, .p95 = 4, .sd_percent = 47.140452079}},
    {{5, 1, 3, 2, 4}, 5, {.median = 3, .low = 1, .high = 5, .p95 = 5, .sd_percent = 52.704627669}},
    {{0, 0},          2, {0}},
};
/* clang-format on */

START_TEST(causes_are_found)
{
    struct finding f[FINDINGS];
    const char *name = rows[_i].name;

    findings_of(&rows[_i].machine, rows[_i].busy, f);
    for (size_t i = 0; i < FINDINGS; i++) {
        bool is_it = rows[_i].finding && strcmp(f[i].name, rows[_i].finding) == 0;
        ck_assert_msg(f[i].says[0], "%s: %s says nothing", name, f[i].name);
        ck_assert_msg((f[i].advice != NULL) == is_it, "%s: %s: %s", name, f[i].name,
                      f[i].advice ? f[i].advice : "no advice");
        if (is_it)
            ck_assert_msg(strstr(f[i].says, rows[_i].says) && strstr(f[i].advice, rows[_i].advice),
                          "%s: %s: %s", name, f[i].says, f[i].advice);
    }
}
END_TEST

START_TEST(spread_of_values)
{
    double values[6];

    memcpy(values, spreads[_i].values, sizeof(values));
    struct spread s = spread_of(values, spreads[_i].n);
    const struct spread *want = &spreads[_i].want;
    ck_assert_uint_eq(s.n, spreads[_i].n);
    ck_assert_double_eq(s.median, want->median);
    ck_assert_double_eq(s.low, want->low);
    ck_assert_double_eq(s.high, want->high);
    ck_assert_double_eq(s.p95, want->p95);
    ck_assert_double_eq_tol(s.sd_percent, want->sd_percent, 1e-6);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {causes_are_found, LEN(rows)},
        {spread_of_values, LEN(spreads)},
    };

    return unit_run("findings", tests, LEN(tests));
}
