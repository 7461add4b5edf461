/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Allocation that does not fail.
 *
 * Every state worth keeping is in the store and any instruction may be our last (kill -9 is
 * tested), so running out of memory ends the program with a message instead of unwinding
 * through paths nobody can exercise. Sizes that come from outside are checked against a stated
 * limit before they get here.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/auto.h"

void *mem_alloc(size_t bytes) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *mem_array(size_t n, size_t each_bytes) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *mem_resize(void *p, size_t n, size_t each_bytes) __attribute__((returns_nonnull));
char *mem_dup(const char *s) __attribute__((malloc, returns_nonnull));       /* "" if NULL */
char *mem_dup_n(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *mem_printf(const char *format, ...) PRINTF(1, 2) __attribute__((returns_nonnull));
void mem_free(void *p);

DEFINE_AUTO(char, mem_free)

#endif
