/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of this folder share about the rows of tasks and leases. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "store/db.h"
#include "store/leases.h"
#include "store/tasks.h"

/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code task_life(struct store *s, const char *task, struct life *out,
                                   struct err *e);
/** Writes state, tries and deaths; times follow from the state. */
MUST_CHECK enum err_code task_save(struct store *s, const char *task, const struct life *life,
                                   struct utc at, struct err *e);

/** Ends an open lease that brought no result, and gives its task back. `detail` may be NULL. */
MUST_CHECK enum err_code lease_give_back(struct store *s, const struct lease_row *l,
                                         enum return_reason why, const char *detail, struct utc at,
                                         struct returned *out, struct err *e);
void returned_fini(struct returned *r);
DEFINE_AUTO_FINI(struct returned, returned_fini)

/** Marks an open lease as over. `accepted` < 0: no answer was given to a result. */
MUST_CHECK enum err_code lease_close(struct store *s, const char *lease, enum tenure_state state,
                                     int64_t accepted, enum task_state outcome, const char *reason,
                                     struct utc at, struct err *e);

/** Columns run, attempt, status, reason, all_values, value, at_ns, seconds from `first` on. */
MUST_CHECK enum err_code read_run_columns(struct query *q, int first, struct run_result *out,
                                          struct err *e);

/** What the task of an explanation saw; a task of none is fine. Replaces. */
MUST_CHECK enum err_code inspection_put(struct store *s, const char *task,
                                        const struct inspection *v, struct err *e);

#endif
