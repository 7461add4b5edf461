/* SPDX-License-Identifier: Apache-2.0 */
/** Artifacts: files DATA_DIR/artifacts/ab/<sha256>.tar.zst, and what is known of them. */
#ifndef STORE_ARTIFACTS_H
#define STORE_ARTIFACTS_H

#include "store/store.h"
#include <stdint.h>

/** 64 lower-case hex digits. */
bool artifact_name_is_valid(const char *sha256);
/** Where its file is or would be. NULL if the name is not valid. Caller frees with mem_free. */
char *store_artifact_path(const struct store *s, const char *sha256);
/** Is the file there? Rows do not count. */
bool store_artifact_exists(const struct store *s, const char *sha256);
/** Notes that its file is complete, or was used. ERR_NOT_FOUND if there is no file. */
MUST_CHECK enum err_code store_artifact_note(struct store *s, const char *sha256, struct utc now,
                                             struct err *e);

#endif
