/* SPDX-License-Identifier: Apache-2.0 */
/** A question put, worked on and answered here and now: what `run` and `compare` share. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/flag.h"

/** Starts or joins the daemon of the store, follows it and prints. Returns the exit status. */
int run_here(const struct options *o);

#endif
