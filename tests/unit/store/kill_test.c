/* SPDX-License-Identifier: Apache-2.0 */
/** Killed at any instruction: nothing that was told is lost, nothing is there by half. */
#include "fixture.h"
#include "store/logs.h"
#include <signal.h>
#include <time.h>

enum { ROUNDS = 25 };

/** Tells the parent how many results were committed so far. */
static void tell(int fd, int64_t n)
{
    if (write(fd, &n, sizeof(n)) != sizeof(n))
        _exit(3);
}

/** One task from queue to result, and its event, in one turn. */
static enum err_code work_once(struct store *s, const char *bisection, uint32_t ordinal,
                               struct err *e)
{
    AUTO(task_spec_free) struct task_spec *spec = spec_of(ordinal, 2);
    AUTO(lease_row_fini) struct lease_row l = {0};
    AUTO(accepted_fini) struct accepted a = {0};
    AUTO(task_result_free) struct task_result *r = NULL;
    struct task_new t = {.bisection = bisection, .after_seq = ordinal, .spec = spec};
    struct lease_wish w = wish_of("w1");

    enum err_code code = store_begin(s, e);
    if (!code)
        code = store_task_insert(s, &t, noon, NULL, e);
    if (!code)
        code = store_lease_take(s, &w, noon, start, &tenure_rule_default, &l, e);
    if (code)
        return code;
    r = result_of(&l);
    code = store_log_put(s, l.id.text, l.tenure.fence, "log", 3, noon, e);
    if (!code)
        code = store_result_accept(s, l.id.text, r, noon, &a, e);
    if (!code)
        code = store_event_append(s, bisection, "result", NULL, noon, NULL, e);
    return code ? code : store_commit(s, e);
}

static void work_until_killed(const char *dir, const char *bisection, int fd)
{
    struct store *s = NULL;
    struct err e = {0};
    if (store_open(dir, &s, &e))
        _exit(2);
    struct store_counts c;
    if (store_count(s, &c, &e))
        _exit(4);
    for (int64_t n = c.tasks[TASK_DONE];; n++) {
        if (work_once(s, bisection, (uint32_t)n, &e)) {
            fprintf(stderr, "%s\n", e.text);
            _exit(5);
        }
        tell(fd, n + 1);
    }
}

/** The last number the child told before it died; it is killed within a few milliseconds. */
static int64_t run_and_kill(const char *dir, const char *bisection, int round)
{
    int pipe_fds[2];
    int64_t n = 0, told = 0;
    ck_assert_int_eq(pipe(pipe_fds), 0);
    pid_t pid = fork();
    if (!pid) {
        close(pipe_fds[0]);
        work_until_killed(dir, bisection, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    ck_assert_int_eq(read(pipe_fds[0], &told, sizeof(told)), (ssize_t)sizeof(told));
    struct timespec pause = {.tv_nsec = (long)(mix64((uint64_t)round) % 15000000)};
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    while (read(pipe_fds[0], &n, sizeof(n)) == sizeof(n))
        told = n;
    close(pipe_fds[0]);
    return told;
}

static void check_whole(struct place *p, const char *bisection, int64_t told)
{
    int64_t n = place_count(p, "SELECT count(*) FROM tasks");
    ck_assert_int_ge(n, told);
    ck_assert_int_le(n, told + 1); /* committed, and killed before it could tell */
    ck_assert_int_eq(place_count(p, "SELECT count(*) FROM tasks WHERE state = 'done'"), n);
    ck_assert_int_eq(place_count(p, "SELECT count(*) FROM samples"), 3 * n);
    ck_assert_int_eq(place_count(p, "SELECT count(*) FROM builds"), 2 * n);
    ck_assert_int_eq(place_count(p, "SELECT count(*) FROM events"), n);
    ck_assert_int_eq(place_count(p, "SELECT count(DISTINCT task) FROM samples"), n);
    OK(store_samples_verify(p->store, bisection, e));
    OK(store_check(p->store, e));
}

START_TEST(nothing_that_was_told_is_lost)
{
    AUTO(place_fini) struct place p = place_new();
    struct id id = bisection_in(&p, "demo");
    for (int round = 0; round < ROUNDS; round++) {
        place_close(&p);
        int64_t told = run_and_kill(p.dir, id.text, round);
        ck_assert_int_gt(told, 0);
        OK(store_open(p.dir, &p.store, e));
        check_whole(&p, id.text, told);
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{nothing_that_was_told_is_lost, 1}};
    return unit_run("kill", tests, LEN(tests));
}
