/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "unit/run.h"

/* clang-format off */
static const struct {
    const char *text;
    int64_t want_ns; /* -1: refused */
} durations[] = {
    {"90s",      90 * NS_PER_S},
    {"90",       90 * NS_PER_S},
    {"0",        0},
    {"5m",       300 * NS_PER_S},
    {"2h",       7200 * NS_PER_S},
    {"1d",       86400 * NS_PER_S},
    {"1h30m",    5400 * NS_PER_S},
    {"1m1s1ms",  61 * NS_PER_S + NS_PER_MS},
    {"250ms",    250 * NS_PER_MS},
    {"0.5s",     500 * NS_PER_MS},
    {"1.5h",     5400 * NS_PER_S},
    {"36500d",   INT64_C(36500) * 86400 * NS_PER_S},
    {"",         -1}, {"s",    -1}, {"-5s",  -1}, {"5 s",  -1}, {" 5s",  -1}, {"5s ", -1},
    {"5x",       -1}, {"5S",   -1}, {"m5",   -1}, {"1h30", -1}, {"1m1h", -1}, {"1s1s", -1},
    {"1.",       -1}, {".5s",  -1}, {"1e3s", -1}, {"inf",  -1}, {"nan",  -1}, {"0x10s", -1},
    {"36501d",   -1}, {"99999999999999999999999999999999999999999h", -1}, {"1h\n", -1},
};

static const struct {
    int64_t ns;
    const char *want;
} shown[] = {
    {0,                            "0ms"},
    {85 * NS_PER_MS,               "85ms"},
    {999 * NS_PER_MS,              "999ms"},
    {999600000,                    "1.0s"},
    {12300 * NS_PER_MS,            "12.3s"},
    {59949 * NS_PER_MS,            "59.9s"},
    {59950 * NS_PER_MS,            "1m00s"},
    {185 * NS_PER_S,               "3m05s"},
    {3599600 * NS_PER_MS,          "1h00m"},
    {3720 * NS_PER_S,              "1h02m"},
    {-85 * NS_PER_MS,              "-85ms"},
};

static const struct {
    int64_t ns;
    const char *want; /* by date -u -d @… */
} instants[] = {
    {0,                              "1970-01-01T00:00:00.000Z"},
    {1796031300 * NS_PER_S + 123999999, "2026-11-30T09:35:00.123Z"},
    {951782400 * NS_PER_S,           "2000-02-29T00:00:00.000Z"},
    {-1,                             "1969-12-31T23:59:59.999Z"},
    {-NS_PER_S,                      "1969-12-31T23:59:59.000Z"},
};

static const struct {
    const char *text;
    int64_t want_ns; /* by date -u -d … +%s; -1: refused */
} times[] = {
    {"2026-11-30T09:35:00.123Z",       1796031300 * NS_PER_S + 123 * NS_PER_MS},
    {"2026-11-30T09:35:00Z",           1796031300 * NS_PER_S},
    {"2026-11-30 09:35:00",            1796031300 * NS_PER_S},
    {"2026-11-30t09:35z",              1796031300 * NS_PER_S},
    {"2026-11-30T10:35:00+01:00",      1796031300 * NS_PER_S},
    {"2026-11-30T04:05:00-0530",       1796031300 * NS_PER_S},
    {"2026-11-30T11:35:00+02",         1796031300 * NS_PER_S},
    {"2026-11-30",                     1795996800 * NS_PER_S},
    {"2000-02-29",                     951782400 * NS_PER_S},
    {"1970-01-01T00:00:00.000000001Z", 1},
    {"1970-01-01T00:00:00.0000000019999Z", 1},
    {"2016-12-31T23:59:60Z",           1483228800 * NS_PER_S},
    {"2261-12-31T23:59:59Z",           INT64_C(9214646399) * NS_PER_S},
    {"2001-02-29", -1}, {"1900-01-01", -1}, {"2262-01-01", -1}, {"2026-13-01", -1}, {"2026-00-10", -1},
    {"2026-11-30T24:00Z", -1}, {"2026-11-30T09", -1}, {"2026-11-30T09:35:00.Z", -1}, {"", -1},
    {"2026-11-30T09:35:00+1:00", -1}, {"2026-11-30T09:35:00 ", -1}, {"2026-11-30x", -1},
    {"30.11.2026", -1}, {"1796031300", -1}, {"2026-1-1", -1}, {"1970-01-01T00:00:00+01:00", -1},
};
/* clang-format on */

START_TEST(reads_durations)
{
    int64_t ns = -7;
    struct err e = {0};
    enum err_code rc = duration_parse(durations[_i].text, &ns, &e);

    if (durations[_i].want_ns < 0) {
        ck_assert_msg(rc == ERR_INVALID && e.text[0], "%s", durations[_i].text);
        ck_assert_msg(ns == -7, "%s", durations[_i].text);
    } else {
        ck_assert_msg(rc == ERR_OK && ns == durations[_i].want_ns, "%s", durations[_i].text);
    }
}
END_TEST

START_TEST(reads_times)
{
    struct utc at = {-7};
    struct err e = {0};
    enum err_code code = utc_parse(times[_i].text, &at, &e);

    ck_assert_msg(code == (times[_i].want_ns < 0 ? ERR_INVALID : ERR_OK), "%s: %s", times[_i].text,
                  e.text);
    ck_assert_msg(at.ns == (code ? -7 : times[_i].want_ns), "%s: %lld", times[_i].text,
                  (long long)at.ns);
}
END_TEST

START_TEST(shows_durations)
{
    char text[32];

    duration_format(shown[_i].ns, text);
    ck_assert_str_eq(text, shown[_i].want);
}
END_TEST

START_TEST(shows_extremes_within_bounds)
{
    char text[32];

    duration_format(INT64_MAX, text);
    ck_assert_str_eq(text, "2562047h47m");
    duration_format(INT64_MIN, text);
    ck_assert_str_eq(text, "-2562047h47m");
    utc_format((struct utc){INT64_MAX}, text);
    ck_assert_str_eq(text, "2262-04-11T23:47:16.854Z");
    utc_format((struct utc){INT64_MIN}, text);
    ck_assert_str_eq(text, "1677-09-21T00:12:43.145Z");
}
END_TEST

START_TEST(shows_instants)
{
    char text[32];

    utc_format((struct utc){instants[_i].ns}, text);
    ck_assert_str_eq(text, instants[_i].want);
}
END_TEST

START_TEST(clocks_advance)
{
    struct mono a = mono_now();
    struct mono b = mono_now();

    ck_assert_int_ge(b.ns, a.ns);
    ck_assert_int_gt(utc_now().ns, INT64_C(1700000000) * NS_PER_S);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads_durations, LEN(durations)}, {reads_times, LEN(times)},
        {shows_durations, LEN(shown)},     {shows_extremes_within_bounds, 1},
        {shows_instants, LEN(instants)},   {clocks_advance, 1},
    };
    return unit_run("clock", tests, LEN(tests));
}
