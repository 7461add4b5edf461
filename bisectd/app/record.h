/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An event of the search with all it points to, and its row in the store.
 *
 * A result is not stored twice: its row names the task, whose builds and samples are read back.
 */
#ifndef APP_RECORD_H
#define APP_RECORD_H

#include "base/err.h"
#include "base/json.h"
#include "model/range_index.h"
#include "model/revision.h"
#include "search/bisection.h"
#include "store/events.h"
#include "store/samples.h"

struct record {
    int64_t seq;        /* 0: not in the store yet */
    struct event event; /* points into the rest */
    struct stored_sample *samples;
    struct stored_build *builds;
    size_t n_verifications;
    struct stored_verification *verifications; /* each owns its builds */
    size_t n_failures;
    struct stored_failure *failures;
    struct strings reasons; /* of the failures */
    struct strings hosts;   /* of the samples */
    struct strings sources; /* bisections they came from */
    struct task_result *result;
    char *task;
    char *reason;
};
void record_free(struct record *r);
DEFINE_AUTO(struct record, record_free)

/** What the store has from earlier bisections; all lists may be empty. */
struct verification {
    struct id bisection;
    struct task_spec *spec;
    struct task_result *result;
};
struct verification_list {
    size_t n;
    struct verification *items;
};
void verification_list_fini(struct verification_list *l);
DEFINE_AUTO_FINI(struct verification_list, verification_list_fini)

/** All of the range that the store has. */
struct earlier {
    struct sample_list samples; /* with and without a value */
    struct build_list builds;   /* at hand */
    struct build_list failed;   /* builds whose steps failed */
    struct verification_list verifications;
};
void earlier_fini(struct earlier *f);
DEFINE_AUTO_FINI(struct earlier, earlier_fini)

/**
 * Samples and builds whose revision is in the range; verifications that measured their first build
 * and another one; and as failures the revisions that have no value and no build but failed ones,
 * or no value but runs that gave none (a time limit that was reached is no failure: it depends on
 * the machine).
 */
struct record *record_started(const struct range_index *range, const struct earlier *from);
struct record *record_capacity(uint32_t n_workers);
/** Takes the result over. */
struct record *record_result(uint32_t ordinal, const char *task, struct task_result *result);
struct record *record_given_up(uint32_t ordinal, const char *reason);
/** EVENT_BUDGET, EVENT_CANCEL. */
struct record *record_plain(enum event_kind kind);

/** Stores it and sets seq. */
MUST_CHECK enum err_code record_append(struct record *r, struct store *s, const char *bisection,
                                       struct utc now, struct err *e);
/** ERR_INVALID: the row is not one that record_append() wrote. */
MUST_CHECK enum err_code record_load(struct store *s, const struct event_row *row,
                                     struct record **out, struct err *e);

/* For tests. */
json *record_payload(const struct record *r);
MUST_CHECK enum err_code record_from_payload(const char *kind, const json *payload,
                                             struct record **out, struct err *e);

#endif
