/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/mem.h"
#include "unit/run.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/bisectd-file-test-XXXXXX";

static char *below(const char *name)
{
    return path_join(root, name);
}

START_TEST(writes_and_reads_whole_files)
{
    AUTO(mem_free) char *path = below("whole");
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};
    struct stat st;

    ck_assert_int_eq(file_write(path, "one", 3, 0600, &e), ERR_OK);
    ck_assert_int_eq(file_write(path, "two\0!", 5, 0640, &e), ERR_OK);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    buf_adds(&got, ">");
    ck_assert_int_eq(file_read(path, 5, &got, &e), ERR_OK);
    ck_assert_uint_eq(got.len, 6);
    ck_assert_int_eq(memcmp(got.data, ">two\0!", 7), 0);
}
END_TEST

START_TEST(reading_has_a_limit)
{
    AUTO(mem_free) char *path = below("large");
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};

    ck_assert_int_eq(file_write(path, "123456", 6, 0600, &e), ERR_OK);
    ck_assert_int_eq(file_read(path, 5, &got, &e), ERR_LIMIT);
    ck_assert_int_eq(file_read("/dev/zero", 200000, &got, &e), ERR_LIMIT);
    ck_assert_uint_eq(got.len, 0);
}
END_TEST

START_TEST(reading_says_what_is_wrong)
{
    AUTO(buf_fini) struct buf got = {0};
    AUTO(mem_free) char *absent = below("absent");
    struct err e = {0};

    ck_assert_int_eq(file_read(absent, 5, &got, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "absent") != NULL, "%s", e.text);
    ck_assert_int_eq(file_read(root, 5, &got, &e), ERR_IO);
}
END_TEST

START_TEST(a_failed_write_leaves_nothing)
{
    AUTO(mem_free) char *folder = below("taken");
    AUTO(mem_free) char *absent = below("absent/x");
    struct err e = {0};

    ck_assert_int_eq(file_mkdirs(folder, 0700, &e), ERR_OK);
    ck_assert_int_ne(file_write(folder, "x", 1, 0600, &e), ERR_OK); /* a folder has the name */
    ck_assert_int_eq(file_write(absent, "x", 1, 0600, &e), ERR_NOT_FOUND);
    ck_assert_int_eq(file_remove_tree(root, &e), ERR_OK); /* a leftover would do no harm, but: */
    ck_assert(!file_exists(root));
}
END_TEST

START_TEST(makes_folders)
{
    AUTO(mem_free) char *deep = below("a//b/c/");
    AUTO(mem_free) char *c = below("a/b/c");
    AUTO(mem_free) char *file = below("a/file");
    AUTO(mem_free) char *through = below("a/file/x");
    struct err e = {0};

    ck_assert_int_eq(file_mkdirs(deep, 0700, &e), ERR_OK);
    ck_assert_int_eq(file_mkdirs(deep, 0700, &e), ERR_OK);
    ck_assert(file_exists(c));
    ck_assert_int_eq(file_write(file, "", 0, 0600, &e), ERR_OK);
    ck_assert_int_eq(file_mkdirs(file, 0700, &e), ERR_CONFLICT);
    ck_assert_int_ne(file_mkdirs(through, 0700, &e), ERR_OK);
    ck_assert_int_eq(file_mkdirs("/", 0700, &e), ERR_OK);
}
END_TEST

