/* SPDX-License-Identifier: Apache-2.0 */
/** What earlier bisections and imports left in the store for a new one. */
#ifndef APP_EARLIER_H
#define APP_EARLIER_H

#include "app/record.h"
#include "model/bisection.h"

/** EVENT_STARTED with all samples, builds at hand and verifications of the range that the same
 *  project, metric and platform have, and what imported.h chooses; none if the request is a fresh
 *  one. */
MUST_CHECK enum err_code earlier_evidence(struct store *s, const struct request *r,
                                          const struct range *range, struct record **out,
                                          struct err *e);

#endif
