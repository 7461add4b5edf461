/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Finished verdicts put to the test again, so that it is known how often they are right.
 *
 *     asked for, or drawn when idle
 *            |
 *            v          replay of its own samples,          each parent compared,
 *     check (open) ---> once for a verdict, in the pool ---> one after the other ---> check (ended)
 *
 * A check is of what the store states now. A culprit is right if it differs from every parent as
 * stated; not_reproduced is right if the ends do not differ. Comparisons are made of fresh builds
 * and fresh samples, at a tenth of the error that the bisection was allowed, and their tasks are
 * for idle workers alone. All that is done lies in the store: a new life goes on with it.
 *
 * Functions that may fail run in an open transaction, on the loop's thread.
 */
#ifndef APP_CALIBRATOR_H
#define APP_CALIBRATOR_H

#include "app/pool.h"
#include "base/clock.h"
#include "config/config.h"
#include "model/bisection.h"
#include "store/store.h"

struct calibrator;

/** Verdicts that a report covers, and that may be asked for: the newest. */
enum { CALIBRATION_MOST = 10000 };

struct calibrator_ground {
    struct store *store;
    struct pool *pool;
    const struct calibration_config *config;
    bool is_private; /* begins nothing unless asked in this life */
    void *self;
    /** Starts a comparison for idle workers. ERR_CONFLICT: the same one is under way. */
    enum err_code (*compare)(void *self, const struct request *r, struct id *out, struct err *e);
    /** Is anything unfinished that somebody waits for? */
    bool (*is_busy)(void *self);
};

struct calibrator *calibrator_new(const struct calibrator_ground *g);
void calibrator_free(struct calibrator *k);
DEFINE_AUTO(struct calibrator, calibrator_free)

/** Forgets what is in memory; the store has it. */
MUST_CHECK enum err_code calibrator_load(struct calibrator *k, struct err *e);
/** Opens checks of up to `n` verdicts that have none, in a random order that is always the same;
 *  then of those whose check was undecided. *n_opened: how many claims that are. */
MUST_CHECK enum err_code calibrator_ask(struct calibrator *k, size_t n, size_t *n_opened,
                                        struct err *e);
MUST_CHECK enum err_code calibrator_tick(struct calibrator *k, struct mono now, struct err *e);
/** When it has something to do at the latest; false: not before something happens. */
bool calibrator_deadline(const struct calibrator *k, struct mono now, struct mono *out);
/** Comparisons of its own under way. */
size_t calibrator_n_measuring(const struct calibrator *k);

#endif
