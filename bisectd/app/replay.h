/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deciding everything again from events, builds and samples, and comparing with what was done.
 *
 * {"matches": bool, "differences": ["…"], "decisions": [{"ordinal", "after_seq", "spec"}],
 *  "posteriors": [{"seq", "posterior"}], "verdict": {…}}
 */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "api/service.h"
#include "base/err.h"
#include "store/store.h"

/** Reads all of a bisection; the work folds it, in any thread. ERR_NOT_FOUND. */
MUST_CHECK enum err_code replay_new(struct store *s, const char *bisection, struct work **out,
                                    struct err *e);

/** The verdict document alone, computed now. Caller frees. */
MUST_CHECK enum err_code replay_verdict(struct store *s, const char *bisection, json **out,
                                        struct err *e);

#endif
