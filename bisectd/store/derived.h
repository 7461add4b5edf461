/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What can be computed again from events, builds and samples: decisions, posteriors, verdicts.
 * Kept so that pages are quick; losing all of it does no harm.
 */
#ifndef STORE_DERIVED_H
#define STORE_DERIVED_H

#include "base/json.h"
#include "store/store.h"

/** A task that a step decided on. JSON as the caller likes it. */
MUST_CHECK enum err_code store_decision_put(struct store *s, const char *bisection,
                                            uint32_t ordinal, int64_t after_seq, const json *spec,
                                            struct err *e);
/** After each step. Replaces. */
MUST_CHECK enum err_code store_posterior_put(struct store *s, const char *bisection, int64_t seq,
                                             const json *posterior, struct err *e);
/** Replaces. */
MUST_CHECK enum err_code store_verdict_put(struct store *s, const char *bisection,
                                           const json *verdict, struct err *e);

/** Arrays, in order: [{"ordinal","after_seq","spec"}], [{"seq","posterior"}]. Caller frees. */
MUST_CHECK enum err_code store_decision_list(struct store *s, const char *bisection, json **out,
                                             struct err *e);
MUST_CHECK enum err_code store_posterior_list(struct store *s, const char *bisection, json **out,
                                              struct err *e);
/** NULL into `out` if there is none. */
MUST_CHECK enum err_code store_verdict_get(struct store *s, const char *bisection, json **out,
                                           struct err *e);
/** Removes all three of a bisection. */
MUST_CHECK enum err_code store_derived_clear(struct store *s, const char *bisection, struct err *e);

#endif
