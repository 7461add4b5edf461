/* SPDX-License-Identifier: Apache-2.0 */
/** Strings from outside: names, messages and logs of a repository are hostile text. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>

/** Length of the valid UTF-8 sequence (RFC 3629) at `s`, at most `n` bytes; 0 if there is none. */
size_t text_utf8(const char *s, size_t n, uint32_t *code_point);
/** Appends `s` with each byte that is not part of valid UTF-8 replaced by U+FFFD. */
void text_repair(struct buf *out, const char *s, size_t n);

/** Appends `s` with control characters (escape sequences, newlines, bidi overrides) shown as
 *  U+FFFD and invalid UTF-8 repaired, cut to `max_bytes` with an ellipsis. Safe for a terminal. */
void text_clean(struct buf *out, const char *s, size_t n, size_t max_bytes);
/** Appends `s` in double quotes with backslash escapes. For logs. */
void text_quote(struct buf *out, const char *s);
/** Appends `s` so that /bin/sh reads it back as one word. For "what to type next". */
void text_shell(struct buf *out, const char *s);

/** Number of edits between two short strings. For "did you mean". */
size_t text_distance(const char *a, const char *b);
/** The nearest of `n` names if near enough to be meant, else NULL. */
const char *text_nearest(const char *s, const char *const *names, size_t n);

/** Shell glob with ** for any folders; path separators matter. "src/" matches all below src. */
bool text_glob(const char *pattern, const char *path);

MUST_CHECK enum err_code text_int(const char *s, int64_t low, int64_t high, int64_t *out, struct err *e);
/** A finite number and nothing else around it (white space at the ends is fine). */
MUST_CHECK enum err_code text_num(const char *s, double *out, struct err *e);
/** "512", "64K", "16M", "4G": bytes, powers of 1024. */
MUST_CHECK enum err_code text_size(const char *s, int64_t *bytes, struct err *e);

#endif
