/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include <assert.h>
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
