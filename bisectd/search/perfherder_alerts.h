/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mozilla Perfherder's own alerts: a t-test that slides over pushes.
 *
 * Each push is compared, with those just before it, against itself and those just after, nearer
 * ones counting more. It needs twelve values after a change to see it, may be off by one push, and
 * sees neither slow drifts nor changes from zero: it stands beside change_points.h to tell whether
 * a sheriff would have been alerted.
 *
 * Source: treeherder/perfalert and treeherder/perf/alerts.py of mozilla/treeherder.
 */
#ifndef SEARCH_PERFHERDER_ALERTS_H
#define SEARCH_PERFHERDER_ALERTS_H

#include <stdbool.h>
#include <stdint.h>

/** All values of one push. Pre: at least one; finite. */
struct push {
    const double *values;
    uint32_t n;
};

struct alert_rule {
    uint32_t min_back, max_back,
        fore;         /* values, but before the change max_back counts pushes too */
    double t;         /* more is a change */
    double threshold; /* less is no alert: percent, or the metric's unit */
    bool is_absolute;
};
/** 12, 24 and 12 values, t over 7, 2 percent. */
extern const struct alert_rule alert_rule_usual;

/** The mean of pushes, nearest first, and the variance around it. */
struct push_level {
    double mean, variance;
    uint32_t n; /* values */
};
enum push_weights {
    WEIGHTS_EVEN,
    WEIGHTS_LINEAR /* of n pushes the k-th counts (n - k) / n */
};
/** Pre: n > 0. `step` is 1 or -1: from `nearest` on, or back from it. */
struct push_level push_level_of(const struct push *nearest, int step, uint32_t n,
                                enum push_weights weights);
/** Infinite where neither varies and the means differ. */
double push_t(const struct push_level *back, const struct push_level *fore);

struct push_change {
    uint32_t at; /* the first push of the new level */
    double t;
    double before, after; /* plain means of the values compared */
    double percent;       /* of before; 0 from zero, negative from below it */
};
/** Changes in order, as a new array that the caller frees; returns how many. Pushes are in order of
 *  time. */
uint32_t push_changes_find(const struct push *pushes, uint32_t n, const struct alert_rule *rule,
                           struct push_change **out);
/** Would an alert come of it? */
bool push_change_is_alert(const struct push_change *c, const struct alert_rule *rule);

#endif
