/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a build leaves behind, kept by the hash of its content.
 *
 * An artifact is a tar with sorted names, one time and one owner, so that equal files give equal
 * bytes; it is named by the SHA-256 of that tar and kept as `ab/<sha256>.tar.zst`. A folder of
 * artifacts may be shared by programs: entries appear whole or not at all.
 */
#ifndef BUILD_ARTIFACT_H
#define BUILD_ARTIFACT_H

#include "base/err.h"
#include "model/project.h"
#include "workers/sandbox/clip.h"
#include <stdbool.h>
#include <stdint.h>

struct artifacts;

/**
 * `scratch` is a folder on which as much may be written as an artifact is large.
 * `max_bytes`: once the folder is over it, those not used for longest go; 0: never.
 */
MUST_CHECK enum err_code artifacts_new(const char *folder, const char *scratch, int64_t max_bytes,
                                       struct artifacts **out, struct err *e);
void artifacts_free(struct artifacts *a);
DEFINE_AUTO(struct artifacts, artifacts_free)

bool artifacts_has(const struct artifacts *a, const char *hash);

/**
 * Packs what `globs` name below `tree`; the whole tree without .git if there are none.
 *
 * A folder that a glob names is taken with all below it. A glob that names nothing is noted in
 * `log` (may be NULL).
 * Outputs: the artifact's hash.
 * Errors:  ERR_NOT_FOUND (the globs name nothing at all), ERR_DENIED (unreadable), ERR_LIMIT (over
 *          `most_bytes`; 0: no limit): the build's fault. ERR_IO: ours.
 */
MUST_CHECK enum err_code artifacts_pack(struct artifacts *a, const char *tree,
                                        const struct strings *globs, int64_t most_bytes,
                                        char hash[65], struct clip *log, struct err *e);

/**
 * Unpacks into `folder`, which is emptied first. The content is checked against the hash.
 * Errors: ERR_NOT_FOUND (not here), ERR_CONFLICT (damaged, and removed for that): build it again.
 *         ERR_IO: ours.
 */
MUST_CHECK enum err_code artifacts_unpack(struct artifacts *a, const char *hash, const char *folder,
                                          struct err *e);

/** The packed file, to be sent. Caller closes. ERR_NOT_FOUND or ERR_IO. */
MUST_CHECK enum err_code artifacts_open(const struct artifacts *a, const char *hash, int *fd,
                                        struct err *e);

/** Takes in a packed file from elsewhere, after checking it; the file stays where it is.
 *  ERR_CONFLICT (not what its name says), ERR_IO. */
MUST_CHECK enum err_code artifacts_adopt(struct artifacts *a, const char *hash, int packed,
                                         struct err *e);

#endif
