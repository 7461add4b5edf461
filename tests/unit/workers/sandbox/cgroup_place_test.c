/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "workers/sandbox/cgroup_place.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define V2   "26 20 0:23 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1   "30 29 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" \
             "31 29 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 master:2 - cgroup cgroup rw,cpu,cpuacct\n"
#define BOX  "41 40 0:26 /docker/ab12 /sys/fs/cgroup/memory ro - cgroup memory rw,memory\n"
#define BOTH "8:pids:/\n4:memory:/user/a\n2:cpu,cpuacct:/user/b\n0::/user.slice/c\n"

static const struct {
    const char *name, *mounts, *groups, *controller, *want;
} rows[] = {
    {"version 2 is one tree",             V2 V1, BOTH, NULL, "/sys/fs/cgroup/user.slice/c"},
    {"version 1 has one a controller",    V2 V1, BOTH, "memory", "/sys/fs/cgroup/memory/user/a"},
    {"controllers share a tree",          V2 V1, BOTH, "cpuacct", "/sys/fs/cgroup/cpu,cpuacct/user/b"},
    {"one that is not mounted is not there", V2 V1, BOTH, "pids", NULL},
    {"one that is not known neither",     V2 V1, BOTH, "memor", NULL},
    {"no version 2",                      V1, BOTH, NULL, NULL},
    {"the root of the tree",              V2, "0::/\n", NULL, "/sys/fs/cgroup"},
    {"a container's mount shows a part",  BOX, "4:memory:/docker/ab12/job\n", "memory", "/sys/fs/cgroup/memory/job"},
    {"and may be just the group itself",  BOX, "4:memory:/docker/ab12\n", "memory", "/sys/fs/cgroup/memory"},
    {"a group outside of it is not shown", BOX, "4:memory:/docker/ab123\n", "memory", NULL},
    {"nor one outside of the namespace",  V2, "0::/../other\n", NULL, NULL},
    {"blanks are escaped",                "1 2 0:3 / /my\\040groups rw - cgroup2 none rw\n", "0::/a:b\n", NULL, "/my groups/a:b"},
    {"nothing at all",                    "", "", NULL, NULL},
    {"cut short",                         "26 20 0:23 /", "0::", NULL, NULL},
};
/* clang-format on */

START_TEST(the_group_is_found)
{
    AUTO(mem_free)
    char *got = cgroup_place(rows[_i].mounts, rows[_i].groups, rows[_i].controller);

    ck_assert_msg((got == NULL) == (rows[_i].want == NULL), "%s: %s", rows[_i].name,
                  got ? got : "none");
    if (got)
        ck_assert_msg(strcmp(got, rows[_i].want) == 0, "%s: %s", rows[_i].name, got);
}
END_TEST

START_TEST(words_are_whole)
{
    ck_assert(cgroup_has_word("cpuset memory pids\n", "memory"));
    ck_assert(cgroup_has_word("cpuset memory pids\n", "pids"));
    ck_assert(!cgroup_has_word("cpuset memory pids\n", "mem"));
    ck_assert(!cgroup_has_word("", "pids"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cgroup_place");
    TCase *tc = tcase_create("cgroup_place");

    tcase_add_loop_test(tc, the_group_is_found, 0, LEN(rows));
    tcase_add_test(tc, words_are_whole);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
