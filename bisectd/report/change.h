/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How much longer a culprit runs than its parent, for calls that were timed to be a share of.
 *
 * Pure. There are up to four ways of knowing it. The error of each is how far it may be from the
 * change of the very runs whose calls were timed:
 *
 *     plain   of untraced runs between them, on the same CPU. A disk that is uneven from run to run
 *             was another for these.
 *     booked  what these runs take in calls, and the untraced ones in user mode by the kernel's
 *             books. A process also waits for its turn, and for pages.
 *     traced  of these runs. Tracing adds to their time more than is known and taken off.
 *     stated  the verdict's, of many untraced runs; but of other minutes, and of any CPU.
 *
 * Each counts by the inverse square of its error, in this order; one that contradicts those before
 * it does not count: the machine, a disk above all, was slower or faster then.
 */
#ifndef REPORT_CHANGE_H
#define REPORT_CHANGE_H

#include "model/explanation.h"
#include "model/inspection.h"

/** A page fault takes up to so long. */
#define FAULT_S 1e-6

/** Runs of one way of looking, side by side: the k-th of the parent with the k-th of the culprit.
 *  All borrowed. */
struct couples {
    uint32_t n;
    const struct inspected_run *runs[INSPECTION_RUNS][SIDES];
};

/** Of five or more, those that differ from each other by far more or less than most do are left
 * out: something else on the machine held one of the two up. */
struct couples couples_of(const struct inspection *seen, enum inspected_how how);

struct moments {
    double mean, error; /* standard error, as wide as few values make it; infinite of one */
};

struct moments moments_of(const double *x, uint32_t n);

struct change {
    double seconds;   /* nan: not known */
    bool is_traced;   /* for more than half of its weight */
    double explained; /* by calls that neither wait for others nor are cheap (report/call_times.h),
                         before any bound */
    double error;     /* its standard error; nan: unknown */
};

/** What the verdict says, in seconds; `error` is infinite where it measures no elapsed time. */
struct stated {
    double seconds, error;
};

struct change change_of(const struct inspection *seen, struct stated verdict);

#endif
