/* SPDX-License-Identifier: Apache-2.0 */
/** Which of a document's results a metric means, and what one run's number is. */
#ifndef FORMATS_SELECT_H
#define FORMATS_SELECT_H

#include "formats/results.h"
#include "formats/value.h"

/**
 * Takes the results that the metric's suite, test, options and field name, and reduces their
 * values.
 *
 * names    as the document has them, or with a * for anything; an exact name goes first
 * suite    without a test, the suite's summary if it has one
 * field    not named, the main one of each test
 * several  want reduce, and one field; so do none
 * unit     values are given in the metric's where both are known; one that cannot be turned into
 * the other is refused, and so is a direction that the format contradicts
 *
 * `out` is fresh ({0}) and written only on success; out->note says what a person should know.
 * Errors: ERR_INVALID in words, with what there is; without "cannot measure".
 */
MUST_CHECK enum err_code select_values(const struct metric *m, const struct results *r,
                                       struct values *out, struct err *e);

#endif
