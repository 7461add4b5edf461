/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/life.h"
#include "unit/run.h"
#include <stdbool.h>
#include <string.h>

enum move { LEASE, FINISH, FAULT, EXPIRE, DIE, RESTART, CANCEL };

static enum err_code move(struct life *l, enum move m, struct err *e)
{
    const struct life_limits *limits = &life_limits_default;
    switch (m) {
    case LEASE:
        return life_lease(l, e);
    case FINISH:
        return life_finish(l, e);
    case FAULT:
        return life_return(l, RETURN_FAULT, limits, e);
    case EXPIRE:
        return life_return(l, RETURN_EXPIRED, limits, e);
    case DIE:
        return life_return(l, RETURN_DIED, limits, e);
    case RESTART:
        return life_return(l, RETURN_RESTART, limits, e);
    case CANCEL:
        return life_cancel(l, e);
    }
    return ERR_INVALID;
}

/* Every pair of state and move; TASK_STATE_COUNT where the move is refused. */
/* clang-format off */
static const struct {
    enum task_state from;
    enum move move;
    enum task_state want;
} edges[] = {
    {TASK_QUEUED,   LEASE,   TASK_LEASED},
    {TASK_QUEUED,   FINISH,  TASK_STATE_COUNT},
    {TASK_QUEUED,   FAULT,   TASK_STATE_COUNT},
    {TASK_QUEUED,   EXPIRE,  TASK_STATE_COUNT},
    {TASK_QUEUED,   CANCEL,  TASK_CANCELED},
    {TASK_LEASED,   LEASE,   TASK_STATE_COUNT},
    {TASK_LEASED,   FINISH,  TASK_DONE},
    {TASK_LEASED,   FAULT,   TASK_QUEUED},
    {TASK_LEASED,   EXPIRE,  TASK_QUEUED},
    {TASK_LEASED,   DIE,     TASK_QUEUED},
    {TASK_LEASED,   RESTART, TASK_QUEUED},
    {TASK_LEASED,   CANCEL,  TASK_CANCELED},
    {TASK_DONE,     LEASE,   TASK_STATE_COUNT},
    {TASK_DONE,     FINISH,  TASK_STATE_COUNT},
    {TASK_DONE,     FAULT,   TASK_STATE_COUNT},
    {TASK_DONE,     CANCEL,  TASK_STATE_COUNT},
    {TASK_CANCELED, LEASE,   TASK_STATE_COUNT},
    {TASK_CANCELED, FINISH,  TASK_STATE_COUNT},
    {TASK_CANCELED, EXPIRE,  TASK_STATE_COUNT},
    {TASK_CANCELED, CANCEL,  TASK_STATE_COUNT},
    {TASK_GIVEN_UP, LEASE,   TASK_STATE_COUNT},
    {TASK_GIVEN_UP, FINISH,  TASK_STATE_COUNT},
    {TASK_GIVEN_UP, FAULT,   TASK_STATE_COUNT},
    {TASK_GIVEN_UP, CANCEL,  TASK_STATE_COUNT},
};
/* clang-format on */

START_TEST(moves_along_the_edges_only)
{
    struct life l = {.state = edges[_i].from};
    struct err e = {0};
    enum err_code code = move(&l, edges[_i].move, &e);
    bool is_refused = edges[_i].want == TASK_STATE_COUNT;

    ck_assert_int_eq(code, is_refused ? ERR_CONFLICT : ERR_OK);
    ck_assert_int_eq(l.state, is_refused ? edges[_i].from : edges[_i].want);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    enum move move;
    uint32_t n_times; /* until it is given up; 0: never */
} limits[] = {
    {"a fault is tried three times",              FAULT,   3},
    {"an expiry counts like a fault",             EXPIRE,  3},
    {"workers may die more often",                DIE,     10},
    {"a restart of the service counts as nothing", RESTART, 0},
};
/* clang-format on */

START_TEST(gives_up_at_the_limit)
{
    struct life l = {.state = TASK_QUEUED};
    struct err e = {0};
    uint32_t n = 0;

    while (l.state == TASK_QUEUED && n < 50) {
        ck_assert_int_eq(life_lease(&l, &e), ERR_OK);
        ck_assert_int_eq(move(&l, limits[_i].move, &e), ERR_OK);
        n++;
    }
    ck_assert_msg(n == (limits[_i].n_times ? limits[_i].n_times : 50), "%s", limits[_i].name);
    ck_assert_int_eq(l.state, limits[_i].n_times ? TASK_GIVEN_UP : TASK_QUEUED);
}
END_TEST

START_TEST(names_are_read_back)
{
    for (int i = 0; i < TASK_STATE_COUNT; i++) {
        enum task_state back;
        ck_assert_int_eq(task_state_parse(task_state_name((enum task_state)i), &back, NULL),
                         ERR_OK);
        ck_assert_int_eq((int)back, i);
    }
    enum task_state back;
    struct err e = {0};
    ck_assert_int_eq(task_state_parse("asleep", &back, &e), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(e.text, "asleep"));
}
END_TEST

START_TEST(only_our_own_failures_are_faults)
{
    struct build_result build = {.status = BUILD_FAILED, .reason = (char *)"exit 1"};
    struct run_result run = {.status = RUN_ABORT};
    struct task_result r = {.n_builds = 1, .builds = &build, .n_runs = 1, .runs = &run};

    ck_assert_ptr_null(result_fault(&r));
    build.status = BUILD_LIMIT;
    run.status = RUN_CANNOT;
    ck_assert_ptr_null(result_fault(&r));
    run.status = RUN_FAULT;
    ck_assert_ptr_nonnull(result_fault(&r));
    build = (struct build_result){.status = BUILD_FAULT, .reason = (char *)"disk full"};
    ck_assert_str_eq(result_fault(&r), "disk full");
    r.fault = (char *)"no network";
    ck_assert_str_eq(result_fault(&r), "no network");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {moves_along_the_edges_only, LEN(edges)},
        {gives_up_at_the_limit, LEN(limits)},
        {names_are_read_back, 1},
        {only_our_own_failures_are_faults, 1},
    };
    return unit_run("life", tests, LEN(tests));
}
