/* SPDX-License-Identifier: Apache-2.0 */
/** A tally of slow SQL as a report shows it: rows, groups, and what was left out. Pure. */
#ifndef FORMATS_SLOWSQL_SHEET_H
#define FORMATS_SLOWSQL_SHEET_H

#include "base/err.h"
#include "base/json.h"
#include "formats/slowsql_rates.h"
#include "formats/tally.h"

/** The names of the two groups of a comparison. */
extern const char *const sheet_pair_names[2]; /* "before", "after" */

struct sheet_group {
    char *name;
    struct sums reports; /* reports and their time of use */
    struct sums slow;    /* all rows: count and total */
};

struct sheet_row {
    char *cells; /* the key without its group: what a row is told by */
    char *db, *thread, *statement; /* NULL: not told apart by that */
    uint32_t group;                /* of a sheet that is no pair */
    struct sums of[2];             /* [0] alone, or before and after */
    struct rate rate;              /* of a pair; ratio nan where unknown */
};

struct sheet_note {
    char *name;
    int64_t n;
};

struct sheet {
    bool is_pair;   /* groups 0 and 1 are before and after */
    bool is_builds; /* each group is a build */
    bool has_rates; /* of a pair: there is more than the ratio */
    bool is_by_hours;
    struct sheet_group *groups;
    size_t n_groups;
    struct sheet_row *rows; /* the largest first */
    size_t n_rows;
    struct rate rate; /* of a pair, all rows together */
    int64_t n_read, n_superseded;
    struct sheet_note *filtered, *rejected;
    size_t n_filtered, n_rejected;
};

void sheet_free(struct sheet *s);
DEFINE_AUTO(struct sheet, sheet_free)

/** SHEET_PART: as found, and some of what was mapped may be summed up elsewhere. */
enum sheet_kind { SHEET_AS_FOUND, SHEET_PAIR, SHEET_PART };

/** What is as found is a pair too if all groups have those names. ERR_INVALID: a key is none of
 *  ours, or a sum is below zero, as it may be in a part that takes sessions off; ERR_LIMIT: sums
 *  past 64 bits. */
MUST_CHECK enum err_code sheet_of(const struct tally *t, enum sheet_kind kind, struct sheet **out,
                                  struct err *e);
/** What a key is told by, without its group: where that begins. Pre: a key of ours. */
size_t sheet_cells_at(const char *key, size_t n_key);

/** {"rows": […], "total": …, "reports": […], …}; at most `limit` rows, 0: all. */
json *sheet_to_json(const struct sheet *s, size_t limit);

#endif
