/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/clip.h"
#include "base/text.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void clip_init(struct clip *c, size_t max_bytes)
{
    *c = (struct clip){.max_bytes = max_bytes};
}

void clip_fini(struct clip *c)
{
    buf_fini(&c->head);
    buf_fini(&c->tail);
}

void clip_add(struct clip *c, const void *bytes, size_t n)
{
    size_t half = c->max_bytes / 2;
    const char *from = bytes;

    c->n_seen += n;
    if (c->head.len < half) {
        size_t n_head = n < half - c->head.len ? n : half - c->head.len;
        buf_add(&c->head, from, n_head);
        from += n_head;
        n -= n_head;
    }
    if (n > half) { /* only the end of this piece can be kept */
        from += n - half;
        n = half;
    }
    if (n == 0)
        return;
    buf_add(&c->tail, from, n);
    if (c->tail.len > 2 * half)
        buf_drop(&c->tail, c->tail.len - half);
}

void clip_printf(struct clip *c, const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n > 0)
        clip_add(c, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

/** How much of the tail counts. */
static size_t tail_kept(const struct clip *c)
{
    size_t half = c->max_bytes / 2;
    return c->tail.len < half ? c->tail.len : half;
}

bool clip_is_cut(const struct clip *c)
{
    return c->n_seen > c->head.len + tail_kept(c);
}

static size_t cut_mark(const struct clip *c, char *mark, size_t size)
{
    if (!clip_is_cut(c))
        return 0;
    int n = snprintf(mark, size, "\n[... %" PRIu64 " bytes left out ...]\n",
                     c->n_seen - c->head.len - tail_kept(c));
    return n > 0 ? (size_t)n : 0;
}

void clip_render(const struct clip *c, struct buf *out)
{
    char mark[64];
    size_t n_mark = cut_mark(c, mark, sizeof(mark));
    size_t n_tail = tail_kept(c);

    if (c->head.len)
        buf_add(out, c->head.data, c->head.len);
    if (n_mark)
        buf_add(out, mark, n_mark);
    if (n_tail)
        buf_add(out, c->tail.data + c->tail.len - n_tail, n_tail);
}

void clip_pour(const struct clip *c, struct clip *into)
{
    char mark[64];
    size_t n_mark = cut_mark(c, mark, sizeof(mark));
    size_t n_tail = tail_kept(c);
    size_t half = into->max_bytes / 2;

    if (c->head.len)
        clip_add(into, c->head.data, c->head.len);
    /* A mark between what the other's head and its tail can hold is cut out itself; the cut that
     * is left then counts for both. */
    if (n_mark && into->head.len == half && n_tail >= half)
        into->n_seen += c->n_seen - c->head.len - n_tail;
    else
        clip_add(into, mark, n_mark);
    if (n_tail)
        clip_add(into, c->tail.data + c->tail.len - n_tail, n_tail);
}

/** The last line with anything in it among `n` bytes; false if there is none. */
static bool last_line(const char *bytes, size_t n, size_t max_bytes, struct buf *out)
{
    while (n > 0 && (unsigned char)bytes[n - 1] <= ' ')
        n--;
    if (n == 0)
        return false;
    size_t at = n;
    while (at > 0 && bytes[at - 1] != '\n')
        at--;
    while ((unsigned char)bytes[at] <= ' ')
        at++;
    text_clean(out, bytes + at, n - at, max_bytes);
    return true;
}

void clip_last_line(const struct clip *c, size_t max_bytes, struct buf *out)
{
    size_t n_tail = tail_kept(c);

    if (n_tail && last_line(c->tail.data + c->tail.len - n_tail, n_tail, max_bytes, out))
        return;
    if (c->head.len)
        last_line(c->head.data, c->head.len, max_bytes, out);
}
