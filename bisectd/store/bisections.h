/* SPDX-License-Identifier: Apache-2.0 */
/** Bisections: what was asked and where each stands; and the range each searches. */
#ifndef STORE_BISECTIONS_H
#define STORE_BISECTIONS_H

#include "base/buf.h"
#include "base/hash.h"
#include "model/bisection.h"
#include "model/revision.h"
#include "store/store.h"

struct bisection_row {
    struct id id;
    enum bisection_state state;
    struct digest request_key, build_key, measure_key;
    char *project, *metric, *platform;
    struct request *request; /* NULL in lists */
    struct utc created;
    struct utc finished; /* ns 0: not yet */
    int64_t used_ns;     /* wall time over all sittings */
    char *message;       /* for people, may be NULL */
    bool when_idle;      /* its tasks wait for workers with nothing else to do */
    json *verdict;       /* of the verdicts table, NULL if none is stored */
};
void bisection_row_free(struct bisection_row *b);
DEFINE_AUTO(struct bisection_row, bisection_row_free)

struct bisection_list {
    size_t n;
    struct bisection_row **items;
    bool has_more;
};
void bisection_list_fini(struct bisection_list *l);
DEFINE_AUTO_FINI(struct bisection_list, bisection_list_fini)

/** State queued. Keys are computed from the request. */
MUST_CHECK enum err_code store_bisection_create(struct store *s, const struct request *request,
                                                struct utc now, struct id *out, struct err *e);
/** The unfinished bisection of this key: ERR_NOT_FOUND if none. */
MUST_CHECK enum err_code store_bisection_find(struct store *s, const struct digest *request_key,
                                              struct id *out, struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_bisection_load(struct store *s, const char *id,
                                              struct bisection_row **out, struct err *e);
enum bisection_kind { KIND_BISECTION, KIND_COMPARISON };
/** Of one kind, newest first. `after`: id of the last one seen, NULL for the start; ERR_NOT_FOUND if unknown.
 *  At most 1,000 a call. */
MUST_CHECK enum err_code store_bisection_list(struct store *s, enum bisection_kind kind,
                                              size_t limit, const char *after,
                                              struct bisection_list *out, struct err *e);
/** All that are not done or canceled, oldest first, with requests. */
MUST_CHECK enum err_code store_bisection_unfinished(struct store *s, struct bisection_list *out,
                                                    struct err *e);
/** `message` NULL leaves the one there. ERR_CONFLICT: no such step from its state
 * (model/bisection.h); the state it already has is fine. */
MUST_CHECK enum err_code store_bisection_set_state(struct store *s, const char *id,
                                                   enum bisection_state state, const char *message,
                                                   struct utc now, struct err *e);
/** Adds to used_ns. */
MUST_CHECK enum err_code store_bisection_use(struct store *s, const char *id, int64_t ns,
                                             struct err *e);

/** Whether its tasks, those there are included, wait for workers with nothing else to do. */
MUST_CHECK enum err_code store_bisection_set_when_idle(struct store *s, const char *id,
                                                       bool when_idle, struct err *e);

/** A range as its row has it. */
struct packed_range {
    size_t n_plain; /* bytes */
    struct buf zstd;
};
void packed_range_fini(struct packed_range *p);
DEFINE_AUTO_FINI(struct packed_range, packed_range_fini)
/** Slow for a large range, and of no store: any thread may do it. ERR_LIMIT: too large. */
MUST_CHECK enum err_code store_range_pack(const struct range *range, struct packed_range *out,
                                          struct err *e);
/** Replaces. */
MUST_CHECK enum err_code store_range_put_packed(struct store *s, const char *bisection,
                                                const struct packed_range *range, struct err *e);
/** Both in one. */
MUST_CHECK enum err_code store_range_put(struct store *s, const char *bisection,
                                         const struct range *range, struct err *e);
/** ERR_NOT_FOUND. */
MUST_CHECK enum err_code store_range_get(struct store *s, const char *bisection, struct range **out,
                                         struct err *e);

#endif
