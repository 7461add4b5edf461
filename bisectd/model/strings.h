/* SPDX-License-Identifier: Apache-2.0 */
/** Lists of strings and of pairs, in the order given. */
#ifndef MODEL_STRINGS_H
#define MODEL_STRINGS_H

#include "base/auto.h"
#include <stdbool.h>

struct pair {
    char *key;
    char *value;
};
struct strings {
    size_t n;
    char **items;
};
struct pairs {
    size_t n;
    struct pair *items;
};

void strings_add(struct strings *s, const char *item);
bool strings_has(const struct strings *s, const char *item);
void strings_fini(struct strings *s); /* leaves it empty and usable */
DEFINE_AUTO_FINI(struct strings, strings_fini)

/** A key that is there already gets the new value. */
void pairs_add(struct pairs *p, const char *key, const char *value);
const char *pairs_get(const struct pairs *p, const char *key); /* NULL: none */
void pairs_fini(struct pairs *p);
DEFINE_AUTO_FINI(struct pairs, pairs_fini)

#endif
