/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bisection played through without building anything: the real search, a made-up worker whose
 * builds all work and whose values have no noise, and a culprit that is known.
 *
 * Pure: no I/O, no clock, no randomness.
 */
#ifndef CLI_REHEARSAL_H
#define CLI_REHEARSAL_H

#include "base/err.h"
#include "model/bisection.h"
#include "model/revision.h"

enum { REHEARSAL_NEXT_MOST = 16 };

struct rehearsal {
    uint32_t culprit;   /* index of a candidate */
    uint32_t n_workers; /* at once */
    bool only_opening;  /* stop when the first choices after the ends are known */
};

struct rehearsed {
    uint32_t n_builds, n_runs; /* ends and verification included */
    uint32_t n_steps;          /* results taken in, each with the choice that follows */
    size_t n_next;             /* the first choices after the ends, in the order they are made */
    struct revision next[REHEARSAL_NEXT_MOST];
};

/** ERR_INVALID if request and range do not fit; ERR_LIMIT if the search does not end. */
MUST_CHECK enum err_code rehearse(const struct request *request, const struct range *range,
                                  const struct rehearsal *r, struct rehearsed *out, struct err *e);

#endif
