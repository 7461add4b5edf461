/* SPDX-License-Identifier: Apache-2.0 */
/** SHA-256, and the two kinds of random numbers: those that must be secret, those that must repeat. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/err.h"
#include <stdint.h>

struct hash;                       /* a SHA-256 under way */
struct digest {
    char hex[65];
};

struct hash *hash_new(void);
void hash_add(struct hash *h, const void *bytes, size_t n);
/** Frees `h`. */
struct digest hash_end(struct hash *h);
struct digest hash_of(const void *bytes, size_t n);
void hash_free(struct hash *h);
DEFINE_AUTO(struct hash, hash_free)

/** From the kernel; for tokens and ids. */
void random_bytes(void *out, size_t n);
/** `n_bytes` of randomness as hex, NUL-terminated; `out` holds 2 * n_bytes + 1. */
void random_hex(char *out, size_t n_bytes);

/** SplitMix64: a good mixer of 64 bits; for seeds that must repeat. */
uint64_t mix64(uint64_t x);

#endif
