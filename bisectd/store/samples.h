/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Samples and builds: the evidence. Append only, and chained.
 *
 * Triggers refuse every change through SQLite. Each row also carries the SHA-256 of its content
 * and of the hash of the bisection's row before it, and the bisection keeps count and newest
 * hash, so that whoever alters, inserts or removes a row with other tools is found out.
 */
#ifndef STORE_SAMPLES_H
#define STORE_SAMPLES_H

#include "base/hash.h"
#include "model/task.h"
#include "store/store.h"

struct sample_row {
    int64_t seq;               /* over the whole store; the cursor of lists */
    struct id bisection, task; /* empty: an imported point */
    char *project, *metric;
    struct revision revision;
    struct revision reverted; /* on top of it when it was built; unset: none */
    char *fixups;             /* it was built with, by name; NULL: none */
    uint32_t number;
    uint64_t seed;
    struct run_result run;          /* status, reason, values, value, at, seconds */
    struct environment environment; /* platform is the one asked for */
    struct utc stored;              /* our clock */
};
struct sample_list {
    size_t n;
    struct sample_row *items;
    bool has_more;
};
void sample_list_fini(struct sample_list *l);
DEFINE_AUTO_FINI(struct sample_list, sample_list_fini)

/** Unset fields (NULL, false) match all. Points (store/points.h) are of no bisection and have no
 *  measure key. */
struct sample_filter {
    const char *bisection, *project, *metric, *platform;
    const char *revision; /* a whole hash or its first digits, lower case */
    const struct digest *measure_key;
    bool only_ok;  /* runs that have a value */
    int64_t after; /* seq of the last one seen */
    size_t limit;  /* 0: all */
};
MUST_CHECK enum err_code store_sample_list(struct store *s, const struct sample_filter *f,
                                           struct sample_list *out, struct err *e);

struct build_row {
    int64_t seq;
    struct id bisection, task;
    struct build_result build;
    char *fixups; /* by name; NULL: none */
    bool fresh;   /* as asked for */
    char *worker, *host, *platform;
    struct utc stored;
};
struct build_list {
    size_t n;
    struct build_row *items;
    bool has_more;
};
void build_list_fini(struct build_list *l);
DEFINE_AUTO_FINI(struct build_list, build_list_fini)

struct build_filter {
    const char *bisection, *task, *revision, *platform;
    const struct digest *build_key;
    bool only_usable; /* an artifact whose file is at hand; newest of each revision only */
    bool only_failed; /* by its steps: not for a limit or a fault of ours */
    int64_t after;
    size_t limit; /* 0: all */
};
MUST_CHECK enum err_code store_build_list(struct store *s, const struct build_filter *f,
                                          struct build_list *out, struct err *e);

/** Evidence as it was taken in: ERR_INVALID names the first sample or build that does not fit. */
MUST_CHECK enum err_code store_samples_verify(struct store *s, const char *bisection,
                                              struct err *e);

#endif
