/* SPDX-License-Identifier: Apache-2.0 */
/** A growing run of bytes. Always NUL-terminated once touched; the NUL is not counted. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/auto.h"

struct buf {
    char *data; /* NULL while empty */
    size_t len;
    size_t cap;
};

void buf_fini(struct buf *b); /* leaves it empty and usable */
void buf_clear(struct buf *b);
void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF(2, 3);
/** Makes room for `n` more bytes and returns where they go; count them in b->len afterwards. */
char *buf_room(struct buf *b, size_t n);
/** Drops the first `n` bytes. */
void buf_drop(struct buf *b, size_t n);
/** The contents, never NULL. */
const char *buf_str(const struct buf *b);
/** Hands the string out (never NULL); the buffer is empty afterwards. Caller frees with mem_free. */
char *buf_take(struct buf *b);

DEFINE_AUTO_FINI(struct buf, buf_fini)

#endif
