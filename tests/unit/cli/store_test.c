/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "cli/store.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
static const struct {
    const char *name;
    enum err_code want;
} names[] = {
    {"", ERR_INVALID}, {"/", ERR_INVALID}, {"//", ERR_INVALID}, {"/tmp/..", ERR_INVALID},
    {"/tmp", ERR_OK},  {"nowhere/at/all", ERR_OK},
};
/* clang-format on */

START_TEST(a_name_is_that_of_a_folder)
{
    struct err e = {0};

    ck_assert_msg(store_check_name(names[_i].name, &e) == names[_i].want, "\"%s\": %s",
                  names[_i].name, e.text);
    ck_assert((names[_i].want == ERR_OK) == (e.hint[0] == '\0'));
}
END_TEST

/* As a user who is neither root nor the owner. Gives 0, or what did not hold. */
static int look_as_nobody(const char *store, const char *owner)
{
    struct err e = {0};

    if (setgid(65534) || setuid(65534))
        return 1;
    if (!store_is_there(store) || store_check(store, &e) != ERR_DENIED)
        return 2;
    return strstr(e.text, owner) && strstr(e.hint, "write access") ? 0 : 3;
}

/* What may be read only, and what may not be looked into. */
static const mode_t modes[] = {0755, 0700};

START_TEST(the_store_of_another_user_is_said_to_be_one)
{
    char folder[] = "/tmp/bisectctl-test-XXXXXX";
    int status;

    ck_assert(mkdtemp(folder) != NULL);
    AUTO(mem_free) char *database = path_join(folder, "bisectd.db");
    struct err e = {0};
    ck_assert(!store_is_there(folder));
    ck_assert(file_write(database, "x", 1, 0644, &e) == ERR_OK);
    ck_assert(store_is_there(folder));
    ck_assert(store_check(folder, &e) == ERR_OK);
    ck_assert(chmod(folder, modes[_i]) == 0);
    if (geteuid() == 0) { /* only root can try another user's place */
        pid_t pid = fork();
        if (pid == 0)
            _exit(look_as_nobody(folder, "root"));
        ck_assert(waitpid(pid, &status, 0) == pid);
        ck_assert_int_eq(status, 0);
    }
    ck_assert(file_remove_tree(folder, &e) == ERR_OK);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_name_is_that_of_a_folder, LEN(names)},
        {the_store_of_another_user_is_said_to_be_one, LEN(modes)},
    };
    return unit_run("cli/store", tests, LEN(tests));
}
