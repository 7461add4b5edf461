/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "workers/sandbox/cgroup.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/** Runs `job` in a process of the group; its status as wait has it. */
static int enter(const struct cgroup *c, int (*job)(void))
{
    int fds[CGROUP_FILES], status = 0;

    cgroup_files(c, fds);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < CGROUP_FILES; i++)
            if (fds[i] >= 0 && write(fds[i], "0", 1) != 1)
                _exit(100);
        _exit(job());
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

static int do_nothing(void)
{
    return 7;
}

static int take_memory(void)
{
    size_t n = 256 * (size_t)MIB;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return 101;
    memset(p, 1, n);
    return p[n - 1] == 1 ? 0 : 102;
}

static int fork_often(void)
{
    int n_refused = 0;

    for (int i = 0; i < 50; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where the parent lacks memory */
            pause();
            _exit(0);
        }
        n_refused += pid < 0;
    }
    kill(0, SIGKILL);
    return n_refused;
}

static int fork_in_own_session(void)
{
    return setsid() < 0 ? 103 : fork_often();
}

/** The kernel keeps what it is told to, and says so; where groups can be made at all. */
START_TEST(limits_are_kept)
{
    AUTO(cgroups_free) struct cgroups *g = cgroups_new();
    const char *keeps = cgroups_keep(g);
    struct cgroup_limits limits = {.memory_bytes = 32 * MIB, .n_threads = 20};
    AUTO(cgroup_free) struct cgroup *c = cgroup_new(g, &limits);

    printf("groups keep: %s\n", *keeps ? keeps : "nothing");
    ck_assert((c != NULL) == (*keeps != '\0'));
    struct cgroup_events none = cgroup_look(c);
    ck_assert(!none.has_lacked_memory && !none.has_lacked_threads);
    if (!c)
        return;
    int status = enter(c, do_nothing);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    if (strstr(keeps, "memory")) {
        status = enter(c, take_memory);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%x", (unsigned)status);
        ck_assert(cgroup_look(c).has_lacked_memory);
    }
    if (strstr(keeps, "processes")) {
        enter(c, fork_in_own_session);
        ck_assert(cgroup_look(c).has_lacked_threads);
    }
}
END_TEST

START_TEST(no_limits_need_no_group)
{
    AUTO(cgroups_free) struct cgroups *g = cgroups_new();
    struct cgroup_limits none = {0};

    ck_assert_ptr_null(cgroup_new(g, &none));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cgroup");
    TCase *tc = tcase_create("cgroup");

    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, limits_are_kept);
    tcase_add_test(tc, no_limits_need_no_group);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
