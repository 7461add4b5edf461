/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All runs that bear on a bisection: in order of time, and gathered by revision and host.
 *
 * Runs far from the level of their revision (or, for a lone run, or a few at a level that no other
 * revision has, from every level seen) count the less the farther they are, as long as they are
 * few, so that an outlier or two do not look like the other level. All is whitened (whitened.h)
 * under several assumptions on hosts and drift, among which the posterior weighs.
 */
#ifndef SEARCH_EVIDENCE_H
#define SEARCH_EVIDENCE_H

#include "base/auto.h"
#include "search/whitened.h"
#include <stdbool.h>
#include <stdint.h>

struct moments {
    double n, mean, ss; /* count, mean, sum of squared deviations from it */
};
void moments_add(struct moments *m, double value);
void moments_merge(struct moments *m, const struct moments *other);

/** One run. Its place among the others is decided by time, then number, then value. */
struct observed {
    int64_t at_ns;   /* by its host's clock */
    double seconds;  /* it took; 0: not known */
    uint32_t number; /* among its revision's runs */
    double value;
    uint32_t slot, host;
    double noise; /* variance that it counts with, in units of other runs' */
    bool is_wild; /* left out of moments */
};

/** A revision with at least one run. */
struct sampled {
    uint32_t revision;     /* index in the range */
    uint8_t *is_ancestor;  /* of every commit of the range: is it this one or an ancestor */
    uint32_t n_all;        /* runs, wild ones included */
    uint32_t *n_runs;      /* the same on each host */
    struct moments all;    /* over hosts */
    struct moments *hosts; /* one for each host known, zero where it has no run */
};

enum { MAX_WEATHERS = 16 };
struct evidence {
    uint32_t n_commits;
    uint32_t n; /* sampled revisions, in the order first seen */
    struct sampled *sampled;
    uint32_t n_hosts;
    char **hosts;
    double n_runs;                 /* all, wild ones included */
    struct observed *runs;         /* in order of time */
    uint32_t runs_cap, n_whitened; /* runs up to n_whitened are in the sums of every weather */
    uint32_t n_wild, n_wide; /* far from their level, before it is asked whether they are few */
    uint32_t n_weathers;
    struct whitened weathers[MAX_WEATHERS];
};

struct evidence *evidence_new(uint32_t n_commits);
void evidence_free(struct evidence *e);
DEFINE_AUTO(struct evidence, evidence_free)

/** Slot of the revision, or UINT32_MAX when it has no run yet. */
uint32_t evidence_find(const struct evidence *e, uint32_t revision);
/** Adds one run (slot, host, noise and is_wild are filled in here); returns true if the revision is
 * new, and then `is_ancestor` must be filled. */
bool evidence_add(struct evidence *e, uint32_t revision, const char *host,
                  const struct observed *run, uint32_t *slot);
/** Sets wild runs aside (not for rates) and brings moments and weathers up to date. */
void evidence_settle(struct evidence *e, bool is_rate);

/** Pooled standard deviation within revisions (and hosts); *dof is how many degrees it rests on. */
double evidence_within_sd(const struct evidence *e, double *dof);

/**
 * The runs cut in two by a hypothesis. Sums are of what is left once levels that both sides share
 * are taken out: y is the value, x is 1 on the bad side.
 */
struct split {
    double n;       /* runs */
    double n_hosts; /* levels taken out */
    double s_yy, s_xx, s_xy;
    double mean, ones, bad_ones; /* the common level; equal runs that it and the bad side rest on */
    struct moments good, bad;    /* over hosts, for showing and for rates */
};
enum { LEFT_OUT = 2 };
/** Every host has a level of its own. side[slot] of a sampled revision is 0 (good), 1 (bad) or
 *  LEFT_OUT. */
void evidence_split(const struct evidence *e, const uint8_t *side, struct split *out);
/** The runs of two revisions alone: the first is good, the second bad. */
void evidence_split_pair(const struct evidence *e, uint32_t good_slot, uint32_t bad_slot,
                         struct split *out);
/** Adds one host's moments, good side and bad, to a split that begins as {0}. */
void split_add(struct split *out, const struct moments side[2]);

#endif
