/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a checkout wrote, and how each file looked right after: a file that still looks so still
 * holds the same bytes. Times come from the kernel and change time cannot be set back, so only a
 * change within one tick of the clock could hide; manifest_settle waits that tick out.
 */
#ifndef SOURCE_MANIFEST_H
#define SOURCE_MANIFEST_H

#include "base/auto.h"
#include "base/err.h"
#include "workers/source/listing.h"
#include <stdint.h>
#include <sys/stat.h>

struct look {
    int64_t n_bytes, modified_ns, changed_ns;
    uint64_t inode;
    uint32_t mode;
};

struct known {
    char *path;
    git_oid id;
    enum entry_kind kind;
    char attributes[17]; /* the part's, shortened: bytes depend on them too */
    struct look look;
};

struct manifest {
    struct known *items; /* in path_order */
    size_t n, cap;
};

void manifest_free(struct manifest *m);
DEFINE_AUTO(struct manifest, manifest_free)

void look_from(const struct stat *st, struct look *out);
bool look_equal(const struct look *a, const struct look *b);

/** Never NULL: one that is absent, damaged, or from before a reboot (after which files may be older
 *  than the manifest) is empty. */
struct manifest *manifest_load(const char *path);
MUST_CHECK enum err_code manifest_save(const struct manifest *m, const char *path, struct err *e);
void manifest_add(struct manifest *m, const struct known *item); /* copies */
const struct known *manifest_find(const struct manifest *m, const char *path);

/** Returns once a change to any of these files would show in its times. `scratch` is a file on the
 *  same file system. */
MUST_CHECK enum err_code manifest_settle(const struct manifest *m, const char *scratch,
                                         struct err *e);

#endif
