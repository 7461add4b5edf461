/* SPDX-License-Identifier: Apache-2.0 */
/** Jobs run once each, elsewhere, and come back here. */
#include "app/pool.h"
#include "base/mem.h"
#include "unit/run.h"
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>

enum { N_JOBS = 500 };

struct sum {
    struct job job;
    int n_run, n_done;
    bool is_elsewhere, is_here;
    pthread_t home;
};

static void sum_run(struct job *j)
{
    struct sum *s = (struct sum *)j;

    s->n_run++;
    s->is_elsewhere = !pthread_equal(pthread_self(), s->home);
}

static void sum_done(struct job *j)
{
    struct sum *s = (struct sum *)j;

    s->n_done++;
    s->is_here = pthread_equal(pthread_self(), s->home);
}

static struct sum *sums_new(void)
{
    struct sum *s = mem_array(N_JOBS, sizeof(*s));

    for (int i = 0; i < N_JOBS; i++)
        s[i] = (struct sum){.job = {sum_run, sum_done, NULL}, .home = pthread_self()};
    return s;
}

static void expect_each_once(const struct sum *s)
{
    for (int i = 0; i < N_JOBS; i++)
        ck_assert(s[i].n_run == 1 && s[i].n_done == 1 && s[i].is_elsewhere && s[i].is_here);
}

START_TEST(each_job_runs_once_and_comes_back)
{
    struct err e = {0};
    struct pool *p = NULL;
    struct sum *s = sums_new();
    int n_done = 0;

    ck_assert_msg(!pool_new(3, &p, &e), "%s", e.text);
    for (int i = 0; i < N_JOBS; i++)
        pool_submit(p, &s[i].job);
    while (n_done < N_JOBS) {
        struct pollfd f = {.fd = pool_fd(p), .events = POLLIN};
        ck_assert_int_eq(poll(&f, 1, 10000), 1);
        pool_collect(p);
        n_done = 0;
        for (int i = 0; i < N_JOBS; i++)
            n_done += s[i].n_done;
    }
    expect_each_once(s);
    pool_collect(p); /* nothing more */
    pool_free(p);
    mem_free(s);
}
END_TEST

START_TEST(ending_gives_every_job_back)
{
    struct err e = {0};
    struct pool *p = NULL;
    struct sum *s = sums_new();

    ck_assert_msg(!pool_new(2, &p, &e), "%s", e.text);
    for (int i = 0; i < N_JOBS; i++)
        pool_submit(p, &s[i].job);
    pool_free(p);
    for (int i = 0; i < N_JOBS; i++)
        ck_assert(s[i].n_done == 1 && s[i].n_run <= 1);
    mem_free(s);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {each_job_runs_once_and_comes_back, 1},
        {ending_gives_every_job_back, 1},
    };
    return unit_run("app/pool", tests, LEN(tests));
}
