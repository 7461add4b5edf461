/* SPDX-License-Identifier: Apache-2.0 */
/** A resolver's answer being read, and its range packed and a search set up on it, in the pool. */
#ifndef APP_READING_H
#define APP_READING_H

#include "app/pool.h"
#include "base/buf.h"
#include "model/bisection.h"
#include "model/revision.h"
#include "search/bisection.h"
#include "store/bisections.h"
#include <stdbool.h>

struct reading;

/** Takes the answer's bytes over. */
MUST_CHECK enum err_code reading_start(struct pool *pool, const struct request *request,
                                       struct buf *answer, struct reading **out, struct err *e);
bool reading_is_done(const struct reading *r);
/** Pre: done. Frees it. The error is the resolver's, or that the range makes no search. */
MUST_CHECK enum err_code reading_take(struct reading *r, struct range **range,
                                      struct packed_range *packed, struct bisection **state,
                                      struct err *e);
/** Nobody wants it any more: freed now, or when the pool lets go of it. */
void reading_drop(struct reading *r);

#endif
