/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/perf_samples.h"
#include <stdbool.h>
#include <string.h>

enum { DIGITS_MOST = 18 };

struct text {
    const char *s;
    size_t n;
};

/** Up to the mark, or all; *rest is what follows it. */
static struct text until(struct text from, char mark, struct text *rest)
{
    const char *at = from.n ? memchr(from.s, mark, from.n) : NULL;
    size_t n = at ? (size_t)(at - from.s) : from.n;

    *rest = at ? (struct text){at + 1, from.n - n - 1} : (struct text){from.s + from.n, 0};
    return (struct text){from.s, n};
}

/** Without spaces at either end. */
static struct text trimmed(struct text t)
{
    while (t.n > 0 && *t.s == ' ')
        t = (struct text){t.s + 1, t.n - 1};
    while (t.n > 0 && t.s[t.n - 1] == ' ')
        t.n--;
    return t;
}

static bool number_of(struct text t, uint64_t *out)
{
    uint64_t value = 0;

    t = trimmed(t);
    if (t.n == 0 || t.n > DIGITS_MOST)
        return false;
    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] < '0' || t.s[i] > '9')
            return false;
        value = 10 * value + (uint64_t)(t.s[i] - '0');
    }
    *out = value;
    return value > 0;
}

/** "[.] words_index": the mark says user or kernel. */
static struct text symbol_of(struct text t)
{
    t = trimmed(t);
    if (t.n > 3 && t.s[0] == '[' && t.s[2] == ']')
        t = trimmed((struct text){t.s + 3, t.n - 3});
    return t;
}

static size_t cut(size_t n)
{
    return n < PERF_NAME_BYTES ? n : PERF_NAME_BYTES;
}

/** " 40         |notes               |[.] words_index" */
static bool read_line(struct text line, struct perf_sample *out)
{
    struct text number = until(line, '|', &line);
    struct text object = trimmed(until(line, '|', &line));
    struct text symbol = symbol_of(line);

    if (!number_of(number, &out->n) || object.n == 0 || symbol.n == 0 ||
        memchr(line.s, '\0', line.n) || memchr(object.s, '\0', object.n))
        return false;
    out->object = object.s;
    out->object_bytes = cut(object.n);
    out->symbol = symbol.s;
    out->symbol_bytes = cut(symbol.n);
    return true;
}

void perf_samples_read(const char *text, size_t n,
                       void (*seen)(void *self, const struct perf_sample *sample), void *self)
{
    struct text rest = {text, n};

    while (rest.n > 0) {
        struct text line = until(rest, '\n', &rest);
        struct perf_sample sample;
        if (read_line(line, &sample))
            seen(self, &sample);
    }
}
