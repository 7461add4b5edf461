/* SPDX-License-Identifier: Apache-2.0 */
/** Logs of tasks: compressed files beside the database, named by the hash of their plain text. */
#ifndef STORE_LOGS_H
#define STORE_LOGS_H

#include "base/buf.h"
#include "store/store.h"

#define LOG_MAX_BYTES ((size_t)16 * MIB)

/** The task's log; a later one replaces it. ERR_LIMIT over LOG_MAX_BYTES; ERR_NOT_FOUND,
 *  ERR_CONFLICT as of the lease (a finished lease may still send its log). */
MUST_CHECK enum err_code store_log_put(struct store *s, const char *lease, int64_t fence,
                                       const void *bytes, size_t n, struct utc now, struct err *e);
/** Appends the plain text. ERR_NOT_FOUND; ERR_IO if the file is not what was written. */
MUST_CHECK enum err_code store_log_get(struct store *s, const char *task, struct buf *out,
                                       struct err *e);

#endif
