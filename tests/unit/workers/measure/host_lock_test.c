/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "workers/measure/host_lock.h"
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/host-lock-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    struct err e;
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

static int a_while(void *context)
{
    return ++*(int *)context < 6;
}

/** CPUs 1 and 3: none of them has to be there to be locked. */
static const cpu_set_t *measuring(void)
{
    static cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(1, &set);
    CPU_SET(3, &set);
    return &set;
}

/** Whether another process gets the host for `use` within a short while. */
static bool others_get_it(enum host_use use)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct host_lock l = {.fd = -1, .among = measuring()};
        struct err e;
        int n_asked = 0;
        _exit(host_lock_take(&l, folder, use, a_while, &n_asked, &e) == ERR_OK ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* clang-format off */
static const struct {
    const char *name;
    enum host_use held, wanted;
    bool is_free;
} rows[] = {
    {"builders share",             HOST_BUILD,   HOST_BUILD,   true},
    {"a builder keeps measurers out", HOST_BUILD,   HOST_MEASURE, false},
    {"a measurer keeps builders out", HOST_MEASURE, HOST_BUILD,   false},
    {"a measurer is alone",        HOST_MEASURE, HOST_MEASURE, false},
    {"pinned measurers share while there are CPUs", HOST_MEASURE_ON, HOST_MEASURE_ON, true},
    {"a pinned measurer lets build aside", HOST_MEASURE_ON, HOST_BUILD_ASIDE, true},
    {"but not anywhere",           HOST_MEASURE_ON, HOST_BUILD, false},
    {"nor lets measure alone",     HOST_MEASURE_ON, HOST_MEASURE, false},
    {"a builder anywhere keeps pinned measurers out", HOST_BUILD, HOST_MEASURE_ON, false},
    {"builders aside and anywhere share", HOST_BUILD_ASIDE, HOST_BUILD, true},
    {"a builder aside keeps measurers out", HOST_BUILD_ASIDE, HOST_MEASURE, false},
    {"but not pinned ones",        HOST_BUILD_ASIDE, HOST_MEASURE_ON, true},
    {"a measurer keeps pinned ones out", HOST_MEASURE, HOST_MEASURE_ON, false},
};
/* clang-format on */

START_TEST(uses_exclude_each_other)
{
    struct host_lock l = {.fd = -1, .among = measuring()};
    struct err e = {0};

    ck_assert_msg(host_lock_take(&l, folder, rows[_i].held, NULL, NULL, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_msg(others_get_it(rows[_i].wanted) == rows[_i].is_free, "%s", rows[_i].name);
    host_lock_release(&l);
    ck_assert(others_get_it(HOST_MEASURE));
}
END_TEST

START_TEST(each_pinned_measurer_has_its_cpu)
{
    struct host_lock a = {.fd = -1, .among = measuring()}, b = a, c = a;
    struct err e = {0};
    int n_asked = 0;

    ck_assert_int_eq(host_lock_take(&a, folder, HOST_MEASURE_ON, NULL, NULL, &e), ERR_OK);
    ck_assert_int_eq(host_lock_take(&b, folder, HOST_MEASURE_ON, NULL, NULL, &e), ERR_OK);
    ck_assert_int_eq(a.cpu, 1);
    ck_assert_int_eq(b.cpu, 3);
    ck_assert_int_eq(host_lock_take(&c, folder, HOST_MEASURE_ON, a_while, &n_asked, &e),
                     ERR_TIMEOUT);
    host_lock_release(&a);
    ck_assert_int_eq(host_lock_take(&c, folder, HOST_MEASURE_ON, NULL, NULL, &e), ERR_OK);
    ck_assert_int_eq(c.cpu, 1);
    host_lock_release(&b);
    host_lock_release(&c);
}
END_TEST

START_TEST(a_waiting_measurer_is_not_starved)
{
    struct host_lock l = {.fd = -1};
    struct err e = {0};

    pid_t measurer = fork(); /* before we hold anything that it would inherit */
    if (measurer == 0) {
        struct host_lock own = {.fd = -1};
        usleep(200000);
        _exit(host_lock_take(&own, folder, HOST_MEASURE, NULL, NULL, &e) == ERR_OK ? 0 : 1);
    }
    ck_assert_int_eq(host_lock_take(&l, folder, HOST_BUILD, NULL, NULL, &e), ERR_OK);
    usleep(400000);
    ck_assert(!others_get_it(HOST_BUILD)); /* behind the one who waits */
    host_lock_release(&l);
    int status;
    waitpid(measurer, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert(others_get_it(HOST_BUILD));
}
END_TEST

START_TEST(a_dead_holder_holds_nothing)
{
    pid_t holder = fork();
    if (holder == 0) {
        struct host_lock own = {.fd = -1};
        struct err e;
        if (host_lock_take(&own, folder, HOST_MEASURE, NULL, NULL, &e))
            _exit(1);
        for (;;)
            pause();
    }
    usleep(200000);
    ck_assert(!others_get_it(HOST_BUILD));
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    ck_assert(others_get_it(HOST_BUILD));
}
END_TEST

START_TEST(a_folder_that_others_may_write_is_refused)
{
    struct host_lock l = {.fd = -1};
    struct err e = {0};
    AUTO(mem_free) char *target = path_join(folder, "target");
    AUTO(mem_free) char *link = path_join(folder, "link");

    ck_assert_int_eq(mkdir(target, 0700), 0);
    ck_assert_int_eq(symlink(target, link), 0);
    ck_assert_int_eq(host_lock_take(&l, link, HOST_BUILD, NULL, NULL, &e), ERR_DENIED);
    ck_assert_int_eq(chmod(target, 0777), 0);
    ck_assert_int_eq(host_lock_take(&l, target, HOST_BUILD, NULL, NULL, &e), ERR_DENIED);
    ck_assert_int_eq(l.fd, -1);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("host_lock");
    TCase *tc = tcase_create("host_lock");

    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, uses_exclude_each_other, 0, LEN(rows));
    tcase_add_test(tc, each_pinned_measurer_has_its_cpu);
    tcase_add_test(tc, a_waiting_measurer_is_not_starved);
    tcase_add_test(tc, a_dead_holder_holds_nothing);
    tcase_add_test(tc, a_folder_that_others_may_write_is_refused);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
