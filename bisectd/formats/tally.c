/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/tally.h"
#include "base/hash.h"
#include "base/mem.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_LEAST = 64, BLOCK_BYTES = 256 * KIB };

/** Keys lie in blocks, so that they stay where they are. */
struct block {
    struct block *next;
    size_t used, size;
    char bytes[];
};

struct tally {
    struct tally_row *rows;
    uint64_t *hashes; /* of the rows */
    size_t n, cap;
    uint32_t *slots; /* index + 1 by hash; 0: free */
    size_t n_slots;  /* a power of two, more than the rows */
    struct block *blocks;
    bool is_over;
};

struct tally *tally_new(void)
{
    struct tally *t = mem_alloc(sizeof(*t));

    t->n_slots = SLOTS_LEAST;
    t->slots = mem_array(t->n_slots, sizeof(*t->slots));
    return t;
}

static void free_blocks(struct tally *t)
{
    while (t->blocks) {
        struct block *next = t->blocks->next;
        mem_free(t->blocks);
        t->blocks = next;
    }
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    free_blocks(t);
    mem_free(t->rows);
    mem_free(t->hashes);
    mem_free(t->slots);
    mem_free(t);
}

void tally_clear(struct tally *t)
{
    free_blocks(t);
    memset(t->slots, 0, t->n_slots * sizeof(*t->slots));
    t->n = 0;
    t->is_over = false;
}

uint64_t tally_hash(const void *bytes, size_t n)
{
    const uint64_t prime = UINT64_C(0x9E3779B97F4A7C15);
    const unsigned char *p = bytes;
    uint64_t h = (uint64_t)n * prime, word = 0;

    for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
        memcpy(&word, p, sizeof(word));
        h = (h ^ word) * prime;
        h ^= h >> 32;
    }
    word = 0;
    if (n)
        memcpy(&word, p, n);
    return mix64(h ^ word);
}

static char *keep(struct tally *t, const char *key, size_t n)
{
    struct block *b = t->blocks;

    if (!b || b->size - b->used < n) {
        size_t size = n > BLOCK_BYTES ? n : BLOCK_BYTES;
        b = mem_alloc(sizeof(*b) + size);
        b->size = size;
        b->next = t->blocks;
        t->blocks = b;
    }
    char *copy = b->bytes + b->used;
    memcpy(copy, key, n);
    b->used += n;
    return copy;
}

static size_t slot_of(const struct tally *t, uint64_t hash, const char *key, size_t n)
{
    size_t mask = t->n_slots - 1;

    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        if (!t->slots[i])
            return i;
        const struct tally_row *row = &t->rows[t->slots[i] - 1];
        if (t->hashes[t->slots[i] - 1] == hash && row->n_key == n && memcmp(row->key, key, n) == 0)
            return i;
    }
}

static void grow(struct tally *t)
{
    size_t mask = 2 * t->n_slots - 1;

    mem_free(t->slots);
    t->n_slots *= 2;
    t->slots = mem_array(t->n_slots, sizeof(*t->slots));
    for (size_t r = 0; r < t->n; r++) {
        size_t i = t->hashes[r] & mask;
        while (t->slots[i])
            i = (i + 1) & mask;
        t->slots[i] = (uint32_t)(r + 1);
    }
}

size_t tally_at(struct tally *t, const char *key, size_t n_key)
{
    uint64_t hash = tally_hash(key, n_key);
    size_t i = slot_of(t, hash, key, n_key);

    if (t->slots[i])
        return t->slots[i] - 1;
    assert(t->n < UINT32_MAX / 2);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 32;
        t->rows = mem_resize(t->rows, t->cap, sizeof(*t->rows));
        t->hashes = mem_resize(t->hashes, t->cap, sizeof(*t->hashes));
    }
    t->rows[t->n] = (struct tally_row){.key = keep(t, key, n_key), .n_key = n_key};
    t->hashes[t->n] = hash;
    t->slots[i] = (uint32_t)++t->n;
    if (2 * t->n > t->n_slots)
        grow(t);
    return t->n - 1;
}

void tally_add(struct tally *t, size_t at, const struct sums *s)
{
    struct sums *to = &t->rows[at].sums;

    t->is_over |= __builtin_add_overflow(to->count, s->count, &to->count);
    t->is_over |= __builtin_add_overflow(to->total_ms, s->total_ms, &to->total_ms);
    t->is_over |= __builtin_add_overflow(to->reports, s->reports, &to->reports);
    t->is_over |= __builtin_add_overflow(to->used, s->used, &to->used);
}

void tally_subtract(struct tally *t, size_t at, const struct sums *s)
{
    struct sums *to = &t->rows[at].sums;

    t->is_over |= __builtin_sub_overflow(to->count, s->count, &to->count);
    t->is_over |= __builtin_sub_overflow(to->total_ms, s->total_ms, &to->total_ms);
    t->is_over |= __builtin_sub_overflow(to->reports, s->reports, &to->reports);
    t->is_over |= __builtin_sub_overflow(to->used, s->used, &to->used);
}

bool tally_is_over(const struct tally *t)
{
    return t->is_over;
}

size_t tally_n(const struct tally *t)
{
    return t->n;
}

const struct tally_row *tally_row(const struct tally *t, size_t at)
{
    return &t->rows[at];
}

static int by_key(const void *a, const void *b)
{
    const struct tally_row *x = *(const struct tally_row *const *)a;
    const struct tally_row *y = *(const struct tally_row *const *)b;
    size_t n = x->n_key < y->n_key ? x->n_key : y->n_key;
    int order = memcmp(x->key, y->key, n);

    return order ? order : (x->n_key > y->n_key) - (x->n_key < y->n_key);
}

const struct tally_row **tally_sorted(const struct tally *t)
{
    const struct tally_row **rows = mem_array(t->n + 1, sizeof(struct tally_row *));

    for (size_t i = 0; i < t->n; i++)
        rows[i] = &t->rows[i];
    qsort(rows, t->n, sizeof(struct tally_row *), by_key);
    return rows;
}
