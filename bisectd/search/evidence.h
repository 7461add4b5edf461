/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All runs that bear on a bisection, gathered by revision and host.
 *
 * A host has its own level (sometimes 1.5 times another's), so moments are kept for each and
 * compared within a host only; what they have in common is the step.
 */
#ifndef SEARCH_EVIDENCE_H
#define SEARCH_EVIDENCE_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

struct moments {
    double n, mean, ss; /* count, mean, sum of squared deviations from it */
};
void moments_add(struct moments *m, double value);
void moments_merge(struct moments *m, const struct moments *other);

/** A revision with at least one run. */
struct sampled {
    uint32_t revision;     /* index in the range */
    uint8_t *is_ancestor;  /* of every commit of the range: is it this one or an ancestor */
    struct moments all;    /* over hosts */
    struct moments *hosts; /* one for each host known, zero where it has no run */
};

struct evidence {
    uint32_t n_commits;
    uint32_t n; /* sampled revisions, in the order first seen */
    struct sampled *sampled;
    uint32_t n_hosts;
    char **hosts;
    double n_runs;
};

struct evidence *evidence_new(uint32_t n_commits);
void evidence_free(struct evidence *e);
DEFINE_AUTO(struct evidence, evidence_free)

/** Slot of the revision, or UINT32_MAX when it has no run yet. */
uint32_t evidence_find(const struct evidence *e, uint32_t revision);
/** Adds one run; returns true if the revision is new, and then `is_ancestor` must be filled. */
bool evidence_add(struct evidence *e, uint32_t revision, const char *host, double value,
                  uint32_t *slot);

/** Pooled standard deviation within revisions (and hosts); *dof is how many degrees it rests on. */
double evidence_within_sd(const struct evidence *e, double *dof);

/**
 * The runs cut in two by a hypothesis: is_bad[slot] says on which side a sampled revision is.
 * Sums are within hosts: y is the value, x is 1 on the bad side.
 */
struct split {
    double n;       /* runs */
    double n_hosts; /* hosts with at least one run */
    double s_yy, s_xx, s_xy;
    struct moments good, bad; /* over hosts, for showing and for rates */
};
/** The runs of two revisions alone: the first is good, the second bad. */
void evidence_split_pair(const struct evidence *e, uint32_t good_slot, uint32_t bad_slot,
                         struct split *out);
void evidence_split(const struct evidence *e, const uint8_t *is_bad, struct split *out);

#endif
