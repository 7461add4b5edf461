/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs in order of time under one assumption on what moves values beside the revision, as sums in
 * which equal noise is all that is left.
 *
 * A value is  level(revision) + offset(host) + drift(host, time) + noise,  all in units of the
 * noise's standard deviation: offsets are normal, drift is an Ornstein-Uhlenbeck process, so that
 * a Kalman filter whitens the values and the indicator of each revision alike (Harvey,
 * "Forecasting, structural time series models and the Kalman filter", 1989, section 3.4). What a
 * hypothesis needs is then a sum over the revisions that it calls bad.
 */
#ifndef SEARCH_WHITENED_H
#define SEARCH_WHITENED_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

/** What else moves values. Variances in units of one run's. */
struct weather {
    double host_var;   /* of a host's own level */
    double drift_var;  /* of the drift, in the long run */
    double drift_runs; /* its correlation time, in run lengths */
    double prior;
};

struct whitened {
    struct weather weather;
    uint32_t n_runs, n_slots, n_hosts, slot_cap;
    double *inner;  /* slot by slot, slot_cap to a row */
    double *with_y; /* slot with value */
    double *seen;   /* room for a slot's innovations */
    double *means;  /* of each host: two states for the value and for every slot */
    struct host_state {
        bool is_seen;
        double var[3]; /* offset, offset with drift, drift */
    } * hosts;
    double yy, log_det;
    uint32_t last_host;
};

void whitened_init(struct whitened *w, struct weather weather);
void whitened_fini(struct whitened *w);

/** The next run of its host, `gap` run lengths after the one before, with `noise` times a usual
 *  run's variance; values are best near zero.
 *  Pre: slot < slot_cap. */
void whitened_add(struct whitened *w, uint32_t slot, uint32_t host, double gap, double noise,
                  double value);
/** Forgets all runs, with room for so many slots. */
void whitened_reset(struct whitened *w, uint32_t n_slots);

/** The sums once the level common to all is taken out. */
struct sums {
    uint32_t n_slots;
    double n_runs, yy;
    double mean, ones; /* the level if nothing changed, and how many equal runs it rests on */
    double log_norm;   /* log density that belongs to the weather alone */
    double *inner;     /* n_slots by n_slots */
    double *with_y, *with_one;
    /* Of a run taken next on the host that ran last: what the drift is believed to be. */
    double now_var, now_y, now_one, *now; /* = now_y - level * now_one - sum of steps * now[slot] */
};
void whitened_sums(const struct whitened *w, struct sums *out);
void sums_fini(struct sums *s);
DEFINE_AUTO_FINI(struct sums, sums_fini)

#endif
