/* SPDX-License-Identifier: Apache-2.0 */
/** Tokens: 256 random bits, stored as a hash. */
#ifndef STORE_TOKENS_H
#define STORE_TOKENS_H

#include "store/store.h"

/** Makes sure that there is an admin token; a first call writes it to data_dir/admin.token (0600)
 *  and sets *was_made. Without that file a new one is made, and the old one no longer counts. */
MUST_CHECK enum err_code store_token_admin(struct store *s, struct utc now, bool *was_made,
                                           struct err *e);
/** The role of a token: ERR_DENIED if there is none such. `role` holds 32. */
MUST_CHECK enum err_code store_token_check(struct store *s, const char *token, struct utc now,
                                           char role[32], struct err *e);

#endif
