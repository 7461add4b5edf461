/* SPDX-License-Identifier: Apache-2.0 */
/** Where a repository comes from: a path on this machine, or a URL; by the rules of git. */
#ifndef SOURCE_ORIGIN_H
#define SOURCE_ORIGIN_H

#include "base/auto.h"
#include "base/err.h"
#include <stdbool.h>

/** A path, not a URL and not host:path. file:// is a URL: it is fetched. */
bool origin_is_local(const char *repository);

/** The same, or file://: no other machine is asked. */
bool origin_is_here(const char *repository);

/**
 * The URL that a submodule of `parent` gets when .gitmodules says `url`.
 *
 * "./x" and "../x" are taken relative to the parent's URL or path, everything else as it is.
 * Source: resolve_relative_url of git's submodule--helper.
 * Errors: ERR_INVALID (more "../" than the parent has folders). Caller frees with mem_free.
 */
MUST_CHECK enum err_code origin_resolve(const char *parent, const char *url, char **out,
                                        struct err *e);

/** The URL with a password in it blanked. For messages. Caller frees with mem_free. */
char *origin_shown(const char *repository);

#endif
