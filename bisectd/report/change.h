/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How much longer a culprit runs than its parent, for calls that were timed to be a share of.
 *
 * Pure. There are up to three ways of knowing it. The error of each is how far it may be from the
 * change of the very runs whose calls were timed:
 *
 *     traced  of these runs. Tracing adds to their time more than is known and taken off.
 *     plain   of untraced runs between them, on the same CPU. A disk that is uneven from run to run
 *             was another for these.
 *     stated  the verdict's, of many untraced runs; but of other minutes, and of any CPU.
 *
 * Each counts by the inverse square of its error, in this order; one that contradicts those before
 * it does not count: the machine, a disk above all, was slower or faster then.
 */
#ifndef REPORT_CHANGE_H
#define REPORT_CHANGE_H

#include "model/explanation.h"
#include "model/inspection.h"

/** Runs of one way of looking, side by side: the k-th of the parent with the k-th of the culprit.
 *  All borrowed. */
struct couples {
    uint32_t n;
    const struct inspected_run *runs[INSPECTION_RUNS][SIDES];
};

/** Of five or more, those that differ from each other by far more or less than most do are left
 * out: something else on the machine held one of the two up. */
struct couples couples_of(const struct inspection *seen, enum inspected_how how);

struct change {
    double seconds;   /* nan: not known */
    bool is_traced;   /* for more than half of its weight */
    double explained; /* by calls that do not wait for others, before any bound */
    double error;     /* its standard error; nan: unknown */
};

/** What the verdict says, in seconds; `error` is infinite where it measures no elapsed time. */
struct stated {
    double seconds, error;
};

struct change change_of(const struct inspection *seen, struct stated verdict);

#endif
