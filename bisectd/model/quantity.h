/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which numbers may be the value of a run, wherever it was measured: here, by another machine, or
 * in a time series that is imported.
 */
#ifndef MODEL_QUANTITY_H
#define MODEL_QUANTITY_H

#include "base/err.h"

/** The largest magnitude: squares of such values, and sums of 1e100 squares, are finite. */
#define QUANTITY_MOST 1e100

/** ERR_INVALID says "nan", "inf" or "1e200 is over the limit of 1e100". */
MUST_CHECK enum err_code quantity_check(double value, struct err *e);

#endif
