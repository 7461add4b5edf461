/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A worker's hold on a task in time: deadline, renewal and fence.
 *
 * Deadlines are on our own monotonic clock and mean something in one life of the coordinator
 * only; the next life adopts every open lease with a full term from its start. So neither a jump
 * of the wall clock nor a worker's wrong clock ends a lease early or keeps it for ever.
 */
#ifndef QUEUE_TENURE_H
#define QUEUE_TENURE_H

#include "base/clock.h"
#include "base/err.h"
#include <stdbool.h>

struct tenure_rule {
    int64_t term_ns;  /* how long a lease lasts without renewal */
    int64_t renew_ns; /* how often the worker is asked to renew */
};
/** 60 s, renewed every 15 s. */
extern const struct tenure_rule tenure_rule_default;

enum tenure_state {
    TENURE_OPEN,
    TENURE_FINISHED, /* its result was accepted, or its fault was */
    TENURE_EXPIRED,  /* overdue, or its worker died: the task is somebody else's now */
    TENURE_CANCELED, /* the task became useless */
    TENURE_STATE_COUNT
};
const char *tenure_state_name(enum tenure_state s);
MUST_CHECK enum err_code tenure_state_parse(const char *s, enum tenure_state *out, struct err *e);

struct tenure {
    enum tenure_state state;
    int64_t fence;        /* larger for each lease given out, over all lives of a store */
    struct mono deadline; /* while open */
};

struct tenure tenure_begin(int64_t fence, struct mono now, const struct tenure_rule *rule);
bool tenure_is_overdue(const struct tenure *t, struct mono now);
/** Open and of this fence: else ERR_CONFLICT with the reason in words. A lease that is overdue
 *  but still open passes, since nobody else has the task yet. */
MUST_CHECK enum err_code tenure_check(const struct tenure *t, int64_t fence, struct err *e);
/** tenure_check, then a full term from now. Never shortens. */
MUST_CHECK enum err_code tenure_renew(struct tenure *t, int64_t fence, struct mono now,
                                      const struct tenure_rule *rule, struct err *e);

#endif
