/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sums by key: what `combine` and `reduce` do. Whole numbers only, so that the order in which
 * things are added changes nothing. Pure.
 */
#ifndef FORMATS_TALLY_H
#define FORMATS_TALLY_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

struct sums {
    int64_t count;
    int64_t total_ms;
    int64_t reports;
    int64_t used; /* millionths of an hour */
};

struct tally_row {
    const char *key; /* n_key bytes, owned by the tally */
    size_t n_key;
    struct sums sums;
};

struct tally;
struct tally *tally_new(void);
void tally_free(struct tally *t);
DEFINE_AUTO(struct tally, tally_free)

/** The index of a key's row; a new one has sums of nothing. */
size_t tally_at(struct tally *t, const char *key, size_t n_key);
void tally_add(struct tally *t, size_t at, const struct sums *s);
void tally_subtract(struct tally *t, size_t at, const struct sums *s);
/** Has a sum passed 64 bits? The sums tell nothing then. */
bool tally_is_over(const struct tally *t);
size_t tally_n(const struct tally *t);
const struct tally_row *tally_row(const struct tally *t, size_t at);
/** The rows in the order of their keys' bytes, as LC_ALL=C sort has them. Caller frees the array. */
const struct tally_row **tally_sorted(const struct tally *t);
void tally_clear(struct tally *t);

/** A quick hash of 64 bits, the same everywhere. */
uint64_t tally_hash(const void *bytes, size_t n);

#endif
