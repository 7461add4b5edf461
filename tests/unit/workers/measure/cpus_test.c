/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "unit/run.h"
#include "workers/measure/cpus.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *siblings[8]; /* of CPU 0, 1, …; NULL: not told */
    const char *allowed, *measuring, *rest; /* CPUs by their digits; measuring NULL: one core only */
} rows[] = {
    {"two cores",              {"0", "1"},                    "01",   "1",  "0"},
    {"nothing is told",        {NULL},                        "0123", "23", "01"},
    {"two threads each, far apart", {"0,2", "1,3", "0,2", "1,3"}, "0123", "1", "02"},
    {"two threads each, side by side", {"0-1", "0-1", "2-3", "2-3"}, "0123", "2", "01"},
    {"four cores of two",      {"0-1", "0-1", "2-3", "2-3", "4-5", "4-5", "6-7", "6-7"}, "01234567", "46", "0123"},
    {"three cores",            {"0", "1", "2"},               "012",  "2",  "01"},
    {"one core of two threads", {"0-1", "0-1"},               "01",   NULL, ""},
    {"one CPU allowed",        {"0", "1"},                    "1",    NULL, ""},
    {"some CPUs allowed",      {"0", "1", "2", "3"},          "23",   "3",  "2"},
    {"the second thread of a core allowed", {"0,2", "1,3", "0,2", "1,3"}, "23", "3", "2"},
};
/* clang-format on */

static void expect_set(const char *name, const cpu_set_t *set, const char *digits)
{
    char got[16] = "";

    for (int cpu = 0; cpu < 10; cpu++)
        if (CPU_ISSET(cpu, set))
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d", cpu);
    ck_assert_msg(strcmp(got, digits) == 0, "%s: %s, not %s", name, got, digits);
    ck_assert_int_eq(CPU_COUNT(set), strlen(digits));
}

START_TEST(cores_are_split)
{
    char root[] = "/tmp/cpus-test-XXXXXX";
    struct cpus c;
    cpu_set_t allowed;
    struct err e = {0};

    ck_assert_ptr_nonnull(mkdtemp(root));
    for (int cpu = 0; cpu < 8 && rows[_i].siblings[cpu]; cpu++) {
        AUTO(mem_free)
        char *folder = mem_printf("%s/sys/devices/system/cpu/cpu%d/topology", root, cpu);
        AUTO(mem_free) char *file = path_join(folder, "thread_siblings_list");
        const char *text = rows[_i].siblings[cpu];
        ck_assert_int_eq(file_mkdirs(folder, 0700, &e), ERR_OK);
        ck_assert_int_eq(file_write(file, text, strlen(text), 0600, &e), ERR_OK);
    }
    CPU_ZERO(&allowed);
    for (const char *d = rows[_i].allowed; *d; d++)
        CPU_SET(*d - '0', &allowed);
    bool is_split = cpus_split(root, &allowed, &c);
    ck_assert_int_eq(file_remove_tree(root, &e), ERR_OK);
    ck_assert_msg(is_split == (rows[_i].measuring != NULL), "%s", rows[_i].name);
    if (!is_split)
        return;
    expect_set(rows[_i].name, &c.measuring, rows[_i].measuring);
    expect_set(rows[_i].name, &c.rest, rows[_i].rest);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{cores_are_split, LEN(rows)}};

    return unit_run("cpus", tests, LEN(tests));
}
