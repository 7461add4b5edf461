/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Changes of a time series as both detectors see them, and the range to search for each.
 *
 * change_points.h finds more, and tells where a change may be; perfherder_alerts.h says whether a
 * sheriff would have been alerted. They agree where the second points to a place that the first
 * thinks possible, or one beside it.
 */
#ifndef SEARCH_DETECTION_H
#define SEARCH_DETECTION_H

#include "search/perfherder_alerts.h"

struct detected {
    uint32_t at;          /* the first push of the new level */
    uint32_t good, bad;   /* pushes: it happened behind good, and at bad at the latest */
    double before, after; /* means of the levels */
    bool is_change_point, is_perfherder; /* who sees it; one at least */
    double p;      /* that chance alone does it; nan if it is no change point */
    double t;      /* Perfherder's; nan if it does not see it */
    uint32_t t_at; /* where it sees it */
    bool is_alert; /* large enough for an alert */
};

/** In order, as a new array that the caller frees; returns how many. Pushes are in order of time.
 */
uint32_t detect_changes(const struct push *pushes, uint32_t n, struct detected **out);

#endif
