/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/piece.h"
#include "base/text.h"
#include <math.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_NUMBER = 512 };

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool piece_line(struct piece *rest, struct piece *line)
{
    if (rest->n == 0)
        return false;
    const char *end = memchr(rest->s, '\n', rest->n);
    *line = (struct piece){rest->s, end ? (size_t)(end - rest->s) : rest->n};
    size_t used = line->n + (end != NULL);
    *rest = (struct piece){rest->s + used, rest->n - used};
    if (line->n > 0 && line->s[line->n - 1] == '\r')
        line->n--;
    return true;
}

bool piece_part(struct piece *rest, char stop, struct piece *part)
{
    if (!rest->s)
        return false;
    const char *end = rest->n ? memchr(rest->s, stop, rest->n) : NULL;
    *part = (struct piece){rest->s, end ? (size_t)(end - rest->s) : rest->n};
    *rest = end ? (struct piece){end + 1, rest->n - part->n - 1} : (struct piece){NULL, 0};
    return true;
}

struct piece piece_trimmed(struct piece p)
{
    while (p.n > 0 && is_space(p.s[p.n - 1]))
        p.n--;
    while (p.n > 0 && is_space(*p.s)) {
        p.s++;
        p.n--;
    }
    return p;
}

struct piece piece_word(struct piece *rest)
{
    struct piece word = {rest->s, 0};

    while (word.n < rest->n && !is_space(word.s[word.n]))
        word.n++;
    *rest = piece_trimmed((struct piece){rest->s + word.n, rest->n - word.n});
    return word;
}

bool piece_is(struct piece p, const char *s)
{
    return strlen(s) == p.n && memcmp(p.s, s, p.n) == 0;
}

bool piece_starts(struct piece p, const char *s)
{
    size_t n = strlen(s);

    return n <= p.n && memcmp(p.s, s, n) == 0;
}

const char *piece_find(struct piece p, const char *s)
{
    return p.n ? memmem(p.s, p.n, s, strlen(s)) : NULL;
}

struct piece piece_from(struct piece p, const char *at)
{
    return (struct piece){at, p.n - (size_t)(at - p.s)};
}

/** As printf writes them: "nan", "-nan", "nan(0x1)", "inf", "-Infinity". */
static bool is_non_finite(const char *s, double *out)
{
    s += *s == '-' || *s == '+';
    if (strncasecmp(s, "nan", 3) == 0 && (s[3] == '\0' || s[3] == '('))
        *out = NAN;
    else if (strcasecmp(s, "inf") == 0 || strcasecmp(s, "infinity") == 0)
        *out = INFINITY;
    else
        return false;
    return true;
}

bool piece_number(struct piece p, double *out)
{
    char text[LONGEST_NUMBER + 1];

    if (p.n == 0 || p.n > LONGEST_NUMBER || memchr(p.s, '\0', p.n))
        return false;
    memcpy(text, p.s, p.n);
    text[p.n] = '\0';
    return is_non_finite(text, out) || text_num(text, out, NULL) == ERR_OK;
}
