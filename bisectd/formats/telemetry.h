/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a telemetry document says of slow SQL statements: the modern "main" ping, the legacy
 * wrapper, whose payload may be an object or a string that holds one, and a bare payload.
 *
 * Most of a document is passed over (formats/skim.h). What is read, last one first where a key
 * comes twice, as JSON parsers do:
 *
 *     clientId, payload.clientId     whose it is
 *     payload.info.sessionId, slug   of which session; the counters of one session's documents add up
 *                                    from one to the next, so only its last document counts
 *     submission date                submissionDate, submissionTimestamp (also in meta, also with
 *                                    underscores), else creationDate
 *     build                          payload.info.appBuildID, application.buildId,
 *                                    environment.build.buildId: the first there is
 *     channel                        payload.info.appUpdateChannel, application.channel
 *     time of use                    payload.info.sessionLength or subsessionLength (seconds), else
 *                                    payload.simpleMeasurements.uptime (minutes)
 *     slowSQL                        {"mainThread": {"SQL": [count, total ms]}, "otherThreads": …};
 *                                    slowSQLStartup (or …startup) is part of it, so it is read
 *                                    only where there is no slowSQL
 *
 * Pure: the spans point into the document, or into what the reader holds, until its next document.
 */
#ifndef FORMATS_TELEMETRY_H
#define FORMATS_TELEMETRY_H

#include "formats/skim.h"

enum sql_thread { SQL_MAIN, SQL_OTHER, SQL_THREAD_COUNT /* of neither: a fault */ };
extern const char *const sql_thread_names[SQL_THREAD_COUNT]; /* "main", "other" */

/** Why a document, or one statement of it, does not count. The names are part of the output. */
enum reject {
    REJECT_NONE,
    REJECT_NOT_JSON,     /* not one JSON object: cut, brackets or quotes that do not match, … */
    REJECT_NO_PAYLOAD,   /* JSON, but neither payload nor slowSQL nor info */
    REJECT_BAD_PAYLOAD,  /* payload is no object, and no string with one */
    REJECT_BAD_SLOW_SQL, /* slowSQL or a thread of it is neither an object nor null */
    REJECT_BAD_HOURS,    /* a session that lasted less than nothing, or over a year */
    REJECT_TOO_MANY,     /* more than TELEMETRY_STATEMENTS statements */
    REJECT_TOO_LONG,     /* a line over the reader's limit; found by whoever cuts lines */
    REJECT_BAD_BUILD,    /* a build ID that is no date */
    REJECT_NO_BUILD,     /* none, where the question is about builds */
    REJECT_NO_DATE,      /* no submission date, where the question is about those */
    /* of a statement: the document counts without it */
    REJECT_BAD_COUNTS,      /* not [count, total], whole numbers */
    REJECT_COUNT,           /* a count of none or less */
    REJECT_NEGATIVE,        /* a negative total */
    REJECT_ABSURD,          /* over 2^31, which the sender's counters cannot reach */
    REJECT_TEXT,            /* a NUL in its text, which no statement has */
    REJECT_OUTLASTS,        /* on the main thread, and longer than the whole session (sessionLength or
                               uptime), a tenth of that and two minutes */
    REJECT_THREAD,          /* of a thread that is neither mainThread nor otherThreads */
    REJECT_BELOW_THRESHOLD, /* a total that slow statements cannot have: under 50 ms each on the
                               main thread, under 100 ms on others */
    REJECT_COUNT_OF
};
extern const char *const reject_names[REJECT_COUNT_OF]; /* "not_json" and the like */
extern const char *const reject_words[REJECT_COUNT_OF]; /* for people */

enum { TELEMETRY_STATEMENTS = 10000 };

struct slow_statement {
    enum sql_thread thread;
    struct span sql; /* raw */
    int64_t count, total_ms;
    enum reject fault; /* of this statement alone */
};

struct telemetry {
    enum reject fault;
    struct span client, session, submitted, build, channel; /* raw; n is 0 where unknown */
    int64_t used; /* time of use in millionths of an hour; -1: unknown */
    size_t n;
    const struct slow_statement *statements; /* each SQL once a thread */
};

struct telemetry_reader;
struct telemetry_reader *telemetry_reader_new(void);
void telemetry_reader_free(struct telemetry_reader *r);
DEFINE_AUTO(struct telemetry_reader, telemetry_reader_free)

/** Reads one document. Always fills `out`; where there is a fault, only that counts. */
void telemetry_read(struct telemetry_reader *r, const char *bytes, size_t n, struct telemetry *out);

#endif
