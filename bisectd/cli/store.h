/* SPDX-License-Identifier: Apache-2.0 */
/** The folder of a store, before any daemon is on it. */
#ifndef CLI_STORE_H
#define CLI_STORE_H

#include "base/err.h"
#include <stdbool.h>

/** ERR_INVALID: empty, or the root folder. Touches nothing. */
MUST_CHECK enum err_code store_check_name(const char *store, struct err *e);
/** Its name is checked, then it is made unless it is there. */
MUST_CHECK enum err_code store_make(const char *store, struct err *e);
/** Has a run made it? True also for one that may not be looked into. */
bool store_is_there(const char *store);
/** ERR_DENIED: it is not ours to write, whose it is, and why reading needs that. Pre: a folder. */
MUST_CHECK enum err_code store_check(const char *store, struct err *e);

#endif
