/* SPDX-License-Identifier: Apache-2.0 */
/** Reading a repository on this machine without leaving anything behind. */
#ifndef CLI_LOCAL_H
#define CLI_LOCAL_H

#include "base/err.h"
#include "model/project.h"
#include "model/revision.h"

struct local_query {
    const char *repository; /* a folder in it, or a URL, which is fetched */
    const char *good, *bad;
    const struct strings *paths; /* NULL: everything */
};

/** Errors: those of mirror_open and range_load. */
MUST_CHECK enum err_code local_range(const struct local_query *q, struct range **out,
                                     struct err *e);
MUST_CHECK enum err_code local_resolve(const char *repository, const char *name,
                                       struct revision *out, struct err *e);

#endif
