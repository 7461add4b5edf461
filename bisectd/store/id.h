/* SPDX-License-Identifier: Apache-2.0 */
/** Names of rows: short, random, in letters that a person can read out and type. */
#ifndef STORE_ID_H
#define STORE_ID_H

#include <stdbool.h>

/** Ten of "23456789bcdfghjkmnpqrstvwxyz", the first a letter. */
struct id {
    char text[12];
};

struct id id_new(void);
bool id_is_valid(const char *text);

#endif
