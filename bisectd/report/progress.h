/* SPDX-License-Identifier: Apache-2.0 */
/** Where a running bisection stands, in a line or two. */
#ifndef REPORT_PROGRESS_H
#define REPORT_PROGRESS_H

#include "model/bisection.h"
#include "report/style.h"

enum { PROGRESS_LINES = 2 };

/** Candidates still in play, or the whole range while no candidate stands out. */
uint32_t progress_candidates(const struct verdict *v);
/**
 * Two lines for a terminal, without newlines, cut to the style's width.
 *
 * `seconds`: since this sitting began, as the reader's clock has it.
 */
void progress_live(const struct verdict *v, double seconds, const struct style *s,
                   struct buf lines[PROGRESS_LINES]);
/** One line for a log, with a newline, without colour. */
void progress_plain(const struct verdict *v, double seconds, struct buf *out);

#endif
