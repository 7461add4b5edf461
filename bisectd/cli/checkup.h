/* SPDX-License-Identifier: Apache-2.0 */
/** Measuring the machine itself: how far the same work is apart from one time to the next. */
#ifndef CLI_CHECKUP_H
#define CLI_CHECKUP_H

#include "base/auto.h"
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>

/** Of values in milliseconds. */
struct spread {
    size_t n;
    double median, low, high, p95;
    double sd_percent; /* of the mean */
};
/** Sorts the values. Pre: n > 0. */
struct spread spread_of(double *values, size_t n);

/** How much of the machine's time was spent on others' work over a third of a second; nan: not
 *  told. */
double checkup_busy(void);
/** A loop of fixed length, about 20 ms, done 40 times. */
void checkup_loop(struct spread *wall, struct spread *cpu);
/** 4 KiB written and synced, 60 times, in a file of its own that goes again. */
MUST_CHECK enum err_code checkup_disk(const char *folder, struct spread *out, struct err *e);

/** A program that building or measuring may need. */
struct tool {
    const char *name;
    const char *what_for;
    const char *package; /* of Debian */
    bool works;
    char says[160]; /* its version, or what is wrong */
};
enum { TOOLS = 8 };
/** Tries each of them. */
void checkup_tools(struct tool tools[TOOLS]);

#endif
