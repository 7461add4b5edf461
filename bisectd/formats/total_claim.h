/* SPDX-License-Identifier: Apache-2.0 */
/**
 * "174,993 slow occurrences averaging 143 ms, 417 seconds in all": does that agree with itself?
 * Pure.
 */
#ifndef FORMATS_TOTAL_CLAIM_H
#define FORMATS_TOTAL_CLAIM_H

#include "base/err.h"
#include <stdbool.h>

struct total_claim {
    double count, mean_ms;
    double claimed;           /* in the unit that is claimed */
    const char *claimed_unit; /* "s" and the like */
    double total_ms;          /* count times mean */
    bool agrees;              /* within what rounding the mean and the total can do */
    const char *looks_like;   /* the unit in which it would agree, such as "minutes"; or NULL */
    const char *claimed_name; /* "seconds" */
};

/**
 * Finds the three in a sentence: a number without a unit of time is the count; of the two times the
 * one beside "mean", "average" or "each" is the mean, or the one after "total", "sum" or "=" the
 * total; else the total is the second.
 *
 * Errors: ERR_INVALID where there are not exactly these three, one is below zero, or the count or a
 * total in ms is over 2^53.
 */
MUST_CHECK enum err_code total_claim_read(const char *text, struct total_claim *out, struct err *e);

#endif
