/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A bare repository of ours that stands for somebody else's: it borrows the objects of a local one
 * through objects/info/alternates, or holds what was fetched from a URL. Its own configuration
 * keeps a person's line-end and attribute settings out.
 */
#ifndef SOURCE_REPOSITORY_H
#define SOURCE_REPOSITORY_H

#include "base/auto.h"
#include "base/err.h"
#include "workers/source/fetch.h"
#include "workers/source/library.h"
#include <stdbool.h>

struct repository {
    char *path;             /* of the bare repository */
    char *from;             /* URL, or the absolute path of the local repository's common git dir */
    char *shown;            /* what messages call it */
    git_repository *git;    /* ours */
    git_repository *origin; /* the local one, read only; NULL for a URL */
};

void repository_free(struct repository *r);
DEFINE_AUTO(struct repository, repository_free)

/**
 * Opens folder/<stem>.git, making it first if need be; when that one stands for another
 * repository, or `stem` is NULL, the name carries a hash of where it comes from. Fetches nothing.
 * Errors: ERR_INVALID (a local path that is no repository), ERR_IO.
 */
MUST_CHECK enum err_code repository_open(const char *folder, const char *stem, const char *from,
                                         struct repository **out, struct err *e);

/** Of a URL: fetch_into under the repository's lock, after clearing what a killed fetch left.
 *  Of a local path: does nothing. */
MUST_CHECK enum err_code repository_fetch(struct repository *r, const struct revision *only,
                                          const struct fetch_watch *watch, struct err *e);

bool repository_has(const struct repository *r, const git_oid *oid);

/** Waits for the lock that serialises writers of the bare repository at `path`; close to unlock. */
MUST_CHECK enum err_code repository_lock(const char *path, int *fd, struct err *e);

#endif
