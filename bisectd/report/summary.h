/* SPDX-License-Identifier: Apache-2.0 */
/** Where a bisection stands, or what it found, as text for a person. */
#ifndef REPORT_SUMMARY_H
#define REPORT_SUMMARY_H

#include "model/bisection.h"
#include "report/style.h"

/** How many hex digits of a revision are shown. */
enum { SHORT_HEX = 10 };

/** The verdict line first, then who, how much, how sure, on what evidence, and the runners-up. */
void summary_write(const struct verdict *v, const struct style *s, struct buf *out);

/** Where the reader is, so that what they are told to type works there. Borrowed; NULL: left out.
 */
struct place {
    const char *repository;  /* a folder with the commits; named unless it is the current one */
    const char *store;       /* given as --store */
    const char *coordinator; /* given as --coordinator */
    const char *token_file;  /* given as --token-file */
    const char *config;      /* given as --config */
};
/** Appends the flags that lead a command of ours there: " --store DIR"; nothing if none are needed.
 */
void place_add(const struct place *p, struct buf *command);
/** "What to type next": whole command lines with a reason each. */
void next_write(const struct verdict *v, const struct place *p, const struct style *s,
                struct buf *out);

/** 0 culprit, 3 not_reproduced, 4 range or inconclusive, 1 failed, 5 not finished. */
int verdict_exit_status(const struct verdict *v);

#endif
