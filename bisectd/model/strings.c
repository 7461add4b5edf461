/* SPDX-License-Identifier: Apache-2.0 */
#include "model/strings.h"
#include "base/mem.h"
#include <string.h>

void strings_add(struct strings *s, const char *item)
{
    s->items = mem_resize(s->items, s->n + 1, sizeof(*s->items));
    s->items[s->n++] = mem_dup(item);
}

bool strings_has(const struct strings *s, const char *item)
{
    for (size_t i = 0; i < s->n; i++) {
        if (strcmp(s->items[i], item) == 0)
            return true;
    }
    return false;
}

void strings_fini(struct strings *s)
{
    for (size_t i = 0; i < s->n; i++)
        mem_free(s->items[i]);
    mem_free(s->items);
    *s = (struct strings){0};
}

static struct pair *find(const struct pairs *p, const char *key)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->items[i].key, key) == 0)
            return &p->items[i];
    }
    return NULL;
}

void pairs_add(struct pairs *p, const char *key, const char *value)
{
    struct pair *known = find(p, key);

    if (known) {
        mem_free(known->value);
        known->value = mem_dup(value);
        return;
    }
    p->items = mem_resize(p->items, p->n + 1, sizeof(*p->items));
    p->items[p->n++] = (struct pair){.key = mem_dup(key), .value = mem_dup(value)};
}

const char *pairs_get(const struct pairs *p, const char *key)
{
    const struct pair *known = find(p, key);

    return known ? known->value : NULL;
}

void pairs_fini(struct pairs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        mem_free(p->items[i].key);
        mem_free(p->items[i].value);
    }
    mem_free(p->items);
    *p = (struct pairs){0};
}
