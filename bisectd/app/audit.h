/* SPDX-License-Identifier: Apache-2.0 */
/** Does a stored verdict follow from its samples? A replay in the pool, and its answer read. */
#ifndef APP_AUDIT_H
#define APP_AUDIT_H

#include "app/pool.h"
#include "store/bisections.h"
#include "store/checks.h"

struct audit;

/** Reads all it needs. An error of what is stored is an answer (unknown), not one of ours. */
MUST_CHECK enum err_code audit_start(struct pool *pool, struct store *s, const char *bisection,
                                     const struct verdict *stated, struct audit **out,
                                     struct err *e);
bool audit_is_done(const struct audit *a);
/** Pre: done. Stores the answer and frees it. */
MUST_CHECK enum err_code audit_settle(struct audit *a, struct store *s, struct err *e);
/** Nobody wants it any more: freed now, or when the pool lets go of it. */
void audit_drop(struct audit *a);

#endif
