/* SPDX-License-Identifier: Apache-2.0 */
/** What Treeherder takes in: schemas/v1/performance-artifact.json, and the two rules of its code.
 */
#ifndef FORMATS_PERFHERDER_SCHEMA_H
#define FORMATS_PERFHERDER_SCHEMA_H

#include "base/err.h"
#include "base/json.h"

/**
 * Checks one object of performance data. Keys that the schema does not know are allowed, as there;
 * `unknown` takes the first few, since they are often misspelt.
 *
 * Errors: ERR_INVALID, with the place: "suite 'ts_paint': minBackWindow: expected …".
 */
MUST_CHECK enum err_code perfherder_check(const json *o, struct buf *unknown, struct err *e);

#endif
