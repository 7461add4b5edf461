/* SPDX-License-Identifier: Apache-2.0 */
/**
 * JSON that is passed over, not parsed: finds where a value ends, 64 bytes at a time.
 *
 * Passing over a value checks that its strings end, that its brackets match in kind and that it is
 * nested at most SKIM_DEPTH deep; numbers and literals inside it are not looked at. What a caller
 * wants to know it reads with the functions for strings and numbers, which check all.
 *
 * Pure. Nothing is read at or past `end`. The method (bit masks of quotes, escapes and brackets) is
 * that of Langdale and Lemire, Parsing gigabytes of JSON per second, VLDB Journal 28, 2019.
 */
#ifndef FORMATS_SKIM_H
#define FORMATS_SKIM_H

#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

enum { SKIM_DEPTH = 64 };

/** Bytes of a document; for a string those between its quotes, with the escapes as they are. */
struct span {
    const char *s;
    size_t n;
};

/** Where the next byte that is no JSON white space is, or `end`. */
const char *skim_space(const char *p, const char *end);
/** Just after the closing quote of the string whose first byte is at `p`; NULL if it has none. */
const char *skim_string(const char *p, const char *end);
/** Just after the bracket that closes the one before `p`, which is `open`; NULL if none does. */
const char *skim_container(char open, const char *p, const char *end);
/** Just after the value at `p`; scalars are checked in full; NULL if there is none. */
const char *skim_value(const char *p, const char *end);

/** A walk over the members of an object. */
struct skim_member {
    struct span key;   /* raw */
    struct span value; /* whole; of a string without its quotes */
    char type;         /* the value's first byte: one of { [ " t f n, or 0 for a number */
};
enum skim_step { SKIM_MEMBER, SKIM_END, SKIM_BROKEN };
/** Reads the next member. *p is after the opening brace, or where the last call left it; after
 *  SKIM_END it is after the closing one. Values are passed over. */
enum skim_step skim_member(const char **p, const char *end, struct skim_member *out);
/** The same in two steps, for who wants to walk into a value: after skim_key, *p is at the value
 *  and only `key` and `type` are set; skim_rest passes over it. */
enum skim_step skim_key(const char **p, const char *end, struct skim_member *out);
bool skim_rest(const char **p, const char *end, struct skim_member *out);

/** Appends what the raw string says. False if an escape is none. A lone surrogate is U+FFFD. */
bool skim_unescape(struct span raw, struct buf *out);
/** Does the raw string say `text`, `n` bytes? */
bool skim_is(struct span raw, const char *text, size_t n);
/** A whole number within 64 bits and nothing else. */
bool skim_int(struct span number, int64_t *out);
/** Any JSON number. */
bool skim_num(struct span number, double *out);

#endif
