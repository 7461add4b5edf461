/* SPDX-License-Identifier: Apache-2.0 */
/** An order's text, written from what a job is to be. */
#ifndef SANDBOX_ORDER_TEXT_H
#define SANDBOX_ORDER_TEXT_H

#include "workers/sandbox/order.h"
#include "workers/sandbox/sandbox.h"

/**
 * Writes the text of an order to run the job.
 *
 * `wall` is the command that puts up its walls; empty: it has none.
 * Outputs: a descriptor that holds it, the caller's; its counts are in `o`. -1 with errno.
 */
int order_text(const struct job_spec *spec, const struct strings *wall, struct order *o);

#endif
