/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "cli/daemon.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(a_short_path_holds_the_socket)
{
    AUTO(mem_free) char *base = daemon_base("/srv/data");

    ck_assert_str_eq(base, "unix:/srv/data/socket");
}
END_TEST

/* 100 bytes fit, 101 do not. The name is sha256("/aa…") by sha256sum. */
START_TEST(a_long_path_does_not)
{
    char folder[101] = "/";

    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    memset(folder + 1, 'a', 92);
    AUTO(mem_free) char *fits = daemon_base(folder);
    ck_assert_uint_eq(strlen(fits), strlen("unix:") + 100);
    folder[93] = 'a';
    AUTO(mem_free) char *base = daemon_base(folder);
    AUTO(mem_free)
    char *want =
        mem_printf("unix:/run/user/7/bisectd-%u/d83b12bf2023339d.sock", (unsigned)getuid());
    ck_assert_str_eq(base, want);
}
END_TEST

START_TEST(nobody_holds_a_folder_without_a_lock)
{
    char folder[] = "/tmp/bisectctl-test-XXXXXX";

    ck_assert(mkdtemp(folder) != NULL);
    ck_assert(daemon_wait_gone(folder, 0));
    AUTO(mem_free) char *lock = path_join(folder, "lock");
    AUTO(mem_free) char *pid = mem_printf("%ld\n", (long)getpid());
    ck_assert(file_write(lock, pid, strlen(pid), 0600, NULL) == ERR_OK);
    ck_assert(!daemon_wait_gone(folder, 1));
    ck_assert(file_write(lock, "garbage", 7, 0600, NULL) == ERR_OK);
    ck_assert(daemon_wait_gone(folder, 0));
    ck_assert(file_remove_tree(folder, NULL) == ERR_OK);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_short_path_holds_the_socket, 1},
        {a_long_path_does_not, 1},
        {nobody_holds_a_folder_without_a_lock, 1},
    };
    return unit_run("daemon", tests, LEN(tests));
}
