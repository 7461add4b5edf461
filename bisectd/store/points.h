/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Imported time series: part of the run history beside the samples of bisections.
 *
 * Append only, like samples, and numbered with them: store_sample_list() lists both in the order
 * they came in. A point that is there already is not stored again.
 */
#ifndef STORE_POINTS_H
#define STORE_POINTS_H

#include "model/points.h"
#include "model/range_index.h"
#include "store/store.h"

struct points_added {
    size_t n_added, n_known;
};
/** All or, on failure, none. */
MUST_CHECK enum err_code store_points_add(struct store *s, const struct points *p, struct utc now,
                                          struct points_added *out, struct err *e);

/** What one source has of a metric: project, metric, platform and host name it. */
struct series_list {
    size_t n;
    struct series_row {
        int64_t id;
        char *host;
    } * items;
};
void series_list_fini(struct series_list *l);
DEFINE_AUTO_FINI(struct series_list, series_list_fini)
MUST_CHECK enum err_code store_series_list(struct store *s, const char *project, const char *metric,
                                           const char *platform, struct series_list *out,
                                           struct err *e);

struct point_list {
    size_t n, cap;
    struct point *items; /* in order of time */
};
void point_list_fini(struct point_list *l);
DEFINE_AUTO_FINI(struct point_list, point_list_fini)

/** Points of the series whose revision is in the range: as much work as the smaller of both. */
MUST_CHECK enum err_code store_points_within(struct store *s, int64_t series,
                                             const struct range *range,
                                             const struct range_index *known,
                                             struct point_list *out, struct err *e);
enum points_side { POINTS_BEFORE, POINTS_AFTER };
/** The `limit` points of the series that are next to a time, before or after it. */
MUST_CHECK enum err_code store_points_beside(struct store *s, int64_t series, enum points_side side,
                                             struct utc at, size_t limit, struct point_list *out,
                                             struct err *e);

#endif
