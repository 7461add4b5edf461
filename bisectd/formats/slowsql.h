/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The map step of slow SQL: what one telemetry document adds to which sums.
 *
 * A key is a JSON array [group, database, thread, statement] of strings, in its shortest form, with
 * "" where rows are not told apart by that. [group,null,null,null] holds all reports of the group,
 * whether they have slow statements or not, and keys that begin with null are the book-keeping:
 *
 *     [null,"read","",""]               documents read
 *     [null,"filtered","channel",""]    not asked for; also "build" and "submitted"
 *     [null,"rejected","not_json",""]   of no use; the reasons are those of formats/telemetry.h
 *     [null,"superseded","",""]         counted again by a later document of their session
 *     [null,"session",ID,[ORDER,[KEY,count,total_ms,reports,used],…]]
 *                                       what a report of a session added, so that whoever sees all
 *                                       of them can take all but the last one off again
 *
 * Pure.
 */
#ifndef FORMATS_SLOWSQL_H
#define FORMATS_SLOWSQL_H

#include "formats/build_id.h"
#include "formats/tally.h"
#include "formats/telemetry.h"

/** What rows are told apart by. */
enum slowsql_by { BY_BUILD = 1, BY_DB = 2, BY_STATEMENT = 4, BY_THREAD = 8 };

struct slowsql_group {
    const char *name;
    struct stretch build, submitted;
};

enum { SLOWSQL_GROUPS = 2 };

/** Borrowed strings. */
struct slowsql_question {
    struct stretch build, submitted;
    const char *channel;      /* NULL: all; "unknown" are reports without one */
    const char *db;           /* a glob; NULL: all */
    const char *statement;    /* a part of its text; NULL: all */
    unsigned threads;         /* 1 << enum sql_thread; 0: all */
    unsigned by;              /* 0: database, thread and statement */
    bool is_every_report;     /* count each report, not only the last one of its session */
    bool is_pair;             /* before against after: by the groups, or those of reduced lines */
    size_t n_groups;          /* 0: one group "all", or one a build */
    struct slowsql_group groups[SLOWSQL_GROUPS];
};

struct slowsql_item {
    size_t key_at, n_key; /* in `keys` */
    struct sums sums;
};

enum slowsql_fate { FATE_COUNTED, FATE_FILTERED, FATE_REJECTED };

/** Which document of a session is the last: the greatest, member by member. */
struct slowsql_order {
    int64_t used;
    stamp submitted;
    int64_t total_ms;
    uint64_t hash;
};

/** What a document adds. Zeroed before its first use, then used again and again. */
struct slowsql_mapped {
    enum slowsql_fate fate;
    const char *why; /* FATE_FILTERED, FATE_REJECTED */
    unsigned n_rejected[REJECT_COUNT_OF]; /* statements */
    size_t group;          /* of the question's */
    bool has_time;         /* does the document say how long it was used? */
    struct buf session;    /* its session; empty: unknown, or every report counts */
    struct slowsql_order order;
    uint64_t client;       /* a hash; 0: unknown */
    struct buf keys;
    struct slowsql_item *items; /* the first is the report itself */
    size_t n, cap;
    struct buf text, db; /* scratch */
};
void slowsql_mapped_fini(struct slowsql_mapped *m);
DEFINE_AUTO_FINI(struct slowsql_mapped, slowsql_mapped_fini)

void slowsql_map(const struct slowsql_question *q, const struct telemetry *t,
                 struct slowsql_mapped *m);

/** Is the statement one of those asked for? Writes its text and database, cleared before. */
bool slowsql_is_asked(const struct slowsql_question *q, const struct slow_statement *s,
                      struct buf *text, struct buf *db);

/** Appends `text` as a JSON string: only what has to be is escaped; broken UTF-8 is repaired. */
void slowsql_add_string(struct buf *out, const char *text, size_t n);
/** Appends a key of the book-keeping. */
void slowsql_note_key(struct buf *out, const char *what, const char *which);
/** Appends the database that a statement's text names: the comment at its end, or what it says of
 *  itself where the text is not told; "unknown" if it names none. */
void slowsql_db_of(const char *sql, size_t n, struct buf *out);

#endif
