/* SPDX-License-Identifier: Apache-2.0 */
/** Slow SQL as a metric: the telemetry document that a measured program wrote. Pure. */
#ifndef FORMATS_SLOWSQL_METRIC_H
#define FORMATS_SLOWSQL_METRIC_H

#include "formats/value.h"

/**
 * Adds up the slow statements that the metric means, in ms or by number; 0 if there are none.
 *
 * One document, or one a line: of those of one session only the last counts. A measured program may
 * have thresholds of its own, so that fast statements count too; all else that is wrong with a
 * document or a statement is an error.
 * `out` is fresh ({0}) and written only on success. Errors: ERR_INVALID, "cannot measure: …".
 */
MUST_CHECK enum err_code slowsql_read(const struct metric *m, const char *bytes, size_t n,
                                      struct values *out, struct err *e);

#endif
