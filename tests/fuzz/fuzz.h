/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One target a file: it feeds any bytes to a parser of ours and asserts what must hold of every
 * answer. libFuzzer makes the bytes up; corpus.c reads them from a folder.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include "base/mem.h"
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/** Takes the first line off the input, as a string of its own (NUL bytes end it). */
static inline char *fuzz_line(const uint8_t **bytes, size_t *n)
{
    const uint8_t *end = *n ? memchr(*bytes, '\n', *n) : NULL;
    size_t len = end ? (size_t)(end - *bytes) : *n;
    char *line = mem_dup_n((const char *)*bytes, len);
    size_t used = len + (end != NULL);

    *bytes += used;
    *n -= used;
    return line;
}

/** The input in a block of exactly its size, so that the sanitizer sees a byte read past its end.
 */
static inline char *fuzz_exact(const uint8_t *bytes, size_t n)
{
    char *copy = mem_alloc(n);

    if (n)
        memcpy(copy, bytes, n);
    return copy;
}

#endif
