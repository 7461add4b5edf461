/* SPDX-License-Identifier: Apache-2.0 */
/** The verdict document: what the search knows, and what only its surroundings know. */
#ifndef APP_DOCUMENT_H
#define APP_DOCUMENT_H

#include "base/json.h"
#include "model/bisection.h"

/** Of a bisection that has no search to ask. `message` may be NULL. Caller frees. */
json *document_without_search(const struct request *r, const char *id, enum bisection_state state,
                              enum verdict_kind kind, const char *message, double seconds);

/** Fills in what bisection_verdict() leaves open; of one that is over, removes what was for the
 *  way. `activity` may be NULL. */
void document_stamp(json *document, const char *id, enum bisection_state state, double seconds,
                    const char *activity);

#endif
