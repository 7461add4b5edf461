/* SPDX-License-Identifier: Apache-2.0 */
/** What makes a stretch of history build that does not by itself: a patch, a commit to pick,
 *  variables. */
#ifndef MODEL_FIXUP_H
#define MODEL_FIXUP_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "model/revision.h"
#include "model/strings.h"

/** A set of fixups is a uint64_t: bit i is the project's i-th. */
enum { FIXUP_MAX = 64, FIXUP_MAX_PATCH = 256 * KIB, FIXUP_MAX_PATCHES = 512 * KIB };

struct fixup {
    char *range;            /* A..B: what B reaches and A does not; B: all that B reaches */
    char *patch;            /* what people call it: its file's name; NULL: none */
    char *content;          /* the patch's bytes in base64; NULL if there is none */
    struct revision commit; /* to be cherry-picked; unset: none. Not together with a patch */
    struct pairs environment;
};

void fixup_free(struct fixup *f);
DEFINE_AUTO(struct fixup, fixup_free)
struct fixup *fixup_copy(const struct fixup *f);
/** What it is called: "old-gcc.patch", "commit 1a2b3c4d5e", "CFLAGS=-fcommon". */
void fixup_name(const struct fixup *f, struct buf *out);

/** The ends of its range. *from is NULL where the range has one end. Caller frees both.
 *  ERR_INVALID with a hint: no range. */
MUST_CHECK enum err_code fixup_ends(const char *range, char **from, char **to, struct err *e);

/** Keys of the project file, and "content". Checked but for what it needs of its neighbours. */
json *fixup_to_json(const struct fixup *f);
MUST_CHECK enum err_code fixup_from_json(const json *v, struct fixup **out, struct err *e);
MUST_CHECK enum err_code fixup_check(const struct fixup *f, struct err *e);

/** A set as a list of numbers. */
json *fixup_set_to_json(uint64_t set);
/** Absent is the empty set. ERR_INVALID begins with `key`. */
MUST_CHECK enum err_code fixup_set_from_json(const json *v, const char *key, uint64_t *out,
                                             struct err *e);

#endif
