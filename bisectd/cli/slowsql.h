/* SPDX-License-Identifier: Apache-2.0 */
/** What the commands of slow SQL share: their flags, and the question these put. */
#ifndef CLI_SLOWSQL_H
#define CLI_SLOWSQL_H

#include "cli/command.h"
#include "cli/slowsql_gather.h"
#include "formats/slowsql_change.h"
#include "formats/slowsql_sheet.h"
#include "formats/total_claim.h"
#include "report/style.h"

/** The question of the flags, which it borrows from. ERR_INVALID names the flag. */
MUST_CHECK enum err_code slowsql_question_of(const struct options *o, struct slowsql_question *out,
                                             struct err *e);
/** The files and threads of the flags. */
struct gather_input slowsql_input_of(const struct options *o, const struct slowsql_question *q);

/** A change of one row by build, as it is told. */
struct slowsql_told_change {
    char *db, *thread, *statement; /* NULL: not told apart by that */
    struct slow_change change;
    const char *builds[4]; /* last without, first with; and the stretch it came in: after, up to */
    const char *good, *bad; /* revisions of the stretch; NULL: not known */
};

struct slowsql_findings {
    struct sheet *sheet;
    struct slowsql_told_change *changes;
    size_t n_changes;
    struct total_claim *claims;
    size_t n_claims;
    const struct strings *claim_texts;
};
void slowsql_findings_fini(struct slowsql_findings *f);
DEFINE_AUTO_FINI(struct slowsql_findings, slowsql_findings_fini)

json *slowsql_to_json(const struct slowsql_findings *f, size_t limit);
void slowsql_to_text(const struct slowsql_findings *f, size_t limit, const struct style *s,
                     struct buf *out);

/** Looks for changes by build in each row; the sheet is one of builds. `map` may be NULL. */
MUST_CHECK enum err_code slowsql_find_changes(const struct gathered *g, const struct build_map *map,
                                              const struct options *o, struct slowsql_findings *f,
                                              struct err *e);
/** Intervals and verdicts of a pair. */
void slowsql_rate(const struct gathered *g, const struct options *o, struct sheet *s);

/* clang-format off */
#define FLAG_ROWS_SLOWSQL \
    {"--submitted", "FROM..TO", FLAG_TEXT, offsetof(struct options, submitted), "reports submitted on these days, both included; either end may be left out", NULL, 0, 0}, \
    {"--build", "FROM..TO", FLAG_TEXT, offsetof(struct options, build_range), "reports of these builds, both included: days or build IDs; either end may be left out", NULL, 0, 0}, \
    {"--channel", "NAME", FLAG_TEXT, offsetof(struct options, channel), "reports of this channel; unknown: of those that name none", NULL, 0, 0}, \
    {"--db", "GLOB", FLAG_TEXT, offsetof(struct options, db), "statements on databases of such a name: formhistory.sqlite, 'places*'", NULL, 0, 0}, \
    {"--statement", "TEXT", FLAG_TEXT, offsetof(struct options, statement), "statements whose text contains this", NULL, 0, 0}, \
    {"--thread", "main|other|all", FLAG_CHOICE, offsetof(struct options, thread), "statements on the main thread or on others (default: all)", slowsql_thread_choices, 0, 0}, \
    {"--sessions", "last|every", FLAG_CHOICE, offsetof(struct options, sessions), "last: of the reports of one session, whose counters grow from one to the next, only the last counts (default); every: all count", slowsql_sessions_choices, 0, 0}, \
    {"--jobs", "N", FLAG_COUNT, offsetof(struct options, jobs), "threads (default: one a core); the output is the same with any number", NULL, 1, 256}
#define FLAG_ROW_BY {"--by", "WHAT", FLAG_TEXT, offsetof(struct options, by), "what has a row of its own: build, db, statement, thread, or several with commas (default: db,thread,statement)", NULL, 0, 0}
#define FLAG_ROWS_PAIR \
    {"--before-build", "FROM..TO", FLAG_TEXT, offsetof(struct options, before_build), "the first group: reports of these builds", NULL, 0, 0}, \
    {"--after-build", "FROM..TO", FLAG_TEXT, offsetof(struct options, after_build), "the second group: reports of these builds", NULL, 0, 0}, \
    {"--before-submitted", "FROM..TO", FLAG_TEXT, offsetof(struct options, before_submitted), "the first group: reports submitted on these days", NULL, 0, 0}, \
    {"--after-submitted", "FROM..TO", FLAG_TEXT, offsetof(struct options, after_submitted), "the second group: reports submitted on these days", NULL, 0, 0}
/* clang-format on */
extern const char *const slowsql_thread_choices[];
extern const char *const slowsql_sessions_choices[];

#endif
