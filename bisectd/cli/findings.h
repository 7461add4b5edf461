/* SPDX-License-Identifier: Apache-2.0 */
/** What about a machine makes measurements noisy, and what to do about it. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "base/machine.h"
#include <stddef.h>

/** One thing looked at. */
struct finding {
    const char *name;
    char says[160];
    const char *advice; /* NULL: no cause of noise, or it cannot be told */
};
enum { FINDINGS = 12 };

/** `busy`: share of the machine's time at work for others; nan: not told. In the table's order. */
void findings_of(const struct machine *m, double busy, struct finding out[FINDINGS]);

#endif
