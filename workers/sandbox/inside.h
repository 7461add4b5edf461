/* SPDX-License-Identifier: Apache-2.0 */
/** bisect-job, the program that starts a job inside walls. The worker carries it within itself, so
 *  that there is no file to find, and none that a job could reach. */
#ifndef SANDBOX_INSIDE_H
#define SANDBOX_INSIDE_H

#include "base/err.h"

/** A descriptor to execute; nobody can write to it. */
MUST_CHECK enum err_code inside_open(int *out, struct err *e);

#endif
