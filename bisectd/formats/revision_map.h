/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Foreign names of revisions (Mercurial hashes, build IDs) and the git commits they are.
 *
 * A line a pair: the foreign name, a tab, a comma or blanks, and 40 hex digits. Empty lines, lines
 * that begin with # and a head line are passed over. Pure.
 */
#ifndef FORMATS_REVISION_MAP_H
#define FORMATS_REVISION_MAP_H

#include "base/err.h"
#include "model/revision.h"

enum { REVISION_MAP_MOST = 2000000 };

struct revision_map {
    size_t n;
    struct revision_pair {
        char *foreign;
        struct revision revision;
    } * items; /* sorted by `foreign` */
};
void revision_map_fini(struct revision_map *m);
DEFINE_AUTO_FINI(struct revision_map, revision_map_fini)

/** Errors: ERR_INVALID naming the line: no pair, or a foreign name with two commits; ERR_LIMIT. */
MUST_CHECK enum err_code revision_map_parse(const char *bytes, size_t n, struct revision_map *out,
                                            struct err *e);
/** NULL if it is not in there. */
const struct revision *revision_map_find(const struct revision_map *m, const char *foreign);

#endif
