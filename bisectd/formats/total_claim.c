/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/total_claim.h"
#include "base/buf.h"
#include "base/text.h"
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_MOST = 18, WORD_BYTES = 16 };
static const double most = 9007199254740992; /* 2^53: whole numbers up to it are exact */

/* clang-format off */
static const struct unit {
    const char *name;  /* as it is shown */
    const char *plural;
    double ms;
    const char *words[6]; /* as it is written */
} units[] = {
    {"ms",  "milliseconds", 1,       {"ms", "msec", "msecs", "millisecond", "milliseconds"}},
    {"s",   "seconds",      1000,    {"s", "sec", "secs", "second", "seconds"}},
    {"min", "minutes",      60000,   {"min", "mins", "minute", "minutes"}},
    {"h",   "hours",        3600000, {"h", "hr", "hrs", "hour", "hours"}},
    {"d",   "days",         86400000, {"d", "day", "days"}},
};
/* clang-format on */

struct quantity {
    double value, half_step; /* half of what its last digit stands for */
    const struct unit *unit; /* NULL: none of time */
    bool is_total;           /* the words before it say so */
    bool is_mean;            /* the words on one of its sides do */
};

/** One thousands separator between digits: comma, apostrophe, a space of some width. Its length. */
static size_t separator(const char *s)
{
    static const char *const all[] = {",",           "'", " ", "_", "\xC2\xA0", "\xE2\x80\xAF",
                                      "\xE2\x80\x89"};

    for (size_t i = 0; i < LEN(all); i++) {
        size_t n = strlen(all[i]);
        if (strncmp(s, all[i], n) != 0)
            continue;
        const char *d = s + n;
        bool is_three = strspn(d, "0123456789") == 3;
        return is_three ? n : 0;
    }
    return 0;
}

/** The number at *s; *s is after it afterwards. */
static bool take_number(const char **s, struct quantity *q)
{
    AUTO(buf_fini) struct buf digits = {0};
    const char *p = *s;
    int n_fraction = 0;

    for (size_t n; isdigit((unsigned char)*p) || (n = separator(p)) > 0;) {
        if (isdigit((unsigned char)*p))
            buf_addc(&digits, *p++);
        else
            p += n;
    }
    if (*p == '.' && isdigit((unsigned char)p[1])) {
        buf_addc(&digits, *p++);
        for (; isdigit((unsigned char)*p); n_fraction++)
            buf_addc(&digits, *p++);
    }
    *s = p;
    q->half_step = .5 * pow(10, -n_fraction);
    return digits.len <= DIGITS_MOST && text_num(buf_str(&digits), &q->value, NULL) == ERR_OK;
}

static const struct unit *unit_at(const char *s)
{
    char word[WORD_BYTES] = {0};
    size_t n = 0;

    s += strspn(s, " \t");
    if (strncmp(s, "\xC2\xA0", 2) == 0)
        s += 2;
    while (isalpha((unsigned char)s[n]) && n < WORD_BYTES - 1) {
        word[n] = s[n];
        n++;
    }
    if (isalnum((unsigned char)s[n]))
        return NULL;
    for (size_t i = 0; i < LEN(units); i++)
        for (size_t k = 0; k < LEN(units[i].words) && units[i].words[k]; k++)
            if (strcasecmp(word, units[i].words[k]) == 0)
                return &units[i];
    return NULL;
}

static bool speaks_of(const char *s, const char *end, const char *const *words)
{
    for (; s < end; s++)
        for (const char *const *w = words; *w; w++)
            if (strncasecmp(s, *w, strlen(*w)) == 0)
                return true;
    return false;
}

/** Where the next number begins that is no part of a word, or the end. */
static const char *next_number(const char *start, const char *s)
{
    for (; *s; s++) {
        bool is_part = s > start && (isalnum((unsigned char)s[-1]) || s[-1] == '_' || s[-1] == '.');
        if (isdigit((unsigned char)*s) && !is_part)
            break;
    }
    return s;
}

/** Whether a minus sign stands before the number at `s`; a hyphen of words or of a range is none.
 */
static bool is_negative(const char *start, const char *s)
{
    static const char *const signs[] = {"-", "\xE2\x88\x92"};

    for (size_t i = 0; i < LEN(signs); i++) {
        size_t n = strlen(signs[i]);
        if ((size_t)(s - start) < n || memcmp(s - n, signs[i], n) != 0)
            continue;
        const char *sign = s - n;
        return sign == start || !(isalnum((unsigned char)sign[-1]) || sign[-1] == '-');
    }
    return false;
}

static enum err_code check_size(const struct total_claim *c, const struct quantity *total,
                                struct err *e)
{
    if (c->count <= most && c->count * c->mean_ms <= most && total->value * total->unit->ms <= most)
        return ERR_OK;
    return err_set(
        e, ERR_INVALID,
        "a count, or a total in ms, is over the limit of 2^53 (some 9,007,199,254,740 s)");
}

static void judge(struct total_claim *c, const struct quantity *mean, const struct quantity *total)
{
    double slack = c->count * mean->half_step * mean->unit->ms;

    c->total_ms = c->count * c->mean_ms;
    for (size_t i = 0; i < LEN(units); i++) {
        double off = fabs(total->value * units[i].ms - c->total_ms);
        if (off > slack + total->half_step * units[i].ms)
            continue;
        c->agrees |= &units[i] == total->unit;
        if (!c->looks_like)
            c->looks_like = units[i].plural;
    }
    if (c->agrees)
        c->looks_like = NULL;
}

enum err_code total_claim_read(const char *text, struct total_claim *out, struct err *e)
{
    static const char *const total_words[] = {"=", "total", "sum", NULL};
    static const char *const mean_words[] = {"mean", "averag", "each", NULL};
    struct quantity count = {.value = 0}, times[2] = {{.value = 0}, {.value = 0}};
    size_t n_counts = 0, n_times = 0;

    for (const char *before = text, *s = next_number(text, text); *s; s = next_number(text, s)) {
        if (is_negative(text, s))
            return err_set(e, ERR_INVALID,
                           "\"-%.20s\" begins below zero, which no count and no "
                           "time is",
                           s);
        struct quantity q = {.is_total = speaks_of(before, s, total_words),
                             .is_mean = speaks_of(before, s, mean_words)};
        if (!take_number(&s, &q))
            return err_set(e, ERR_INVALID, "a number has too many digits");
        q.unit = unit_at(s);
        q.is_mean |= speaks_of(s, s + strcspn(s, ",;.0123456789"), mean_words);
        before = s;
        if (!q.unit)
            count = n_counts++ ? count : q;
        else if (n_times++ < LEN(times))
            times[n_times - 1] = q;
    }
    if (n_counts != 1 || n_times != LEN(times)) {
        err_set(e, ERR_INVALID, "\"%.100s\" has %zu counts and %zu times, not one and two", text,
                n_counts, n_times);
        return err_hint(e, "Write it as \"174,993 x 143 ms = 417 s\": how often, the mean, the "
                           "total; times with a unit.");
    }
    size_t total = times[0].is_total && !times[1].is_total ? 0 : 1;
    if (times[0].is_mean != times[1].is_mean)
        total = times[0].is_mean ? 1 : 0;
    struct total_claim c = {.count = count.value,
                            .mean_ms = times[1 - total].value * times[1 - total].unit->ms,
                            .claimed = times[total].value,
                            .claimed_unit = times[total].unit->name,
                            .claimed_name = times[total].unit->plural};
    if (check_size(&c, &times[total], e))
        return ERR_INVALID;
    judge(&c, &times[1 - total], &times[total]);
    *out = c;
    return ERR_OK;
}
