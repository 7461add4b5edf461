/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "workers/build/artifact.h"
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct artifacts *store;

/** Runs a shell line in the test's folder. */
static int shell(const char *line)
{
    AUTO(mem_free) char *command = mem_printf("cd %s && %s", folder, line);
    return system(command);
}

static char *in_folder(const char *name)
{
    return path_join(folder, name);
}

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/artifact-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    AUTO(mem_free) char *dir = in_folder("store");
    AUTO(mem_free) char *scratch = in_folder("scratch");
    ck_assert_msg(artifacts_new(dir, scratch, 0, &store, &e) == ERR_OK, "%s", e.text);
    ck_assert_int_eq(
        shell("mkdir -p tree/.git tree/src/deep tree/build tree/empty tree/sub && cd tree && "
              "echo config >.git/config && echo gitdir >sub/.git && echo a >src/a.c && "
              "echo b >src/deep/b.c && echo binary >build/demo && chmod 755 build/demo && "
              "ln -s demo build/link && ln build/demo build/hard && mkfifo build/pipe && "
              "printf x >'build/odd\nname' && printf y >build/--flag"),
        0);
}

static void teardown(void)
{
    struct err e;

    artifacts_free(store);
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

static enum err_code pack(const struct strings *globs, char hash[65], struct err *e)
{
    AUTO(mem_free) char *tree = in_folder("tree");
    return artifacts_pack(store, tree, globs, 0, hash, NULL, e);
}

static enum err_code unpack(const char *hash, struct err *e)
{
    AUTO(mem_free) char *got = in_folder("got");
    return artifacts_unpack(store, hash, got, e);
}

/* clang-format off */
static const struct {
    const char *name;
    const char *globs[4];
    const char *want; /* what `find` shows of the unpacked folder */
} rows[] = {
    {"no globs keep the tree without .git", {NULL},
     "./build ./build/--flag ./build/demo ./build/hard ./build/link ./build/odd?name ./empty ./src ./src/a.c ./src/deep ./src/deep/b.c ./sub"},
    {"a file",            {"build/demo"},       "./build ./build/demo"},
    {"a folder is taken with all below", {"src"}, "./src ./src/a.c ./src/deep ./src/deep/b.c"},
    {"two stars go deep", {"src/**"},           "./src ./src/a.c ./src/deep ./src/deep/b.c"},
    {"one star does not", {"src/*.c"},          "./src ./src/a.c"},
    {"several add up",    {"build/demo", "src/a.c"}, "./build ./build/demo ./src ./src/a.c"},
    {"one of them may name nothing", {"build/demo", "lost/*"}, "./build ./build/demo"},
    {"a link stays one",  {"build/link"},       "./build ./build/link"},
    {"names may be odd",  {"build/odd*", "build/--flag"}, "./build ./build/--flag ./build/odd?name"},
    {".git is never part", {"sub", ".git/**", "src/a.c"}, "./src ./src/a.c ./sub"},
};
/* clang-format on */

START_TEST(globs_choose)
{
    struct strings globs = {0};
    struct err e = {0};
    char hash[65], line[1024] = "";

    for (size_t i = 0; i < LEN(rows[_i].globs) && rows[_i].globs[i]; i++)
        strings_add(&globs, rows[_i].globs[i]);
    ck_assert_msg(pack(&globs, hash, &e) == ERR_OK, "%s: %s", rows[_i].name, e.text);
    ck_assert_msg(unpack(hash, &e) == ERR_OK, "%s: %s", rows[_i].name, e.text);
    AUTO(mem_free)
    char *command = mem_printf(
        "cd %s/got && find . -mindepth 1 -print0 | tr '\\n' '?' | LC_ALL=C sort -z | tr '\\0' ' '",
        folder);
    FILE *p = popen(command, "r");
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), p));
    pclose(p);
    line[strlen(line) - 1] = '\0';
    ck_assert_msg(strcmp(line, rows[_i].want) == 0, "%s: %s", rows[_i].name, line);
    strings_fini(&globs);
}
END_TEST

