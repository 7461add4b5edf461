/* SPDX-License-Identifier: Apache-2.0 */
/** How text for people looks: colour or none, bars, wrapped paragraphs, aligned columns. */
#ifndef REPORT_STYLE_H
#define REPORT_STYLE_H

#include "base/buf.h"
#include <stdbool.h>

struct style {
    bool has_colour;
    bool is_utf8; /* else bars and dots are drawn in ASCII */
    size_t width; /* columns; 0: 80 */
};

enum ink { INK_PLAIN, INK_STRONG, INK_FAINT, INK_GOOD, INK_BAD, INK_WARN, INK_COUNT };

/** Columns to write in: what the style says, within reason. */
size_t style_width(const struct style *s);
/** Starts and ends a stretch of colour; nothing without colour. */
void style_ink(struct buf *out, const struct style *s, enum ink ink);
void style_plain(struct buf *out, const struct style *s);
/** Appends `text` in one colour. `text` is ours or went through text_clean. */
void style_add(struct buf *out, const struct style *s, enum ink ink, const char *text);
/** Appends hostile text, cleaned and cut to `max_bytes`. */
void style_hostile(struct buf *out, const char *text, size_t max_bytes);
/** A bar of at most `n_columns` for a share of 0 to 1, padded with spaces to that width. */
void style_bar(struct buf *out, const struct style *s, double share, size_t n_columns);
/** Hostile text as a paragraph: cleaned, wrapped, each line indented; ends in a newline. */
void style_paragraph(struct buf *out, const struct style *s, size_t indent, const char *text);
/** "  label       " padded so that values stand in one column. */
void style_label(struct buf *out, const struct style *s, const char *label);

#endif
