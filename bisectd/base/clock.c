/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_DAYS = 36500 };

static int64_t clock_ns(clockid_t which)
{
    struct timespec t;

    int rc = clock_gettime(which, &t);
    assert(rc == 0);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

struct mono mono_now(void)
{
    return (struct mono){clock_ns(CLOCK_MONOTONIC)};
}

struct utc utc_now(void)
{
    return (struct utc){clock_ns(CLOCK_REALTIME)};
}

void utc_format(struct utc t, char out[32])
{
    int64_t ms = t.ns / NS_PER_MS - (t.ns % NS_PER_MS < 0);
    time_t s = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm tm = {0};

    gmtime_r(&s, &tm); /* 64 bits of ns end in the year 2262: always in range */
    size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%03dZ", (int)(ms - (int64_t)s * 1000));
}

enum { LAST_YEAR = 2261, DAY_SECONDS = 86400 };

/** Exactly `n` digits, not over `most`; moves on. -1 if there are none. */
static int take_digits(const char **s, int n, int most)
{
    int value = 0;

    for (int i = 0; i < n; i++, ++*s) {
        if (**s < '0' || **s > '9')
            return -1;
        value = 10 * value + (**s - '0');
    }
    return value <= most ? value : -1;
}

static bool take(const char **s, char c)
{
    bool is_it = **s == c;

    *s += is_it;
    return is_it;
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

/** Days since 1970. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = year - 1, days = 365 * y + y / 4 - y / 100 + y / 400 - 719162;

    for (int m = 1; m < month; m++)
        days += days_of_month(year, m);
    return days + day - 1;
}

static bool take_date(const char **s, int64_t *seconds)
{
    int year = take_digits(s, 4, LAST_YEAR);
    int month = take(s, '-') ? take_digits(s, 2, 12) : -1;
    int day = take(s, '-') ? take_digits(s, 2, 31) : -1;

    if (year < 1970 || month < 1 || day < 1 || day > days_of_month(year, month))
        return false;
    *seconds = days_of(year, month, day) * DAY_SECONDS;
    return true;
}

/** Digits after a point; those beyond nanoseconds are passed over. */
static bool take_fraction(const char **s, int64_t *ns)
{
    int64_t unit = NS_PER_S / 10;

    if (!take(s, '.') && !take(s, ','))
        return true;
    if (**s < '0' || **s > '9')
        return false;
    for (; **s >= '0' && **s <= '9'; ++*s, unit /= 10)
        *ns += unit * (**s - '0');
    return true;
}

static bool take_time(const char **s, int64_t *seconds, int64_t *ns)
{
    int hour = take_digits(s, 2, 23);
    int minute = take(s, ':') ? take_digits(s, 2, 59) : -1;

    if (hour < 0 || minute < 0)
        return false;
    *seconds += hour * 3600 + minute * 60;
    if (!take(s, ':'))
        return true;
    int second = take_digits(s, 2, 60); /* 60: a leap second */
    *seconds += second;
    return second >= 0 && take_fraction(s, ns);
}

static bool take_zone(const char **s, int64_t *seconds)
{
    if (**s == '\0' || take(s, 'Z') || take(s, 'z'))
        return true;
    int sign = take(s, '+') ? 1 : take(s, '-') ? -1 : 0;
    int hours = sign ? take_digits(s, 2, 23) : -1;
    if (hours < 0)
        return false;
    (void)take(s, ':');
    int minutes = **s ? take_digits(s, 2, 59) : 0;
    *seconds -= sign * (hours * 3600 + minutes * 60);
    return minutes >= 0;
}

enum err_code utc_parse(const char *text, struct utc *out, struct err *e)
{
    const char *s = text + strspn(text, " ");
    int64_t seconds = 0, ns = 0;
    bool is_good = take_date(&s, &seconds);

    if (is_good && *s != '\0') {
        is_good = take(&s, 'T') || take(&s, 't') || take(&s, ' ');
        is_good = is_good && take_time(&s, &seconds, &ns) && take_zone(&s, &seconds);
    }
    if (!is_good || *s != '\0' || seconds < 0)
        return err_set(e, ERR_INVALID, "\"%.40s\" is no date and time such as 2026-11-30T09:35:00Z",
                       text);
    out->ns = seconds * NS_PER_S + ns;
    return ERR_OK;
}

static const struct unit {
    const char *name;
    int64_t ns;
} units[] = {
    /* largest first: a duration names each at most once, in this order */
    {"d", 86400 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"m", 60 * NS_PER_S},
    {"s", NS_PER_S},         {"ms", NS_PER_MS},
};

static const struct unit *unit_of(const char *name, size_t n)
{
    for (size_t i = 0; i < LEN(units); i++)
        if (strlen(units[i].name) == n && memcmp(units[i].name, name, n) == 0)
            return &units[i];
    return NULL;
}

/** Digits with an optional fraction; the number of bytes read, 0 if none. */
static size_t scan_amount(const char *s, double *amount)
{
    size_t whole = strspn(s, "0123456789");
    double v = 0;
    double place = 1;

    for (size_t i = 0; i < whole; i++)
        v = v * 10 + (s[i] - '0');
    *amount = v;
    if (whole == 0 || s[whole] != '.')
        return whole;

    size_t part = strspn(s + whole + 1, "0123456789");
    for (size_t i = 0; i < part; i++) {
        place /= 10;
        v += place * (s[whole + 1 + i] - '0');
    }
    *amount = v;
    return part ? whole + 1 + part : 0;
}

static enum err_code not_a_duration(const char *text, struct err *e)
{
    return err_set(e, ERR_INVALID,
                   "\"%.40s\" is not a duration; expected 250ms, 90s, 5m, 2h or 1h30m", text);
}

enum err_code duration_parse(const char *text, int64_t *ns, struct err *e)
{
    const double most = (double)MOST_DAYS * 86400 * 1e9;
    const struct unit *last = NULL;
    double sum = 0;
    const char *s = text;

    do {
        double amount;
        size_t n = scan_amount(s, &amount);
        if (n == 0)
            return not_a_duration(text, e);
        s += n;
        n = strspn(s, "abcdefghijklmnopqrstuvwxyz");
        const struct unit *unit = n == 0 && !last && *s == '\0' ? unit_of("s", 1) : unit_of(s, n);
        if (!unit || (last && unit <= last))
            return not_a_duration(text, e);
        s += n;
        sum += amount * (double)unit->ns;
        last = unit;
    } while (*s != '\0');

    if (!(sum <= most))
        return err_set(e, ERR_INVALID, "\"%.40s\" is too long; at most %d days", text, MOST_DAYS);
    *ns = (int64_t)(sum + 0.5);
    return ERR_OK;
}

void duration_format(int64_t ns, char out[32])
{
    const char *sign = ns < 0 ? "-" : "";
    uint64_t u = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    const uint64_t second = NS_PER_S;
    uint64_t ms = (u + NS_PER_MS / 2) / NS_PER_MS;
    uint64_t tenths = (u + second / 20) / (second / 10);
    uint64_t s = (u + second / 2) / second;

    if (ms < 1000)
        snprintf(out, 32, "%s%ums", sign, (unsigned)ms);
    else if (tenths < 600)
        snprintf(out, 32, "%s%u.%us", sign, (unsigned)(tenths / 10), (unsigned)(tenths % 10));
    else if (s < 3600)
        snprintf(out, 32, "%s%um%02us", sign, (unsigned)(s / 60), (unsigned)(s % 60));
    else
        snprintf(out, 32, "%s%lluh%02um", sign, (unsigned long long)(s / 3600),
                 (unsigned)(s / 60 % 60));
}
