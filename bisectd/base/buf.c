/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_CAP = 64 };

void buf_fini(struct buf *b)
{
    mem_free(b->data);
    *b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

char *buf_room(struct buf *b, size_t n)
{
    assert(n < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
    size_t want = b->len + n + 1;
    if (want > b->cap) {
        size_t cap = b->cap * 2 > LEAST_CAP ? b->cap * 2 : LEAST_CAP;
        b->cap = want > cap ? want : cap;
        b->data = mem_resize(b->data, b->cap, 1);
    }
    b->data[b->len] = '\0';
    b->data[b->len + n] = '\0';
    return b->data + b->len;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    char *to = buf_room(b, n);

    if (n)
        memcpy(to, bytes, n);
    b->len += n;
}

void buf_adds(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert(n >= 0);

    char *to = buf_room(b, (size_t)n);
    va_start(args, format);
    vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    b->len += (size_t)n;
}

void buf_drop(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0)
        return;
    memmove(b->data, b->data + n, b->len - n);
    b->len -= n;
    b->data[b->len] = '\0';
}

const char *buf_str(const struct buf *b)
{
    if (!b->data)
        return "";
    if (b->data[b->len] != '\0') /* bytes put into buf_room's place; there is room for the end */
        b->data[b->len] = '\0';
    return b->data;
}

char *buf_take(struct buf *b)
{
    buf_room(b, 0);
    char *s = TAKE(b->data);
    *b = (struct buf){0};
    return s;
}
