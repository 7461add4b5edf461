/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/strace_sum.h"
#include <string.h>

enum { COLUMNS_MOST = 12 };

struct words {
    struct strace_text items[COLUMNS_MOST];
    int n;
};

/** False if there are too many. */
static bool split(const char *p, const char *end, struct words *w)
{
    w->n = 0;
    while (p < end) {
        const char *from = p;
        while (p < end && *p != ' ')
            p++;
        if (p > from && w->n == COLUMNS_MOST)
            return false;
        if (p > from)
            w->items[w->n++] = (struct strace_text){from, (size_t)(p - from)};
        p += p < end;
    }
    return true;
}

static bool is(struct strace_text t, const char *word)
{
    return strlen(word) == t.n && memcmp(t.s, word, t.n) == 0;
}

static bool has_word(const struct words *w, const char *word)
{
    for (int i = 0; i < w->n; i++)
        if (is(w->items[i], word))
            return true;
    return false;
}

static bool read_head(struct strace_sums *s, const struct words *w)
{
    struct strace_sums head = {
        .state = STRACE_SUMS_HEAD, .name = -1, .calls = -1, .errors = -1, .seconds = -1};

    for (int i = 0; i < w->n; i++) {
        if (is(w->items[i], "%")) /* "% time" is one column */
            continue;
        int column = head.n_columns++;
        if (is(w->items[i], "syscall"))
            head.name = column;
        else if (is(w->items[i], "calls"))
            head.calls = column;
        else if (is(w->items[i], "errors"))
            head.errors = column;
        else if (is(w->items[i], "seconds"))
            head.seconds = column;
    }
    if (head.name < 0 || head.calls < 0)
        return false;
    *s = head;
    return true;
}

static bool is_rule(const struct words *w)
{
    for (int i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->items[i].n; k++)
            if (w->items[i].s[k] != '-')
                return false;
    return w->n > 0;
}

static bool read_count(struct strace_text t, uint64_t *out)
{
    uint64_t v = 0;

    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] < '0' || t.s[i] > '9' || v > (UINT64_MAX - 9) / 10)
            return false;
        v = 10 * v + (uint64_t)(t.s[i] - '0');
    }
    *out = v;
    return t.n > 0;
}

/** "0.229603" */
static bool read_seconds(struct strace_text t, int64_t *ns)
{
    const char *dot = memchr(t.s, '.', t.n);
    struct strace_text whole = {t.s, dot ? (size_t)(dot - t.s) : t.n};
    uint64_t s = 0, part = 0, scale = 1000000000;

    if (!read_count(whole, &s) || s > INT64_C(9000000000))
        return false;
    for (const char *p = dot ? dot + 1 : t.s + t.n; p < t.s + t.n && scale > 1; p++) {
        if (*p < '0' || *p > '9')
            return false;
        part = 10 * part + (uint64_t)(*p - '0');
        scale /= 10;
    }
    *ns = (int64_t)(s * 1000000000 + part * scale);
    return true;
}

/** No errors are written as no number at all, so that what follows stands one word earlier. */
static bool read_row(const struct strace_sums *s, const struct words *w, struct strace_sum *row)
{
    int n_missing = s->n_columns - w->n;

    *row = (struct strace_sum){.ns = -1};
    if (n_missing < 0 || n_missing > (s->errors >= 0))
        return false;
    for (int column = 0, i = 0; column < s->n_columns; column++) {
        if (column == s->errors && n_missing)
            continue;
        struct strace_text t = w->items[i++];
        if (column == s->name)
            row->name = t;
        if (column == s->calls && !read_count(t, &row->calls))
            return false;
        if (column == s->errors && !read_count(t, &row->errors))
            return false;
        if (column == s->seconds && !read_seconds(t, &row->ns))
            return false;
    }
    return true;
}

enum strace_sums_line strace_sums_read(struct strace_sums *s, const char *p, const char *end,
                                       struct strace_sum *row)
{
    static const char other_mode[] = "System call usage summary for ";
    struct words w;

    if ((size_t)(end - p) >= sizeof(other_mode) - 1 &&
        memcmp(p, other_mode, sizeof(other_mode) - 1) == 0)
        return STRACE_SUMS_FRAME;
    if (!split(p, end, &w))
        return STRACE_SUMS_NOT;
    if (read_head(s, &w))
        return STRACE_SUMS_FRAME;
    if (s->state == STRACE_SUMS_NONE)
        return STRACE_SUMS_NOT;
    if (is_rule(&w)) {
        s->state = s->state == STRACE_SUMS_HEAD ? STRACE_SUMS_ROWS : STRACE_SUMS_TOTAL;
        return STRACE_SUMS_FRAME;
    }
    if (s->state == STRACE_SUMS_ROWS && read_row(s, &w, row))
        return STRACE_SUMS_ROW;
    bool is_total = s->state == STRACE_SUMS_TOTAL && has_word(&w, "total");
    s->state = STRACE_SUMS_NONE;
    return is_total ? STRACE_SUMS_FRAME : STRACE_SUMS_NOT;
}
