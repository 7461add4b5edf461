/* SPDX-License-Identifier: Apache-2.0 */
/** Units as formats write them: "ns", "msec", "KiB", "ops/s", "ms/op". */
#ifndef FORMATS_UNIT_H
#define FORMATS_UNIT_H

#include <stdbool.h>

/** How many of `to` make one of `from`: 1000 for s to ms. False if they are not of the same kind;
 *  a unit that is not known converts to itself alone. */
bool unit_factor(const char *from, const char *to, double *factor);

#endif