START_TEST(equal_files_give_one_artifact)
{
    struct strings none = {0};
    struct err e = {0};
    char first[65], second[65], third[65];

    ck_assert_int_eq(pack(&none, first, &e), ERR_OK);
    ck_assert_int_eq(
        shell("cp -r tree again && rm -rf tree && mv again tree && rm tree/build/hard && "
              "cp tree/build/demo tree/build/hard && find tree -exec touch -h -d 2001-02-03 {} +"),
        0);
    ck_assert_msg(pack(&none, second, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(first, second);
    ck_assert_int_eq(shell("chmod 755 tree/src/a.c"), 0);
    ck_assert_int_eq(pack(&none, third, &e), ERR_OK);
    ck_assert_str_ne(first, third);
}
END_TEST

START_TEST(content_and_modes_come_back)
{
    struct strings none = {0};
    struct err e = {0};
    char hash[65];

    ck_assert_int_eq(shell("chmod 700 tree/empty"), 0);
    ck_assert_int_eq(pack(&none, hash, &e), ERR_OK);
    ck_assert_int_eq(shell("mkdir got && echo old >got/leftover"), 0);
    ck_assert_msg(unpack(hash, &e) == ERR_OK, "%s", e.text);
    ck_assert_int_eq(shell("test ! -e got/leftover && test \"$(cat got/build/link)\" = binary && "
                           "test -x got/build/demo && test \"$(stat -c %a got/empty)\" = 700 && "
                           "test \"$(stat -c %Y got/src/a.c)\" = 946684800"),
                     0);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    const char *harm; /* done to the packed file $f */
} harms[] = {
    {"a byte changed",      "printf X | dd of=$f bs=1 seek=60 conv=notrunc 2>/dev/null"},
    {"cut short",           "truncate -s 50 $f"},
    {"empty",               "truncate -s 0 $f"},
    {"not zstd at all",     "echo hello >$f"},
    {"another artifact",    "printf 'other content' | zstd -q >$f.new && mv $f.new $f"},
};
/* clang-format on */

START_TEST(damage_is_noticed_and_mended)
{
    struct strings none = {0};
    struct err e = {0};
    char hash[65];

    ck_assert_int_eq(pack(&none, hash, &e), ERR_OK);
    AUTO(mem_free)
    char *line = mem_printf("f=store/%.2s/%s.tar.zst; %s", hash, hash, harms[_i].harm);
    ck_assert_int_eq(shell(line), 0);
    ck_assert_msg(unpack(hash, &e) == ERR_CONFLICT, "%s: %s", harms[_i].name, e.text);
    ck_assert_msg(strstr(e.text, "damaged") != NULL, "%s", e.text);
    ck_assert(!artifacts_has(store, hash));
    ck_assert_int_eq(unpack(hash, &e), ERR_NOT_FOUND);
    ck_assert_int_eq(pack(&none, hash, &e), ERR_OK);
    ck_assert_msg(unpack(hash, &e) == ERR_OK, "%s: %s", harms[_i].name, e.text);
}
END_TEST

START_TEST(names_are_checked)
{
    static const char *const names[] = {
        "", "abc", "../../etc/passwd",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "ABCDEF00000000000000000000000000000000000000000000000000000000FF"};
    struct err e = {0};

    ck_assert(!artifacts_has(store, names[_i]));
    ck_assert_int_eq(unpack(names[_i], &e), ERR_NOT_FOUND);
}
END_TEST

START_TEST(nothing_to_keep_is_the_builds_fault)
{
    struct strings globs = {0};
    struct err e = {0};
    char hash[65] = "untouched";
    AUTO(clip_fini) struct clip log;
    AUTO(buf_fini) struct buf text = {0};
    AUTO(mem_free) char *tree = in_folder("tree");

    clip_init(&log, 1000);
    strings_add(&globs, "no/such/*");
    ck_assert_int_eq(artifacts_pack(store, tree, &globs, 0, hash, &log, &e), ERR_NOT_FOUND);
    ck_assert_str_eq(hash, "untouched");
    clip_render(&log, &text);
    ck_assert_str_eq(buf_str(&text), "artifacts: nothing matches \"no/such/*\"\n");
    strings_fini(&globs);
    globs = (struct strings){0};
    ck_assert_int_eq(artifacts_pack(store, tree, &globs, 10, hash, NULL, &e), ERR_LIMIT);
}
END_TEST

START_TEST(a_packed_file_is_taken_in_after_a_check)
{
    struct strings none = {0};
    struct err e = {0};
    char hash[65];
    int fd = -1;

    ck_assert_int_eq(pack(&none, hash, &e), ERR_OK);
    ck_assert_int_eq(artifacts_open(store, hash, &fd, &e), ERR_OK);
    AUTO(mem_free) char *dir = in_folder("second");
    AUTO(mem_free) char *scratch = in_folder("scratch");
    AUTO(artifacts_free) struct artifacts *second = NULL;
    ck_assert_int_eq(artifacts_new(dir, scratch, 0, &second, &e), ERR_OK);
    ck_assert_msg(artifacts_adopt(second, hash, fd, &e) == ERR_OK, "%s", e.text);
    ck_assert(artifacts_has(second, hash));
    lseek(fd, 0, SEEK_SET);
    hash[0] = hash[0] == '0' ? '1' : '0';
    ck_assert_int_eq(artifacts_adopt(second, hash, fd, &e), ERR_CONFLICT);
    ck_assert(!artifacts_has(second, hash));
    close(fd);
}
END_TEST

START_TEST(the_oldest_go_when_there_are_too_many)
{
    AUTO(mem_free) char *dir = in_folder("small");
    AUTO(mem_free) char *scratch = in_folder("scratch");
    AUTO(mem_free) char *tree = in_folder("tree");
    AUTO(mem_free) char *got = in_folder("got");
    AUTO(artifacts_free) struct artifacts *small = NULL;
    struct strings globs = {0};
    struct err e = {0};
    char hash[4][65];

    strings_add(&globs, "build/noise");
    ck_assert_int_eq(artifacts_new(dir, scratch, 3 * 110 * 1024, &small, &e), ERR_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(shell("head -c 100000 /dev/urandom >tree/build/noise"), 0);
        ck_assert_int_eq(artifacts_pack(small, tree, &globs, 0, hash[i], NULL, &e), ERR_OK);
        AUTO(mem_free)
        char *age =
            mem_printf("touch -d '2001-02-0%d' small/%.2s/%s.tar.zst", i + 1, hash[i], hash[i]);
        ck_assert_int_eq(shell(age), 0);
        if (i == 2) /* the first is used again, so the second is the oldest */
            ck_assert_int_eq(artifacts_unpack(small, hash[0], got, &e), ERR_OK);
    }
    ck_assert(artifacts_has(small, hash[0]));
    ck_assert(!artifacts_has(small, hash[1]));
    ck_assert(artifacts_has(small, hash[2]));
    ck_assert(artifacts_has(small, hash[3]));
    strings_fini(&globs);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("artifact");
    TCase *tc = tcase_create("artifact");

    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, globs_choose, 0, LEN(rows));
    tcase_add_test(tc, equal_files_give_one_artifact);
    tcase_add_test(tc, content_and_modes_come_back);
    tcase_add_loop_test(tc, damage_is_noticed_and_mended, 0, LEN(harms));
    tcase_add_loop_test(tc, names_are_checked, 0, 5);
    tcase_add_test(tc, nothing_to_keep_is_the_builds_fault);
    tcase_add_test(tc, a_packed_file_is_taken_in_after_a_check);
    tcase_add_test(tc, the_oldest_go_when_there_are_too_many);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
