/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A revision's exact files in a folder that is used again and again.
 *
 * All git metadata lives outside the folder: what was written, and when, is remembered in
 * `<tree>.state/`, objects of a local repository are read where they are, those of a URL are kept
 * in bare repositories below the cache folder. A checkout rewrites files that differ and nothing
 * else (the rest keeps its modification time), and removes everything the revision does not have:
 * ignored files, outputs of an earlier build, nested repositories, folders without permissions,
 * submodules of the previous revision.
 *
 * Files are 0644 or 0755 and folders 0755 whatever the umask. Line ends and $Id$ follow the
 * revision's own .gitattributes; attributes and filters from a person's or a system's
 * configuration play no part, and filter drivers (LFS) are not run.
 */
#ifndef SOURCE_CHECKOUT_H
#define SOURCE_CHECKOUT_H

#include "base/auto.h"
#include "base/err.h"
#include "model/project.h"
#include "model/revision.h"
#include "workers/source/fetch.h"
#include <stdint.h>

/** What is done to a revision before its files are written, in this order. All borrowed. */
struct alteration {
    struct revision revert; /* unset: none; of a merge, what it brought to its first parent */
    size_t n_fixups;
    const struct fixup *const *fixups; /* their patches and commits; variables are not for us */
};

struct source {
    const char *repository; /* URL or path */
    const char *cache_dir;  /* bare repositories; may be shared by workers of a host */
    const char *tree_dir;   /* the work tree; made when missing */
    enum submodules submodules;
    const struct pairs *submodule_urls;  /* path from the top -> URL or path; NULL: none */
    const struct fetch_watch *watch;     /* NULL: nobody, default limits */
    const struct alteration *alteration; /* NULL: none */
};

struct checkout_count {
    uint32_t n_files;   /* in the revision, submodules included */
    uint32_t n_written; /* changed on disk */
    uint32_t n_removed; /* entries of folders, a whole tree counts once */
};

/**
 * Makes the folder equal to the revision. Fetches from a URL only when an object is not at hand.
 *
 * `count` may be NULL. After an error the folder may hold anything; the next checkout mends it.
 * Errors: the revision's fault: ERR_NOT_FOUND (no such commit, also of a submodule), ERR_INVALID
 *         (unsafe names in its tree, a submodule without a usable URL, an alteration that does
 *         not fit: "old-gcc.patch does not apply: …");
 *         infrastructure's: ERR_IO (disk, a damaged or vanished local repository), ERR_PEER,
 *         ERR_TIMEOUT.
 */
MUST_CHECK enum err_code source_checkout(const struct source *s, const struct revision *revision,
                                         struct checkout_count *count, struct err *e);

/**
 * Whether the folder still is exactly what the last successful checkout left. Looks at names,
 * kinds, modes, sizes and times, reads no file: touching one counts as changing it. Errors:
 * ERR_CONFLICT names the first difference; ERR_NOT_FOUND without a finished checkout.
 */
MUST_CHECK enum err_code source_verify(const struct source *s, struct err *e);

#endif
