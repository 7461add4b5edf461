/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void out_of_memory(void)
{
    static const char text[] = "out of memory\n";

    if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
        abort();
    abort();
}

void *mem_alloc(size_t bytes)
{
    return mem_array(bytes, 1);
}

void *mem_array(size_t n, size_t each_bytes)
{
    void *p = n && each_bytes ? calloc(n, each_bytes) : calloc(1, 1);

    if (!p)
        out_of_memory();
    return p;
}

void *mem_resize(void *p, size_t n, size_t each_bytes)
{
    void *q = n && each_bytes ? reallocarray(p, n, each_bytes) : realloc(p, 1);

    if (!q)
        out_of_memory();
    return q;
}

char *mem_dup(const char *s)
{
    return s ? mem_dup_n(s, strlen(s)) : mem_alloc(1);
}

char *mem_dup_n(const char *s, size_t n)
{
    char *copy = mem_array(n + 1, 1);

    if (n)
        memcpy(copy, s, n);
    return copy;
}

char *mem_printf(const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        out_of_memory();
    return text;
}

void mem_free(void *p)
{
    free(p);
}
