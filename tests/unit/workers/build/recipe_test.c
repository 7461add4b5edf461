/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/build/recipe.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/recipe-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    struct err e;
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

/* clang-format off */
static const struct {
    const char *name;
    const char *steps[4];
    int64_t timeout_ns;
    struct sandbox_limits limits;
    enum build_status status;
    const char *reason; /* whole */
    const char *log;    /* a part */
} rows[] = {
    {"no steps are fine",       {NULL}, 0, {0}, BUILD_OK, "", ""},
    {"steps follow each other", {"echo one >f", "cat f"}, 0, {0}, BUILD_OK, "", "$ cat f\none\n"},
    {"a bad step ends it and says why", {"true", "echo 'x.c:1: error: oops' >&2; exit 2", "echo on"}, 0, {0},
     BUILD_FAILED, "step 2 of 3 exited 2: x.c:1: error: oops", "[step 2 of 3 exited 2"},
    {"a crash is a failure",    {"kill -9 $$"}, 0, {0}, BUILD_FAILED, "step 1 of 1 killed by signal 9 (Killed)", ""},
    {"a failing middle of a line counts", {"false; true"}, 0, {0}, BUILD_FAILED, "step 1 of 1 exited 1", ""},
    {"the limit is the whole build's", {"sleep 0.2", "sleep 0.2", "sleep 100"}, NS_PER_S / 2, {0},
     BUILD_TIMEOUT, "step 3 of 3 was still running at the build's time limit of 500ms", ""},
    {"a disk limit is one", {"while :; do head -c 100000 /dev/zero >>$HOME/f; sleep 0.01; done"}, 0, {.disk_bytes = MIB},
     BUILD_LIMIT, NULL, "disk"},
    {"escapes do not reach the reason", {"printf 'a\\033[31mred\\n'; exit 1"}, 0, {0},
     BUILD_FAILED, "step 1 of 1 exited 1: a\xEF\xBF\xBD[31mred", ""},
    {"the environment is the project's and ours", {"echo \"$CC $LC_ALL $TZ $SOURCE_DATE_EPOCH $BISECTD_PHASE ${BISECTD_REVISION%${BISECTD_REVISION#????}} ${BISECTD_RUN-none}\""}, 0, {0},
     BUILD_OK, "", "\nspecial C.UTF-8 UTC 946684800 build abcd none\n"},
    {"folders are there and empty", {"test \"$PWD\" = \"$BISECTD_SOURCE\"; ls -A \"$HOME\" \"$TMPDIR\"; touch \"$HOME/x\" \"$TMPDIR/y\""}, 0, {0},
     BUILD_OK, "", ""},
    {"git does not find the repository around it", {"git init -q ..", "git rev-parse HEAD 2>&1 || mkdir s; cd s; git config user.name x 2>&1 || git status 2>&1 || cd \"$HOME\"; git stash 2>&1 || echo none"}, 0, {0},
     BUILD_OK, "", "\nfatal: not a git repository (or any of the parent directories): .git\nfatal: not in a git directory\nfatal: not a git repository (or any of the parent directories): .git\nfatal: not a git repository (or any of the parent directories): .git\nnone\n"},
    {"a repository of its own is one", {"git init -q", "git config user.name x; git symbolic-ref -q HEAD >/dev/null && echo own"}, 0, {0}, BUILD_OK, "", "own\n"},
    {"a step without its folder has failed", {"rm -rf \"$PWD\"", "true"}, 0, {0}, BUILD_FAILED, "step 1 of 2 removed the folder that it ran in", "[step 1 of 2 removed"},
    {"the last one too",        {"true", "rm -rf \"$PWD\""}, 0, {0}, BUILD_FAILED, "step 2 of 2 removed the folder that it ran in", ""},
    {"one that says more says it", {"rm -rf \"$PWD\"; echo oops; exit 3"}, 0, {0}, BUILD_FAILED, "step 1 of 1 exited 3: oops", ""},
    {"a link in its place is none", {"rmdir \"$PWD\"; ln -s / \"$PWD\"", "pwd"}, 0, {0}, BUILD_FAILED, "step 1 of 2 removed the folder that it ran in", ""},
    {"a folder that is closed is opened again", {"chmod 0 .", "ls -ld . | cut -c 1-10"}, 0, {0}, BUILD_OK, "", "\ndrwx------\n"},
    {"a command that is not there is named", {"no-such-tool --x"}, 0, {0}, BUILD_FAILED, "step 1 of 1 exited 127 (command not found?): /bin/sh: 1: no-such-tool: not found", ""},
    {"the caller's variables are not", {"env | grep -q LEAKED && exit 1; true"}, 0, {0}, BUILD_OK, "", ""},
};
/* clang-format on */

START_TEST(steps_run_as_claimed)
{
    AUTO(project_free) struct project *p = project_new("demo", "/nowhere");
    AUTO(sandbox_free) struct sandbox *sandbox = NULL;
    AUTO(clip_fini) struct clip log;
    AUTO(buf_fini) struct buf text = {0};
    AUTO(mem_free) char *home = path_join(folder, "home");
    AUTO(mem_free) char *tmp = path_join(folder, "tmp");
    AUTO(mem_free) char *source = path_join(folder, "source");
    struct revision revision = {"abcd000000000000000000000000000000000000"};
    struct recipe_outcome out;
    struct err e = {0};
    const char *name = rows[_i].name;

    setenv("LEAKED", "1", 1);
    setenv("BISECTD_RUN", "1", 1);
    ck_assert_int_eq(file_mkdirs(source, 0755, &e), ERR_OK);
    ck_assert_int_eq(sandbox_new(&sandbox, &e), ERR_OK);
    for (size_t i = 0; i < LEN(rows[_i].steps) && rows[_i].steps[i]; i++)
        strings_add(&p->build_steps, rows[_i].steps[i]);
    pairs_add(&p->environment, "CC", "special");
    p->build_timeout_ns = rows[_i].timeout_ns;
    p->sandbox = rows[_i].limits;
    clip_init(&log, MIB);
    struct recipe r = {.sandbox = sandbox,
                       .project = p,
                       .revision = &revision,
                       .log = &log,
                       .place = {.source = source, .home = home, .tmp = tmp}};

    ck_assert_msg(recipe_run(&r, &out, &e) == ERR_OK, "%s: %s", name, e.text);
    clip_render(&log, &text);
    ck_assert_msg(out.status == rows[_i].status, "%s: %s %s", name, build_status_name(out.status),
                  buf_str(&text));
    if (rows[_i].reason)
        ck_assert_msg(strcmp(out.reason, rows[_i].reason) == 0, "%s: %s", name, out.reason);
    ck_assert_msg(strstr(buf_str(&text), rows[_i].log) != NULL, "%s: %s", name, buf_str(&text));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recipe");
    TCase *tc = tcase_create("recipe");

    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, steps_run_as_claimed, 0, LEN(rows));
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
