/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "base/mem.h"
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */
#define ELLIPSIS    "\xE2\x80\xA6" /* U+2026 */

/* UTF-8 */

size_t text_utf8(const char *s, size_t n, uint32_t *code_point)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *b = (const unsigned char *)s;

    if (n == 0)
        return 0;
    if (b[0] < 0x80) {
        *code_point = b[0];
        return 1;
    }
    size_t len = b[0] >= 0xF0 ? 4 : b[0] >= 0xE0 ? 3 : b[0] >= 0xC0 ? 2 : 0;
    if (len == 0 || len > n || b[0] > 0xF4)
        return 0;
    uint32_t c = b[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
        c = c << 6 | (b[i] & 0x3F);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 0;
    *code_point = c;
    return len;
}

void text_repair(struct buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t len = text_utf8(s + i, n - i, &c);
        if (len > 0)
            buf_add(out, s + i, len);
        else
            buf_adds(out, REPLACEMENT);
        i += len ? len : 1;
    }
}

/** Code points that act on the terminal or reorder what is around them, instead of showing. */
static bool is_hidden(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } rows[] = {
        {0x00, 0x1F},       {0x7F, 0x9F},     /* controls */
        {0x061C, 0x061C},   {0x200E, 0x200F}, /* direction marks */
        {0x2028, 0x202E},                     /* line separators, embeddings, overrides */
        {0x2066, 0x2069},                     /* isolates */
        {0xFEFF, 0xFEFF},                     /* byte order mark */
        {0xFFF9, 0xFFFB},                     /* interlinear annotation */
        {0xE0000, 0xE007F},                   /* tags */
    };
    for (size_t i = 0; i < LEN(rows); i++)
        if (c >= rows[i].first && c <= rows[i].last)
            return true;
    return false;
}

void text_clean(struct buf *out, const char *s, size_t n, size_t max_bytes)
{
    const size_t start = out->len;
    const size_t dots = strlen(ELLIPSIS);
    size_t cut = start; /* where the ellipsis goes if the rest does not fit */

    for (size_t i = 0; i < n;) {
        uint32_t c = 0;
        size_t len = text_utf8(s + i, n - i, &c);
        bool is_shown = len > 0 && !is_hidden(c);
        const char *piece = is_shown ? s + i : REPLACEMENT;
        size_t piece_len = is_shown ? len : strlen(REPLACEMENT);

        if (out->len - start + piece_len > max_bytes) {
            out->len = cut;
            if (max_bytes >= dots)
                buf_adds(out, ELLIPSIS);
            return;
        }
        buf_add(out, piece, piece_len);
        if (out->len - start + dots <= max_bytes)
            cut = out->len;
        i += len ? len : 1;
    }
}

void text_quote(struct buf *out, const char *s)
{
    buf_addc(out, '"');
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_adds(out, "\\n");
        else if (c == '\t')
            buf_adds(out, "\\t");
        else if (c < 0x20 || c == 0x7F)
            buf_printf(out, "\\x%02x", c);
        else
            buf_addc(out, *s);
    }
    buf_addc(out, '"');
}

void text_shell(struct buf *out, const char *s)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_@%+=:,./-";

    if (*s && s[strspn(s, safe)] == '\0') {
        buf_adds(out, s);
        return;
    }
    buf_addc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *s);
    }
    buf_addc(out, '\'');
}

/* Did you mean */

size_t text_distance(const char *a, const char *b)
{
    /* Levenshtein, one row at a time. */
    size_t n = strlen(b);
    size_t *row = mem_array(n + 1, sizeof(*row));

    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    size_t distance = row[n];
    mem_free(row);
    return distance;
}

const char *text_nearest(const char *s, const char *const *names, size_t n)
{
    enum { LONGEST = 100 }; /* nobody mistypes more, and the distance is quadratic */
    const char *best = NULL;
    size_t len = strlen(s);
    size_t allowed = 1 + len / 4; /* one slip, and one more every four letters */

    if (len == 0 || len > LONGEST)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = strlen(names[i]) <= LONGEST ? text_distance(s, names[i]) : LONGEST;
        if (d <= allowed && d < len) {
            best = names[i];
            allowed = d ? d - 1 : 0;
            if (d == 0)
                break;
        }
    }
    return best;
}

/* Globs */

/**
 * Matches a bracket expression at `p` (after the '[') against `c`. Returns what follows the
 * closing ']', or NULL if there is none and the '[' stands for itself.
 */
