/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Telemetry documents, or lines that were reduced, into sums, on all cores.
 *
 * What comes out does not depend on how many threads there are or who was first.
 */
#ifndef CLI_SLOWSQL_GATHER_H
#define CLI_SLOWSQL_GATHER_H

#include "cli/slowsql_feed.h"
#include "formats/slowsql.h"

struct gather_input {
    const char *const *paths;
    size_t n_paths;
    int64_t jobs; /* threads; < 1: one a core */
    const struct slowsql_question *question;
    bool wants_clients; /* keep what each report says, for intervals and changes */
};

/** One report that counts. */
struct gathered_report {
    uint64_t client;
    uint64_t session; /* a hash; 0: none */
    struct slowsql_order order;
    uint32_t row; /* in the tally: the reports of its group */
    uint32_t n_items;
    size_t first_item;
    bool has_time;
    bool is_superseded; /* a later one of its session counts instead */
};
struct gathered_item {
    uint32_t row; /* in the tally */
    int64_t count, total_ms;
};

/** A line that is no document of use. */
struct gathered_reject {
    size_t source; /* of the first one: file and place in it */
    uint64_t offset;
    const char *why; /* NULL: there is none */
};

struct gathered {
    struct tally *tally;
    struct gathered_report *reports; /* with wants_clients all, superseded ones too */
    size_t n_reports;
    struct gathered_item *items;
    size_t n_items;
    size_t n_documents, n_rejected; /* lines that are not reduced; those that are of no use */
    struct gathered_reject first_reject;
    unsigned groups; /* 1 << enum group_kind, of all that counts */
    bool is_reduced; /* lines that were reduced came in: there may be more than the reports say */
};
void gathered_free(struct gathered *g);
DEFINE_AUTO(struct gathered, gathered_free)

/** Errors: ERR_INVALID: no document among the lines, groups that do not add up, a reduced line that
 *  does not say what the question asks. */
MUST_CHECK enum err_code gather(const struct gather_input *in, struct gathered **out,
                                struct err *e);

/** Writes the mapped lines of each document to `fd`, in the order of the documents. */
MUST_CHECK enum err_code gather_map(const struct gather_input *in, int fd, struct err *e);

#endif
