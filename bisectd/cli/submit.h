/* SPDX-License-Identifier: Apache-2.0 */
/** Handing a question to a service. */
#ifndef CLI_SUBMIT_H
#define CLI_SUBMIT_H

#include "base/err.h"
#include "base/json.h"
#include "cli/flag.h"

/**
 * Posts the bisection that the flags of `submit` describe.
 *
 * Output: the service's answer, and what a person is told of it, appended to `said`.
 * Errors: those of the flags, of the service, and of the way there.
 */
MUST_CHECK enum err_code submit_question(const struct options *o, json **answer, struct buf *said,
                                         struct err *e);

#endif
