/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/life.h"

#include <stdbool.h>
#include <string.h>

/*
 *            life_lease              life_finish
 *   queued ---------------> leased ---------------> done
 *     |  ^                   |  |  \
 *     |  '---- life_return --'  |   \--- life_return --> given_up
 *     |    (below the limits)   |       (at a limit)
 *     |                         |
 *     '------ life_cancel ------+-- life_cancel -------> canceled
 *
 * done, canceled and given_up are ends: nothing leads out of them.
 */

/* clang-format off */
static const char *const state_names[TASK_STATE_COUNT] = {
    [TASK_QUEUED]   = "queued",
    [TASK_LEASED]   = "leased",
    [TASK_DONE]     = "done",
    [TASK_CANCELED] = "canceled",
    [TASK_GIVEN_UP] = "given_up",
};

static const struct {
    const char *name;
    bool counts_try;
    bool counts_death;
} reasons[RETURN_REASON_COUNT] = {
    [RETURN_FAULT]   = {"fault",                   true,  false},
    [RETURN_EXPIRED] = {"lease expired",           true,  false},
    [RETURN_DIED]    = {"worker died",             false, true},
    [RETURN_RESTART] = {"service restarted",       false, false},
    [RETURN_YIELDED] = {"made way for other work", false, false},
};

const struct life_limits life_limits_default = {.max_tries = 3, .max_deaths = 10};
/* clang-format on */

const char *task_state_name(enum task_state s)
{
    return state_names[s];
}

enum err_code task_state_parse(const char *s, enum task_state *out, struct err *e)
{
    for (size_t i = 0; i < LEN(state_names); i++)
        if (!strcmp(s, state_names[i])) {
            *out = (enum task_state)i;
            return ERR_OK;
        }
    return err_set(e, ERR_INVALID, "no task is ever \"%.32s\"", s);
}

const char *return_reason_name(enum return_reason r)
{
    return reasons[r].name;
}

static enum err_code refuse(const struct life *l, const char *verb, struct err *e)
{
    return err_set(e, ERR_CONFLICT, "a task that is %s cannot be %s", task_state_name(l->state),
                   verb);
}

enum err_code life_lease(struct life *l, struct err *e)
{
    if (l->state != TASK_QUEUED)
        return refuse(l, "leased", e);
    l->state = TASK_LEASED;
    return ERR_OK;
}

enum err_code life_finish(struct life *l, struct err *e)
{
    if (l->state != TASK_LEASED)
        return refuse(l, "finished", e);
    l->state = TASK_DONE;
    return ERR_OK;
}

enum err_code life_return(struct life *l, enum return_reason why, const struct life_limits *limits,
                          struct err *e)
{
    if (l->state != TASK_LEASED)
        return refuse(l, "returned", e);
    l->tries += reasons[why].counts_try;
    l->deaths += reasons[why].counts_death;
    bool is_over = l->tries >= limits->max_tries || l->deaths >= limits->max_deaths;
    l->state = is_over ? TASK_GIVEN_UP : TASK_QUEUED;
    return ERR_OK;
}

enum err_code life_cancel(struct life *l, struct err *e)
{
    if (l->state != TASK_QUEUED && l->state != TASK_LEASED)
        return refuse(l, "canceled", e);
    l->state = TASK_CANCELED;
    return ERR_OK;
}

const char *result_fault(const struct task_result *r)
{
    if (r->fault)
        return r->fault;
    for (size_t i = 0; i < r->n_builds; i++)
        if (r->builds[i].status == BUILD_FAULT)
            return r->builds[i].reason ? r->builds[i].reason
                                       : "a build failed on the worker's side";
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->runs[i].status == RUN_FAULT)
            return r->runs[i].reason ? r->runs[i].reason : "a run failed on the worker's side";
    return NULL;
}
