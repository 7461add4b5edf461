/* SPDX-License-Identifier: Apache-2.0 */
/** A part of what a command wrote: bytes that belong to someone else, without a NUL at the end. */
#ifndef FORMATS_PIECE_H
#define FORMATS_PIECE_H

#include <stdbool.h>
#include <stddef.h>

struct piece {
    const char *s;
    size_t n;
};

/** Takes the first line off `rest`, without its LF or CR LF; false at the end of all. */
bool piece_line(struct piece *rest, struct piece *line);
/** Takes off what stands before the first `stop`, and that; false at the end of all. A piece that
 *  ends with `stop` has an empty last part. */
bool piece_part(struct piece *rest, char stop, struct piece *part);
/** Without white space at either end. */
struct piece piece_trimmed(struct piece p);
/** Takes the first word off a trimmed `rest`, which stays trimmed. */
struct piece piece_word(struct piece *rest);

bool piece_is(struct piece p, const char *s);
bool piece_starts(struct piece p, const char *s);
/** Where `s` first occurs; NULL. */
const char *piece_find(struct piece p, const char *s);
/** From `at`, which lies within, to the end. */
struct piece piece_from(struct piece p, const char *at);

/** One number and nothing else around it. What printf writes for nan and inf is read as such: the
 *  caller decides what it means. */
bool piece_number(struct piece p, double *out);

#endif
