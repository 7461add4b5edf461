/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Points of a time series that somebody else measured: each is one run of one revision.
 *
 * A series is what one source (a CI's machine, a file) measured of one metric on one platform. It
 * has a level of its own, like a host.
 */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "model/revision.h"

enum { POINTS_MOST = 5000 /* in one request */, POINT_NTH_MOST = 1000000 };

/** Hosts of stored points begin with this: a series is never on one level with a worker's. */
#define POINTS_HOST "import:"

struct point {
    struct revision revision;
    struct utc at; /* whole milliseconds */
    double value;
    uint32_t nth; /* tells equal values of one revision and time apart: 0, 1, … */
};
struct points {
    char *project, *metric, *platform;
    char *host; /* where they come from, without POINTS_HOST */
    size_t n;
    struct point *items;
};
void points_free(struct points *p);
DEFINE_AUTO(struct points, points_free)

/** {"project", "metric", "platform", "host", "points": [{"revision", "at", "value", "nth"}, …]}; at
 *  as utc_format() writes it, nth may be left out where it is 0. Unknown keys are errors. */
json *points_to_json(const struct points *p);
MUST_CHECK enum err_code points_from_json(const json *v, struct points **out, struct err *e);

#endif
