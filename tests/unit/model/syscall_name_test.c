/* SPDX-License-Identifier: Apache-2.0 */
#include "model/syscall_name.h"
#include "unit/run.h"
#include <string.h>

START_TEST(names_are_sorted_and_found)
{
    for (size_t i = 0; i < n_syscall_names; i++) {
        const char *name = syscall_names[i];
        ck_assert_msg(i == 0 || strcmp(syscall_names[i - 1], name) < 0, "%s", name);
        ck_assert_msg(syscall_name_is_known(name, strlen(name)), "%s", name);
    }
    ck_assert(syscall_name_is_known("fsync+fdatasync", 5));
    ck_assert(!syscall_name_is_known("fsyncc", 6) && !syscall_name_is_known("fsyn", 4));
    ck_assert(!syscall_name_is_known("", 0));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{names_are_sorted_and_found, 1}};
    return unit_run("syscall_name", tests, LEN(tests));
}