static void touch_at(int folder, const char *name)
{
    int fd = openat(folder, name, O_CREAT | O_WRONLY, 0000);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

START_TEST(removes_trees_of_any_depth)
{
    AUTO(mem_free) char *tree = below("deep");
    struct err e = {0};

    ck_assert_int_eq(mkdir(tree, 0700), 0);
    int at = open(tree, O_DIRECTORY);
    for (int i = 0; i < 3000; i++) { /* 300 KB of path, far past PATH_MAX */
        char name[101];
        memset(name, 'd', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        touch_at(at, "file");
        ck_assert_int_eq(mkdirat(at, name, 0700), 0);
        int next = openat(at, name, O_DIRECTORY);
        ck_assert_int_ge(next, 0);
        close(at);
        at = next;
    }
    close(at);
    ck_assert_msg(file_remove_tree(tree, &e) == ERR_OK, "%s", e.text);
    ck_assert(!file_exists(tree));
}
END_TEST

START_TEST(removes_what_nobody_may_read)
{
    AUTO(mem_free) char *tree = below("locked");
    AUTO(mem_free) char *inner = below("locked/inner");
    struct err e = {0};

    ck_assert_int_eq(mkdir(tree, 0700), 0);
    ck_assert_int_eq(mkdir(inner, 0700), 0);
    int fd = open(inner, O_DIRECTORY);
    touch_at(fd, "file");
    close(fd);
    ck_assert_int_eq(chmod(inner, 0), 0);
    ck_assert_int_eq(chmod(tree, 0), 0);
    ck_assert_msg(file_remove_tree(tree, &e) == ERR_OK, "%s", e.text);
    ck_assert(!file_exists(tree));
}
END_TEST

START_TEST(never_follows_links)
{
    AUTO(mem_free) char *kept = below("kept");
    AUTO(mem_free) char *inside = below("kept/inside");
    AUTO(mem_free) char *tree = below("links");
    AUTO(mem_free) char *link_in = below("links/to");
    AUTO(mem_free) char *link_at = below("link");
    struct err e = {0};

    ck_assert_int_eq(file_mkdirs(kept, 0700, &e), ERR_OK);
    ck_assert_int_eq(file_write(inside, "x", 1, 0600, &e), ERR_OK);
    ck_assert_int_eq(file_mkdirs(tree, 0700, &e), ERR_OK);
    ck_assert_int_eq(symlink(kept, link_in), 0);
    ck_assert_int_eq(symlink(kept, link_at), 0);
    ck_assert_int_eq(file_remove_tree(tree, &e), ERR_OK);
    ck_assert_int_eq(file_remove_tree(link_at, &e), ERR_OK);
    ck_assert(!file_exists(link_at) && !file_exists(tree) && file_exists(inside));
    ck_assert_int_eq(file_remove_tree(tree, &e), ERR_OK); /* nothing there is fine */
}
END_TEST

START_TEST(joins_and_resolves_names)
{
    static const char *const rows[][3] = {{"a", "b", "a/b"},
                                          {"a/", "b", "a/b"},
                                          {"a", "/b", "a/b"},
                                          {"/", "b", "/b"},
                                          {"", "b", "b"}};
    struct err e = {0};

    for (size_t i = 0; i < LEN(rows); i++) {
        AUTO(mem_free) char *got = path_join(rows[i][0], rows[i][1]);
        ck_assert_str_eq(got, rows[i][2]);
    }
    AUTO(mem_free) char *dots = below("../../tmp/.");
    AUTO(mem_free) char *real = path_real(dots, &e);
    ck_assert_str_eq(real, "/tmp");
    ck_assert_ptr_null(path_real("/no/such/name", &e));
    ck_assert_int_eq(e.code, ERR_NOT_FOUND);
    AUTO(mem_free) char *here = path_of_program();
    ck_assert_int_eq(here[0], '/');
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {writes_and_reads_whole_files, 1},  {reading_has_a_limit, 1},
        {reading_says_what_is_wrong, 1},    {makes_folders, 1},
        {removes_trees_of_any_depth, 1},    {removes_what_nobody_may_read, 1},
        {never_follows_links, 1},           {joins_and_resolves_names, 1},
        {a_failed_write_leaves_nothing, 1}, /* last: removes the root */
    };
    if (!mkdtemp(root))
        return 1;
    int rc = unit_run("file", tests, LEN(tests));
    return file_remove_tree(root, NULL) ? 1 : rc;
}
