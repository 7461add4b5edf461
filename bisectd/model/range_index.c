/* SPDX-License-Identifier: Apache-2.0 */
#include "model/range_index.h"

#include "base/hash.h"
#include "base/mem.h"
#include <string.h>

struct range_index {
    const struct range *range;
    uint64_t mask;
    uint32_t *slots; /* index + 1; 0 is free */
};

static uint32_t *slot_of(const struct range_index *x, const struct revision *id)
{
    uint64_t head, at;

    memcpy(&head, id->hex, sizeof(head));
    for (at = mix64(head) & x->mask; x->slots[at]; at = (at + 1) & x->mask)
        if (revision_equal(&x->range->commits[x->slots[at] - 1].id, id))
            break;
    return &x->slots[at];
}

struct range_index *range_index_new(const struct range *range)
{
    struct range_index *x = mem_alloc(sizeof(*x));
    uint64_t n_slots = 16;

    while (n_slots < 2 * (uint64_t)range->n)
        n_slots *= 2;
    x->range = range;
    x->mask = n_slots - 1;
    x->slots = mem_array(n_slots, sizeof(*x->slots));
    for (uint32_t i = 0; i < range->n; i++) {
        uint32_t *slot = slot_of(x, &range->commits[i].id);
        if (!*slot)
            *slot = i + 1; /* of two alike the first is found, as by range_find */
    }
    return x;
}

void range_index_free(struct range_index *x)
{
    if (!x)
        return;
    mem_free(x->slots);
    mem_free(x);
}

uint32_t range_index_size(const struct range_index *x)
{
    return x->range->n;
}

uint32_t range_index_find(const struct range_index *x, const struct revision *id)
{
    return *slot_of(x, id) - 1; /* a free slot gives UINT32_MAX */
}
