/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/build_id.h"
#include "base/mem.h"
#include <string.h>

enum { DIGITS_DAY = 8, DIGITS_HOUR = 10, DIGITS_ALL = 14, YEAR_LEAST = 1990, YEAR_MOST = 2199 };

const struct stretch stretch_all = {0, UINT64_MAX};

/** The number that `n` digits are; false if one is none. */
static bool number_of(const char *s, size_t n, uint64_t *out)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = 10 * v + (uint64_t)(s[i] - '0');
    }
    *out = v;
    return true;
}

static bool is_day(uint64_t ymd)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t year = ymd / 10000, month = ymd / 100 % 100, day = ymd % 100;
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    if (year < YEAR_LEAST || year > YEAR_MOST || month < 1 || month > 12 || day < 1)
        return false;
    return day <= days[month - 1] + (month == 2 && is_leap ? 1u : 0u);
}

stamp build_id_stamp(struct span id)
{
    uint64_t v = 0;

    if ((id.n != DIGITS_ALL && id.n != DIGITS_HOUR) || !number_of(id.s, id.n, &v))
        return 0;
    if (id.n == DIGITS_HOUR)
        v *= 10000;
    bool is_time = v / 10000 % 100 < 24 && v / 100 % 100 < 60 && v % 100 < 61; /* a leap second */
    return is_time && is_day(v / 1000000) ? v : 0;
}

stamp day_stamp(struct span date)
{
    uint64_t v = 0, month = 0, day = 0;
    const char *s = date.s;

    if (date.n >= 10 && s[4] == '-' && s[7] == '-') {
        if (!number_of(s, 4, &v) || !number_of(s + 5, 2, &month) || !number_of(s + 8, 2, &day))
            return 0;
        v = v * 10000 + month * 100 + day;
        if (date.n > 10 && s[10] >= '0' && s[10] <= '9')
            return 0;
    } else if ((date.n != DIGITS_DAY && date.n != DIGITS_ALL) || !number_of(s, DIGITS_DAY, &v)) {
        return 0;
    }
    return is_day(v) ? v * 1000000 : 0;
}

void stamp_day(stamp t, char out[9])
{
    uint64_t v = t / 1000000;

    for (int i = DIGITS_DAY - 1; i >= 0; i--) {
        out[i] = (char)('0' + v % 10);
        v /= 10;
    }
    out[DIGITS_DAY] = '\0';
}

/* Stretches */

/** One end: where it begins, and where it ends. */
static bool read_end(const char *s, size_t n, struct stretch *out)
{
    struct span text = {s, n};
    stamp day = n == DIGITS_DAY || n == DIGITS_HOUR ? day_stamp(text) : 0;
    stamp build = build_id_stamp(text);

    if (day) {
        *out = (struct stretch){day, day + 235999};
        return true;
    }
    *out = (struct stretch){build, n == DIGITS_HOUR ? build + 9999 : build};
    return build != 0;
}

enum err_code stretch_parse(const char *text, struct stretch *out, struct err *e)
{
    const char *dots = strstr(text, "..");
    size_t n_from = dots ? (size_t)(dots - text) : strlen(text);
    const char *to = dots ? dots + 2 : text;
    struct stretch from = stretch_all, until = stretch_all;

    bool is_given = n_from > 0 || *to;
    if (!is_given || (n_from > 0 && !read_end(text, n_from, &from)) ||
        (*to && !read_end(to, strlen(to), &until))) {
        err_set(e, ERR_INVALID, "expected FROM..TO, got \"%.60s\"", text);
        return err_hint(e, "Each end is a day (20130623 or 2013-06-23) or a build ID of 10 or 14 "
                           "digits; either may be left out, as in ..20130622.");
    }
    if (from.from > until.to)
        return err_set(e, ERR_INVALID, "%.60s ends before it begins", text);
    *out = (struct stretch){from.from, until.to};
    return ERR_OK;
}
