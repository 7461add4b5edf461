/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What was done to which file: system calls summed up by their name and path.
 *
 * Pure. Sums do not depend on the order in which they are added up; memory has a limit.
 */
#ifndef FORMATS_TRACE_TABLE_H
#define FORMATS_TRACE_TABLE_H

#include "base/auto.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    TRACE_ROWS_MOST = 20000,                 /* beyond, paths are kept in their normal form alone */
    TRACE_TEXT_BYTES = 4 * MIB,              /* the same for the bytes of all paths together */
    TRACE_FOLDED_ROWS = TRACE_ROWS_MOST / 2, /* so many of those; then TRACE_PATH_REST */
    TRACE_PATH_BYTES = 4096                  /* of a path; longer ones are cut */
};
/** Stands for all files that no row was left for. */
#define TRACE_PATH_REST "(other files)"

struct trace_row {
    const char *call;
    const char *path;  /* "" where there is none, or none is known */
    uint64_t count;    /* calls that came back */
    uint64_t errors;   /* of these: failed */
    uint64_t n_timed;  /* of these: took a known time */
    int64_t total_ns;  /* of those; saturates */
    bool is_directory; /* the path was seen to be a folder's */
};

struct trace_table;

struct trace_table *trace_table_new(void);
void trace_table_free(struct trace_table *t);
DEFINE_AUTO(struct trace_table, trace_table_free)

/** Adds to the row of its call and path. Copies what it needs. */
void trace_table_add(struct trace_table *t, const struct trace_row *row);
/** Adds all rows of `from`. */
void trace_table_merge(struct trace_table *t, const struct trace_table *from);

size_t trace_table_size(const struct trace_table *t);
/** Pre: i < trace_table_size. Rows stand in no order; borrowed until the next change. */
const struct trace_row *trace_table_at(const struct trace_table *t, size_t i);
/** NULL if there is none. */
const struct trace_row *trace_table_find(const struct trace_table *t, const char *call,
                                         const char *path);
/** Calls whose path was folded because rows ran out. */
uint64_t trace_table_folded(const struct trace_table *t);
/** Of all rows. Call and path of the sum are "". */
struct trace_row trace_table_sum(const struct trace_table *t);

/** Which calls are wanted. Borrowed; {0} takes all. */
struct trace_filter {
    const char *const *calls; /* names, NULL-terminated; NULL: all */
    const char *path;         /* glob, see trace_glob; NULL: any, and none */
};
bool trace_filter_wants_call(const struct trace_filter *f, const char *call, size_t n);
bool trace_filter_wants_path(const struct trace_filter *f, const char *path);

/** Shell glob over a whole path, in which * and ? match slashes too: "*places.sqlite*". */
bool trace_glob(const char *pattern, const char *path);

/**
 * The path without what differs from run to run, written as #: runs of digits; words of eight hex
 * digits and more, with a digit among them; UUIDs; and the random ends that mkstemp gives (six
 * characters and more after a dot, dash or underscore at the end of a name, of both cases or with a
 * digit). "/tmp/x.aB3dE9/page-12" is "/tmp/x.#/page-#". Writes at most `room` bytes, NUL included.
 */
void trace_path_normal(const char *path, char *out, size_t room);

#endif
