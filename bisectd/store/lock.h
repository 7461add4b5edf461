/* SPDX-License-Identifier: Apache-2.0 */
/** DATA_DIR/lock: held by the one process that owns the store; gone with it, however it ends. */
#ifndef STORE_LOCK_H
#define STORE_LOCK_H

#include "base/err.h"

/** The descriptor holds the lock until it is closed. ERR_CONFLICT names the pid of the holder. */
MUST_CHECK enum err_code lock_take(const char *data_dir, int *fd, struct err *e);

#endif
