/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Not measuring times on a machine that does something else.
 *
 * A look takes 20 ms where the machine is idle. Where it seems not to be, looks of 200 ms follow
 * until it is, or the patience of one wait is over: then it is measured all the same, and the log
 * says on what. A wait that was for nothing is not repeated for ten times as long, so a machine
 * that is always busy costs a tenth more time, not a wait before each task.
 */
#ifndef MEASURE_QUIET_H
#define MEASURE_QUIET_H

#include "base/err.h"
#include "model/metric.h"
#include "workers/sandbox/clip.h"
#include <stdbool.h>
#include <stdint.h>

struct quiet {
    int64_t patience_ns; /* of one wait; 0: never waits, and does not look */
    double most_busy;    /* share of all CPUs at work for others up to which a machine is quiet */
    int64_t rest_until_ns; /* no wait before; 0 at first */
};

/** Whether a busy machine moves what the metric measures. Counts, memory and pass or fail: no. */
bool quiet_is_needed(const struct metric *m);

/**
 * Waits for quiet, at most as long as the patience is, and writes to `log` what it waited for and
 * on what is measured after that.
 *
 * Pre: nothing of ours works on this host but the caller.
 * `may_go_on` is asked at each look (NULL: goes on) and told how busy the machine is, from 0 to 1.
 * Errors: ERR_TIMEOUT "stopped".
 */
MUST_CHECK enum err_code quiet_wait(struct quiet *q, struct clip *log,
                                    bool (*may_go_on)(void *context, double busy), void *context,
                                    struct err *e);

#endif
