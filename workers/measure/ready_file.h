/* SPDX-License-Identifier: Apache-2.0 */
/** The file by which a program shows that it is ready, as an earlier run has left it. */
#ifndef MEASURE_READY_FILE_H
#define MEASURE_READY_FILE_H

#include "base/err.h"
#include "model/ready.h"
#include "workers/sandbox/job_env.h"

/**
 * Removes it, where it is in the folder that commands start in or in $HOME, which both outlast a
 * run. Nothing there, a folder, or a path that leads out of them by a link: left as it is, and the
 * run will not start. For other ways of being ready there is nothing to do.
 */
MUST_CHECK enum err_code ready_file_forget(const struct ready *r, const struct job_place *place,
                                           struct err *e);

#endif
