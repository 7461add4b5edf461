/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finished verdicts put to the test again: what they claim, the comparisons that measure it, and
 * what came of them; and whether they follow from their own samples.
 */
#ifndef STORE_CHECKS_H
#define STORE_CHECKS_H

#include "base/json.h"
#include "model/claim.h"
#include "store/store.h"

struct check_row {
    int64_t seq;
    struct id bisection;
    char *claim;
    enum check_outcome outcome;
    char *reason; /* NULL: none */
};
void check_row_fini(struct check_row *c);
DEFINE_AUTO_FINI(struct check_row, check_row_fini)

/** One comparison of a check. */
struct check_part {
    int64_t check;
    struct revision base;
    struct id comparison;
    bool is_over; /* `found` is known */
    enum found found;
};
struct check_part_list {
    size_t n;
    struct check_part *items;
};
void check_part_list_fini(struct check_part_list *l);
DEFINE_AUTO_FINI(struct check_part_list, check_part_list_fini)

/** Open. One that was undecided is opened again, without its parts; of another one that is there
 *  already nothing changes, and *is_new is false. */
MUST_CHECK enum err_code store_check_open(struct store *s, const char *bisection, const char *claim,
                                          struct utc now, bool *is_new, struct err *e);
/** `reason` may be NULL. */
MUST_CHECK enum err_code store_check_end(struct store *s, int64_t check, enum check_outcome outcome,
                                         const char *reason, struct utc now, struct err *e);
/** ERR_NOT_FOUND without text. */
MUST_CHECK enum err_code store_check_find(struct store *s, const char *bisection, const char *claim,
                                          struct check_row *out, struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_check_load(struct store *s, int64_t check, struct check_row *out,
                                          struct err *e);
/** The oldest open one with nothing being measured, after `after` (0: the first). ERR_NOT_FOUND
 *  without text. */
MUST_CHECK enum err_code store_check_next(struct store *s, int64_t after, struct check_row *out,
                                          struct err *e);

MUST_CHECK enum err_code store_check_part_add(struct store *s, const struct check_part *p,
                                              struct err *e);
/** In the order they were begun. */
MUST_CHECK enum err_code store_check_part_list(struct store *s, int64_t check,
                                               struct check_part_list *out, struct err *e);
/** One whose comparison is over while its `found` is open. ERR_NOT_FOUND without text. */
MUST_CHECK enum err_code store_check_part_ended(struct store *s, struct check_part *out,
                                                struct err *e);
MUST_CHECK enum err_code store_check_part_settle(struct store *s, const char *comparison,
                                                 enum found found, struct err *e);

struct check_counts {
    int64_t n_waiting, n_measuring;
    int64_t n_right, n_wrong, n_undecided;
};
MUST_CHECK enum err_code store_check_count(struct store *s, struct check_counts *out,
                                           struct err *e);

enum replay_outcome { REPLAY_FOLLOWS, REPLAY_DIFFERS, REPLAY_UNKNOWN };
struct replay_row {
    char *stated; /* stated_text() of the verdict that was replayed */
    enum replay_outcome outcome;
    char *says; /* stated_text() of what the samples give */
};
void replay_row_fini(struct replay_row *r);
DEFINE_AUTO_FINI(struct replay_row, replay_row_fini)
/** Replaces. */
MUST_CHECK enum err_code store_replay_put(struct store *s, const char *bisection,
                                          const struct replay_row *r, struct err *e);
/** ERR_NOT_FOUND without text. */
MUST_CHECK enum err_code store_replay_get(struct store *s, const char *bisection,
                                          struct replay_row *out, struct err *e);

/** A finished bisection (no comparison) in the order of finishing. */
struct finish {
    int64_t finished_ns, seq;
    struct id id;
};
/** The first after `after`. ERR_NOT_FOUND without text. */
MUST_CHECK enum err_code store_finish_next(struct store *s, const struct finish *after,
                                           struct finish *out, struct err *e);

/** Called with each stored verdict; it stops at what is not ERR_OK. */
typedef enum err_code stated_visit(void *self, const char *bisection, const json *verdict,
                                   struct err *e);
/** The newest `limit` done bisections with verdict culprit or not_reproduced, newest first. A
 *  verdict that is no JSON is passed over and counted in *n_unreadable. */
MUST_CHECK enum err_code store_stated_each(struct store *s, size_t limit, stated_visit *visit,
                                           void *self, size_t *n_unreadable, struct err *e);

#endif
