/* SPDX-License-Identifier: Apache-2.0 */
/** Imported time series as evidence for a new bisection. */
#ifndef APP_IMPORTED_H
#define APP_IMPORTED_H

#include "model/bisection.h"
#include "model/range_index.h"
#include "store/samples.h"

/**
 * Appends what a search is given of the series of the same project, metric and platform, by name:
 * see search/series.h. At most IMPORTED_SERIES of them, those with the most points in the range.
 */
enum { IMPORTED_SERIES = 4 };
MUST_CHECK enum err_code imported_evidence(struct store *s, const struct request *r,
                                           const struct range *range,
                                           const struct range_index *known, struct sample_list *out,
                                           struct err *e);

#endif