static const char *match_class(const char *p, char c, bool *is_match)
{
    bool is_negated = *p == '!' || *p == '^';
    bool found = false;
    const char *first = p += is_negated;

    for (; *p && (*p != ']' || p == first); p++) {
        char low = *p;
        char high = low;
        if (p[1] == '-' && p[2] && p[2] != ']') {
            high = p[2];
            p += 2;
        }
        found = found ||
                ((unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high);
    }
    if (*p != ']')
        return NULL;
    *is_match = found != is_negated && c != '/';
    return p + 1;
}

/** Matches one pattern element that stands for one character; NULL if it does not match. */
static const char *match_one(const char *p, char c)
{
    if (*p == '?')
        return c != '/' ? p + 1 : NULL;
    if (*p == '[') {
        bool is_match = false;
        const char *after = match_class(p + 1, c, &is_match);
        if (after)
            return is_match ? after : NULL;
    }
    if (*p == '\\' && p[1])
        p++;
    return *p == c ? p + 1 : NULL;
}

/**
 * Linear in stars: a mismatch only ever returns to the last "*" of the folder, or else to the last
 * "**", because an earlier star can do nothing a later one could not.
 */
static bool glob_match(const char *p, const char *s)
{
    const char *star_p = NULL, *star_s = NULL; /* after the last *, and where it was tried */
    const char *deep_p = NULL, *deep_s = NULL; /* the same for ** */

    for (;;) {
        if (p[0] == '*' && p[1] == '*') {
            p += strspn(p, "*");
            deep_p = p;
            deep_s = s;
            star_p = NULL;
            if (*p == '/') /* "**" and its slash may stand for no folder at all */
                p++;
            continue;
        }
        if (*p == '*') {
            star_p = ++p;
            star_s = s;
            continue;
        }
        if (*s == '\0' && *p == '\0')
            return true;
        const char *next = *p && *s ? match_one(p, *s) : NULL;
        if (next) {
            p = next;
            s++;
            continue;
        }
        if (star_p && *star_s && *star_s != '/') {
            p = star_p;
            s = ++star_s;
        } else if (deep_p && *deep_s) {
            p = deep_p;
            s = ++deep_s;
            star_p = NULL;
        } else {
            return false;
        }
    }
}

bool text_glob(const char *pattern, const char *path)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '/') {
        AUTO(mem_free) char *below = mem_printf("%s**", pattern);
        return glob_match(below, path);
    }
    return glob_match(pattern, path);
}

/* Numbers */

static const char space[] = " \t\r\n\v\f";

enum err_code text_int(const char *s, int64_t low, int64_t high, int64_t *out, struct err *e)
{
    char *end;
    size_t skip = *s == '-' || *s == '+';

    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (!isdigit((unsigned char)s[skip]) || *end)
        return err_set(e, ERR_INVALID, "\"%.40s\" is not a whole number", s);
    if (errno == ERANGE || v < low || v > high)
        return err_set(e, ERR_INVALID, "%.40s is not between %lld and %lld", s, (long long)low,
                       (long long)high);
    *out = v;
    return ERR_OK;
}

/** Length of a decimal number at `s`: no hex, no "inf", no "nan"; 0 if there is none. */
static size_t scan_decimal(const char *s)
{
    static const char digits[] = "0123456789";
    size_t i = *s == '-' || *s == '+';
    size_t whole = strspn(s + i, digits);
    size_t part = 0;

    i += whole;
    if (s[i] == '.') {
        part = strspn(s + i + 1, digits);
        i += 1 + part;
    }
    if (whole + part == 0)
        return 0;
    if (s[i] == 'e' || s[i] == 'E') {
        size_t sign = s[i + 1] == '-' || s[i + 1] == '+';
        size_t power = strspn(s + i + 1 + sign, digits);
        if (power > 0)
            i += 1 + sign + power;
    }
    return i;
}

enum err_code text_num(const char *s, double *out, struct err *e)
{
    const char *start = s + strspn(s, space);
    size_t n = scan_decimal(start);

    if (n == 0 || start[n + strspn(start + n, space)] != '\0')
        return err_set(e, ERR_INVALID, "\"%.40s\" is not a number", s);
    double v = strtod(start, NULL);
    if (!isfinite(v))
        return err_set(e, ERR_INVALID, "%.40s is too large for a number", start);
    *out = v;
    return ERR_OK;
}

enum err_code text_size(const char *s, int64_t *bytes, struct err *e)
{
    static const char suffixes[] = "KMGT";
    size_t n = strspn(s, "0123456789");
    const char *suffix = n && s[n] ? strchr(suffixes, s[n]) : NULL;
    int64_t v = 0;
    int64_t factor = suffix ? INT64_C(1) << (10 * (suffix - suffixes + 1)) : 1;

    if (n == 0 || s[n + (suffix != NULL)] != '\0')
        return err_set(e, ERR_INVALID, "\"%.40s\" is not a size; expected 512, 64K, 16M or 4G", s);
    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s[i] - '0', &v))
            return err_set(e, ERR_INVALID, "%.40s is too large for a size", s);
    if (__builtin_mul_overflow(v, factor, &v))
        return err_set(e, ERR_INVALID, "%.40s is too large for a size", s);
    *bytes = v;
    return ERR_OK;
}
