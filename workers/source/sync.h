/* SPDX-License-Identifier: Apache-2.0 */
/** Making a folder hold a listing and nothing else, and telling whether it still does. */
#ifndef SOURCE_SYNC_H
#define SOURCE_SYNC_H

#include "base/err.h"
#include "workers/source/checkout.h"
#include "workers/source/listing.h"
#include "workers/source/manifest.h"

/**
 * Makes the folder equal to the listing. `old` says what is known of the files there; `made`
 * (empty) receives what is there now. Symbolic links in the folder are never followed.
 */
MUST_CHECK enum err_code sync_apply(const char *tree_dir, const struct listing *listing,
                                    const struct manifest *old, struct manifest *made,
                                    struct checkout_count *count, struct err *e);

/** ERR_CONFLICT names the first difference. */
MUST_CHECK enum err_code sync_verify(const char *tree_dir, const struct manifest *m, struct err *e);

#endif
