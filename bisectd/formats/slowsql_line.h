/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mapped lines, what map, combine and reduce hand to each other:
 *
 *     key<TAB>count<TAB>total_ms<TAB>reports<TAB>used
 *
 * Whole numbers (used: millionths of an hour), keys as formats/slowsql.h says; LC_ALL=C sort is the
 * shuffle. Pure.
 */
#ifndef FORMATS_SLOWSQL_LINE_H
#define FORMATS_SLOWSQL_LINE_H

#include "base/err.h"
#include "formats/slowsql.h"

enum { LINE_PARTS = 4 };

enum slowsql_line_kind { LINE_ROW, LINE_NOTE, LINE_SESSION };

struct slowsql_line {
    enum slowsql_line_kind kind;
    struct span key;
    struct span parts[LINE_PARTS]; /* of the key, as they are written */
    size_t n_session;  /* LINE_SESSION: so many bytes of the key are those of its session */
    struct span order; /* and this says which of its lines is the last: the greatest of bytes;
                          sums.reports is how many reports said the same */
    struct sums sums;
};

/** Without the newline. ERR_INVALID says what is wrong with it. */
MUST_CHECK enum err_code slowsql_line_parse(const char *line, size_t n, struct slowsql_line *out,
                                            struct err *e);
/** With the newline. */
void slowsql_line_add(struct buf *out, const char *key, size_t n_key, const struct sums *sums);

/** All lines of a document. */
void slowsql_lines_of(const struct slowsql_mapped *m, struct buf *out);
/** Adds them to a tally, but for that of the session. */
void slowsql_tally_notes(const struct slowsql_mapped *m, struct tally *t);

/** Takes off again, `n` times, what a line of a session says was added, and notes that.
 *  ERR_INVALID: it is none. */
MUST_CHECK enum err_code slowsql_take_off(const struct slowsql_line *session, int64_t n,
                                          struct tally *t, struct err *e);
/** Notes that `n` documents were counted again by later ones. */
void slowsql_note_superseded(struct tally *t, int64_t n);

/** Lines come in one after the other, their keys in order; sums come out. */
struct slowsql_reduce {
    struct tally *tally; /* borrowed */
    struct buf last;     /* key of the line before */
    struct buf session;  /* the last line of a session, while more of it may come */
};
void slowsql_reduce_fini(struct slowsql_reduce *r);
DEFINE_AUTO_FINI(struct slowsql_reduce, slowsql_reduce_fini)
/** Errors: ERR_INVALID, with the hint to sort where the order is wrong. */
MUST_CHECK enum err_code slowsql_reduce_line(struct slowsql_reduce *r, const char *line, size_t n,
                                             struct err *e);

#endif
