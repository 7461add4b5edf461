/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers as people read them: few digits, sensible units, no false precision. */
#ifndef REPORT_FIGURE_H
#define REPORT_FIGURE_H

#include "base/buf.h"
#include <stdint.h>

/** What values of a metric are multiplied by for showing, and the unit they then have. */
struct figure_scale {
    double factor;
    const char *unit;      /* borrowed from the metric's, or constant; "" for none */
    const char *of_change; /* unit of a difference; NULL: the same */
};

/** One scale for a group of values, chosen by the largest magnitude among them. */
struct figure_scale figure_scale_of(const char *unit, double largest);
/** "1550 ms", "12.35 ms", "48.2 MiB", "3". "unknown" for nan. */
void figure_value(struct buf *out, double value, struct figure_scale scale);
/** The same with a sign. */
void figure_change(struct buf *out, double delta, struct figure_scale scale);
/** "+61.1 %", "31.0 times as much", nothing for nan. */
void figure_ratio(struct buf *out, double ratio);
/** A change in percent of the good level: "1.5 %", "149 %", "10 times the good level". `unit` is of
 *  a change that has one of its own, such as "points"; else NULL. */
void figure_effect(struct buf *out, double percent, const char *unit);
/** "99.3 %", "over 99.9 %", "under 0.1 %". */
void figure_probability(struct buf *out, double p);
/** "25,024". */
void figure_grouped(struct buf *out, int64_t n);
/** "1 build", "7 builds". */
void figure_count(struct buf *out, uint64_t n, const char *one, const char *many);

#endif
