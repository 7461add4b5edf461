/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lines that were reduced, and a question: their keys say group, database, thread and statement, so
 * only of these can it be asked. Pure.
 */
#ifndef FORMATS_SLOWSQL_FIT_H
#define FORMATS_SLOWSQL_FIT_H

#include "formats/slowsql_line.h"

/** What the groups of lines are; they do not add up with others. */
enum group_kind { GROUPS_NONE, GROUPS_ALL, GROUPS_PAIR, GROUPS_BUILDS };

/** Those of the documents' lines. */
enum group_kind slowsql_groups_of(const struct slowsql_question *q);

/**
 * Output: *is_asked, whether the question is about the line; *kind, GROUPS_NONE for a note.
 * Errors: ERR_INVALID: the line does not say what the question asks, or is of other groups.
 */
MUST_CHECK enum err_code slowsql_fit(const struct slowsql_question *q,
                                     const struct slowsql_line *line, bool *is_asked,
                                     enum group_kind *kind, struct err *e);

#endif
