/* SPDX-License-Identifier: Apache-2.0 */
/** Inside of readings.h: the formats that have a file of their own. */
#ifndef FORMATS_READINGS_PARSE_H
#define FORMATS_READINGS_PARSE_H

#include "formats/readings.h"

/** Whatever format_list() knows. */
MUST_CHECK enum err_code readings_of_results(const char *bytes, size_t n,
                                             const struct readings_query *q, struct readings *r,
                                             struct err *e);

#endif
