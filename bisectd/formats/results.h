/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a document of a result format holds: all its results, by suite, test, options and field.
 * format_list() of formats/format.h reads them.
 *
 * Pure. Nothing that model/quantity.h refuses ever becomes a value: a result of which one is said to
 * be nan, failed or missing carries a fault instead, and the other results stay usable.
 */
#ifndef FORMATS_RESULTS_H
#define FORMATS_RESULTS_H

#include "base/auto.h"
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

enum { RESULTS_MOST = 100000, RESULT_VALUES_MOST = 1000000 /* of a document */ };

/** Which direction is better, as the format states it. */
enum better { BETTER_UNKNOWN, BETTER_LOWER, BETTER_HIGHER };

/** When and of what something was measured, as the document writes it; NULL where it does not. */
struct stamp {
    char *time;     /* ISO 8601, or seconds since 1970 */
    char *revision; /* a commit, in whatever the document calls it by */
};

/** One series: values of the same thing, in the order of the document. */
struct result {
    char *suite; /* "" where the format knows none */
    char *test;  /* "" for the summary of a suite, or where the format names nothing */
    char *
        options; /* what tells variants of a test apart: "e10s fission", "size=10"; "" if nothing */
    char *field; /* which number of the test: "value", "real_time", "ns/op" */
    char *unit;  /* as the format states it; "" where it does not */
    enum better better;
    bool is_main; /* the field that is meant where none is named; a test has one at most */
    size_t n;
    double *values;
    struct stamp *stamps; /* one a value; NULL: struct results has the one of all */
    char *fault;          /* why it holds no number, in words; NULL: it holds n > 0 */
    size_t part;          /* of the document, counted by whoever reads it */
    size_t cap;
};

struct results {
    size_t n;
    struct result *items; /* in order of first appearance; no two with the same key */
    struct stamp stamp;   /* of all values */
    struct buf notes; /* what a person should know, a line each: parts passed over, debug builds */
    size_t n_values;  /* of all */
    size_t *slots;    /* index by key: 1 + position, 0 for none */
    size_t n_slots;
    bool is_full; /* there was more than fits: the whole is refused */
};
void results_fini(struct results *r);
DEFINE_AUTO_FINI(struct results, results_fini)

/* For readers of formats. Text is copied; what is not UTF-8 is repaired. */

struct result_key {
    const char *suite, *test, *options, *field; /* NULL is "" */
};
/** The result of this key, added empty if it is not there; good until the next is added. Beyond
 *  RESULTS_MOST it is the last one again, and `r` is full. */
struct result *results_at(struct results *r, const struct result_key *key);
/** NULL if it is not there. */
struct result *results_find(const struct results *r, const struct result_key *key);

/** The first statement counts. */
void result_set_unit(struct result *x, const char *unit);
/** One more value; one that is not finite is a fault. */
void result_add(struct results *r, struct result *x, double value);
/** Why it is no number; the first fault counts. */
void result_fault(struct result *x, const char *format, ...) PRINTF(2, 3);
/** Takes the time and revision of the value added last. Either may be NULL. */
void result_stamp(struct result *x, const char *time, const char *revision);
void results_note(struct results *r, const char *format, ...) PRINTF(2, 3);
/** "suite test [options]: field" without the parts that are "", for people. */
void result_label(const struct result *x, struct buf *out);

#endif
