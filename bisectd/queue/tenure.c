/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/tenure.h"

#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *refusal; /* of whoever comes with such a lease */
} states[TENURE_STATE_COUNT] = {
    [TENURE_OPEN]     = {"open",     NULL},
    [TENURE_FINISHED] = {"finished", "its result was taken already"},
    [TENURE_EXPIRED]  = {"expired",  "it expired, and the task was given back"},
    [TENURE_CANCELED] = {"canceled", "its task is not needed any more"},
};

const struct tenure_rule tenure_rule_default = {.term_ns = 60 * NS_PER_S, .renew_ns = 15 * NS_PER_S};
/* clang-format on */

const char *tenure_state_name(enum tenure_state s)
{
    return states[s].name;
}

enum err_code tenure_state_parse(const char *s, enum tenure_state *out, struct err *e)
{
    for (size_t i = 0; i < LEN(states); i++)
        if (!strcmp(s, states[i].name)) {
            *out = (enum tenure_state)i;
            return ERR_OK;
        }
    return err_set(e, ERR_INVALID, "no lease is ever \"%.32s\"", s);
}

struct tenure tenure_begin(int64_t fence, struct mono now, const struct tenure_rule *rule)
{
    return (struct tenure){
        .state = TENURE_OPEN, .fence = fence, .deadline = {now.ns + rule->term_ns}};
}

bool tenure_is_overdue(const struct tenure *t, struct mono now)
{
    return t->state == TENURE_OPEN && now.ns >= t->deadline.ns;
}

enum err_code tenure_check(const struct tenure *t, int64_t fence, struct err *e)
{
    if (fence != t->fence)
        return err_set(e, ERR_CONFLICT, "the lease has fence %lld, not %lld", (long long)t->fence,
                       (long long)fence);
    if (t->state != TENURE_OPEN)
        return err_set(e, ERR_CONFLICT, "the lease is over: %s", states[t->state].refusal);
    return ERR_OK;
}

enum err_code tenure_renew(struct tenure *t, int64_t fence, struct mono now,
                           const struct tenure_rule *rule, struct err *e)
{
    enum err_code code = tenure_check(t, fence, e);
    if (code)
        return code;
    if (now.ns + rule->term_ns > t->deadline.ns)
        t->deadline.ns = now.ns + rule->term_ns;
    return ERR_OK;
}
