/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What calls take of a run, as far as tracing can tell.
 *
 * Pure. A traced call takes longer. Trivial calls show beforehand by how much, and it is taken off;
 * but other calls, in another program and minute, cost up to twice as much. So much may be wrong
 * with the time of each. Calls that take less than that are cheap. Few of them are no matter; of
 * many, the error passes all the time that an untraced run has for them. Then what is known is:
 *
 *  - at most, they take what such a run takes, less its user time and what other calls take. The
 *    kernel books entering and leaving it as user time;
 *  - at least, they take the system time of such a run, less its page faults and what other calls
 *    take; or what entering and leaving takes, if that is more;
 *  - each takes as long before as after: their number says how much they differ. What a run has
 *    beside that is part of the error: it may be theirs.
 *
 * In between, one is as likely as the other.
 */
#ifndef REPORT_CALL_TIMES_H
#define REPORT_CALL_TIMES_H

#include "report/change.h"

/** `seconds` is of `n` calls, as an inspection states it. */
bool call_times_are_cheap(const struct inspection *seen, double seconds, double n);

/** Makes the times of all differences that work what is known of them.
 *
 *  Returns: the standard error, in seconds, of what they take longer in all. */
double call_times_settle(struct explanation *v, const struct inspection *seen);

#endif
