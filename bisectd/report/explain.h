/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What was seen of a culprit and its parent, made an explanation.
 *
 * Pure. A share is a difference in time over the change in elapsed time; of a metric that is made
 * of chosen calls, the difference of these, in number or in time, over the metric's. How it stays
 * honest:
 *
 *  - The change is what untraced runs, the kernel's books, the traced runs in between and the
 *    verdict say together (report/change.h); where a disk is slower now than when the verdict was
 *    measured, that one does not count.
 *  - Times are known no better than what tracing adds to a call, and bounded by what untraced runs
 *    have for them (report/call_times.h).
 *  - Calls that overlap in several threads or processes share the time in which they do
 *    (model/inspection.h), so that they cannot sum up to more than the run took; should they, by
 *    noise, all shares are scaled down to 1.
 *  - Calls that sleep, or wait for somebody outside (poll, a read of a socket), are credited last,
 *    with at most what neither other calls nor processor time account for; calls that wait for
 *    processes or threads of their own (wait4, futex, a read of a pipe) never: those are traced
 *    themselves.
 *  - Processor time outside of calls is stated beside, and never counted as explained by calls.
 */
#ifndef REPORT_EXPLAIN_H
#define REPORT_EXPLAIN_H

#include "model/bisection.h"
#include "model/explanation.h"
#include "model/inspection.h"

enum { EXPLAIN_ROWS = 200 }; /* differences kept, at most */

/** All borrowed. */
struct explain_terms {
    const struct metric *metric;
    const struct culprit *culprit; /* as in the verdict */
    struct revision parent;
};

/** Are there shares to state? Else a few runs tell what differs as well as many. */
bool explain_has_shares(const struct metric *m);

/** Never fails: what cannot be explained says so. Caller frees. */
struct explanation *explain(const struct explain_terms *terms, const struct inspection *seen);

#endif
