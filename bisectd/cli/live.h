/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Progress on stderr: lines redrawn in place on a terminal, else a plain line for a change, not
 * more often than people want to read.
 */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "model/bisection.h"

struct live;

struct live *live_new(void);
void live_free(struct live *l); /* takes the lines off the terminal */
DEFINE_AUTO(struct live, live_free)

/** Where the bisection stands now. */
void live_show(struct live *l, const struct verdict *v);
/** Time goes by: moves the clock of the lines on. */
void live_tick(struct live *l);
/** Takes the lines off, so that other text can be printed. */
void live_clear(struct live *l);

#endif
