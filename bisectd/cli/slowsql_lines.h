/* SPDX-License-Identifier: Apache-2.0 */
/** Mapped lines in and out, one after the other. */
#ifndef CLI_SLOWSQL_LINES_H
#define CLI_SLOWSQL_LINES_H

#include "base/err.h"
#include "cli/flag.h"
#include "formats/tally.h"

/** Calls `each` for every line that is not empty of the files in o->words, or of stdin. Stops at
 *  its first failure, which then names file and line. */
MUST_CHECK enum err_code slowsql_each_line(const struct options *o,
                                           enum err_code (*each)(void *context, const char *text,
                                                                 size_t n, struct err *e),
                                           void *context, struct err *e);
/** Appends the lines of a tally, sorted; sums of nothing are left out. */
void slowsql_write_tally(const struct tally *t, struct buf *out);

#endif
