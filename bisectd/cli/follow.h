/* SPDX-License-Identifier: Apache-2.0 */
/** Watching a bisection to its end and printing what it found: what `run` and `watch` share. */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/client.h"
#include "cli/flag.h"

/**
 * Shows progress on stderr until the bisection is finished or a signal comes.
 *
 * Outputs: *out is where it stands then (NULL if nothing was seen); caller frees.
 */
MUST_CHECK enum err_code follow(struct client *c, const char *id, struct verdict **out,
                                struct err *e);

/** The verdict document or its text, with what to type next. Returns the exit status.
 *  `repository` is where the commits are, NULL: unknown. */
int print_verdict(const struct options *o, struct client *c, const struct verdict *v,
                  const char *repository);

/** Says that a signal ended the watching, and how to go on; with --json prints where it stands.
 *  `how`: a whole sentence. Returns EXIT_INTERRUPTED. */
int print_interrupted(const struct options *o, const struct verdict *v, const char *how);

#endif
