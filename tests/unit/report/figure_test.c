/* SPDX-License-Identifier: Apache-2.0 */
#include "report/figure.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *unit;
    double value;
    const char *want;
} values[] = {
    {"four digits of a large value",     "ms",       1550.2,        "1550 ms"},
    {"seconds from ten thousand ms",     "ms",       12345.0,       "12.35 s"},
    {"small times in microseconds",      "ms",       0.0123,        "12.30 us"},
    {"milliseconds of a short second",   "s",        0.0123,        "12.30 ms"},
    {"whole numbers stay whole",         "",         3.0,           "3"},
    {"zero",                             "ms",       0.0,           "0 ms"},
    {"no minus zero",                    "",         -0.0,          "0"},
    {"memory in MiB",                    "KiB",      49356.8,       "48.20 MiB"},
    {"bytes in GiB",                     "B",        2147483648.0,  "2 GiB"},
    {"failures in percent",              "failures", 0.805,         "80.50 % failing"},
    {"an unknown unit is kept",          "fsyncs",   17.25,         "17.25 fsyncs"},
    {"negative",                         "",         -2.5,          "-2.500"},
    {"not a number",                     "ms",       NAN,           "unknown"},
    {"no unit at all",                   NULL,       7.0,           "7"},
    {"tiny",                             "",         1.25e-7,       "1.25e-07"},
    {"huge",                             "",         3e20,          "3e+20"},
};

static const struct {
    const char *name;
    double ratio;
    const char *want;
} ratios[] = {
    {"a rise",            1.611, "+61.1 %"},
    {"a fall",            0.75,  "-25.0 %"},
    {"a small change",    1.0042, "+0.42 %"},
    {"a multiple",        4.04,  "+304 %"},
    {"many times",        31.0,  "31 times as much"},
    {"from nothing",      NAN,   ""},
};

static const struct {
    double percent;
    const char *unit;
    const char *want;
} effects[] = {
    {1.5,   NULL,     "1.5 %"},
    {149.4, NULL,     "149 %"},
    {302,   NULL,     "3 times the good level"},
    {250,   NULL,     "2.5 times the good level"},
    {1000,  NULL,     "10 times the good level"},
    {234567, NULL,    "2346 times the good level"},
    {40,    "points", "40 points"},
};

static const struct {
    double p;
    const char *want;
} probabilities[] = {
    {.9934, "99.3 %"}, {.99999, "over 99.9 %"}, {1.0, "over 99.9 %"}, {.0001, "under 0.1 %"},
    {0.0, "under 0.1 %"}, {.5, "50.0 %"}, {NAN, "unknown"}, {1.5, "unknown"},
};
/* clang-format on */

START_TEST(values_are_short)
{
    AUTO(buf_fini) struct buf out = {0};

    figure_value(&out, values[_i].value, figure_scale_of(values[_i].unit, values[_i].value));
    ck_assert_msg(strcmp(buf_str(&out), values[_i].want) == 0, "%s: got \"%s\"", values[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(ratios_are_changes)
{
    AUTO(buf_fini) struct buf out = {0};

    figure_ratio(&out, ratios[_i].ratio);
    ck_assert_msg(strcmp(buf_str(&out), ratios[_i].want) == 0, "%s: got \"%s\"", ratios[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(effects_are_no_large_percentages)
{
    AUTO(buf_fini) struct buf out = {0};

    figure_effect(&out, effects[_i].percent, effects[_i].unit);
    ck_assert_str_eq(buf_str(&out), effects[_i].want);
}
END_TEST

START_TEST(probabilities_never_claim_certainty)
{
    AUTO(buf_fini) struct buf out = {0};

    figure_probability(&out, probabilities[_i].p);
    ck_assert_str_eq(buf_str(&out), probabilities[_i].want);
}
END_TEST

START_TEST(changes_have_a_sign)
{
    AUTO(buf_fini) struct buf out = {0};
    struct figure_scale ms = {1, "ms", NULL};

    figure_change(&out, 947.8, ms);
    buf_addc(&out, ',');
    figure_change(&out, -3, ms);
    buf_addc(&out, ',');
    figure_change(&out, NAN, ms);
    buf_addc(&out, ',');
    figure_change(&out, .75, figure_scale_of("failures", 1));
    ck_assert_str_eq(buf_str(&out), "+947.8 ms,-3 ms,unknown,+75 points");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {values_are_short, LEN(values)},
        {ratios_are_changes, LEN(ratios)},
        {effects_are_no_large_percentages, LEN(effects)},
        {probabilities_never_claim_certainty, LEN(probabilities)},
        {changes_have_a_sign, 1},
    };
    return unit_run("figure", tests, LEN(tests));
}
