/* SPDX-License-Identifier: Apache-2.0 */
#include "report/style.h"
#include "base/text.h"
#include <string.h>

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 40,
    WIDTH_MOST = 100,
    LABEL_COLUMNS = 12,
    TEXT_MOST = 4000
};

/* clang-format off */
static const char *const inks[INK_COUNT] = {
    [INK_PLAIN]  = "\033[0m",
    [INK_STRONG] = "\033[1m",
    [INK_FAINT]  = "\033[2m",
    [INK_GOOD]   = "\033[32m",
    [INK_BAD]    = "\033[1;31m",
    [INK_WARN]   = "\033[33m",
};
/* clang-format on */

size_t style_width(const struct style *s)
{
    if (s->width == 0)
        return WIDTH_DEFAULT;
    if (s->width < WIDTH_LEAST)
        return WIDTH_LEAST;
    return s->width > WIDTH_MOST ? WIDTH_MOST : s->width;
}

void style_ink(struct buf *out, const struct style *s, enum ink ink)
{
    if (s->has_colour)
        buf_adds(out, inks[ink]);
}

void style_plain(struct buf *out, const struct style *s)
{
    style_ink(out, s, INK_PLAIN);
}

void style_add(struct buf *out, const struct style *s, enum ink ink, const char *text)
{
    style_ink(out, s, ink);
    buf_adds(out, text);
    style_plain(out, s);
}

void style_hostile(struct buf *out, const char *text, size_t max_bytes)
{
    if (text)
        text_clean(out, text, strlen(text), max_bytes);
}

/* Eighths of a column, so that a short bar still tells 1 % from 5 %. */
static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

void style_bar(struct buf *out, const struct style *s, double share, size_t n_columns)
{
    if (!(share > 0))
        share = 0;
    if (share > 1)
        share = 1;
    size_t n_eighths = (size_t)(share * 8.0 * (double)n_columns + .5);
    size_t full = n_eighths / 8;
    size_t rest = n_eighths % 8;
    size_t used = full;

    for (size_t i = 0; i < full; i++)
        buf_adds(out, s->is_utf8 ? "█" : "#");
    if (s->is_utf8 && rest > 0) {
        buf_adds(out, eighths[rest]);
        used++;
    } else if (!s->is_utf8 && rest >= 4) {
        buf_addc(out, '#');
        used++;
    }
    for (; used < n_columns; used++)
        buf_addc(out, ' ');
}

static size_t columns_of(const char *s, size_t n)
{
    size_t columns = 0;
    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)s[i] & 0xc0) != 0x80;
    return columns;
}

static void indent_by(struct buf *out, size_t n)
{
    while (n-- > 0)
        buf_addc(out, ' ');
}

void style_paragraph(struct buf *out, const struct style *s, size_t indent, const char *text)
{
    AUTO(buf_fini) struct buf clean = {0};
    size_t width = style_width(s);
    size_t column = 0;

    style_hostile(&clean, text, TEXT_MOST);
    for (const char *at = buf_str(&clean); *at;) {
        size_t n = strcspn(at, " ");
        size_t columns = columns_of(at, n);
        if (n > 0) {
            if (column > 0 && column + 1 + columns > width) {
                buf_addc(out, '\n');
                column = 0;
            }
            if (column == 0) {
                indent_by(out, indent);
                column = indent;
            } else {
                buf_addc(out, ' ');
                column++;
            }
            buf_add(out, at, n);
            column += columns;
        }
        at += n + (at[n] == ' ');
    }
    buf_addc(out, '\n');
}

void style_label(struct buf *out, const struct style *s, const char *label)
{
    size_t n = strlen(label);

    buf_adds(out, "  ");
    if (n > 0)
        style_add(out, s, INK_FAINT, label);
    indent_by(out, n < LABEL_COLUMNS ? LABEL_COLUMNS - n : 1);
}
