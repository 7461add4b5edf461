/* SPDX-License-Identifier: Apache-2.0 */
/** The command line, and where the socket lies. */
#include "app/options.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/place.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_ARGS = 8 };

static enum err_code parse(const char *const *args, struct options *o, struct err *e)
{
    char *argv[MAX_ARGS + 1] = {(char *)(uintptr_t) "bisectd"};
    int argc = 1;

    for (; args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    return options_parse(argc, argv, o, e);
}

/* clang-format off */
static const struct {
    const char *name;
    const char *args[MAX_ARGS];
    const char *says, *hints;
} bad[] = {
    {"an unknown flag",      {"--lisen", "x"},         "--lisen", "did you mean --listen?"},
    {"far from any",         {"--zzzzzzzzzzz"},        "--zzz",   "--help"},
    {"a word",               {"start"},                "start",   "--help"},
    {"no value",             {"--data-dir"},           "--data-dir needs DIR", ""},
    {"a value too many",     {"--private=yes"},        "takes no value", ""},
    {"workers as words",     {"--workers", "two"},     "--workers", ""},
    {"workers below zero",   {"--workers", "-1"},      "--workers", ""},
    {"too many workers",     {"--workers=100000"},     "--workers", ""},
    {"an empty value",       {"--workers="},           "--workers", ""},
};
/* clang-format on */

START_TEST(a_mistake_is_told)
{
    struct options o;
    struct err e = {0};

    ck_assert_msg(parse(bad[_i].args, &o, &e) == ERR_INVALID, "%s", bad[_i].name);
    ck_assert_msg(strstr(e.text, bad[_i].says), "%s: %s", bad[_i].name, e.text);
    ck_assert_msg(strstr(e.hint, bad[_i].hints), "%s: %s", bad[_i].name, e.hint);
}
END_TEST

START_TEST(flags_are_read)
{
    const char *const args[] = {"--data-dir", "/d", "--listen=none", "--workers", "3",
                                "--private",  NULL};
    struct options o;

    ck_assert(!parse(args, &o, NULL));
    ck_assert_str_eq(o.data_dir, "/d");
    ck_assert_str_eq(o.listen, "none");
    ck_assert_int_eq(o.n_workers, 3);
    ck_assert(o.is_private && !o.is_log_json && !o.is_child && o.ready_fd == -1);
}
END_TEST

START_TEST(help_names_what_is_for_people)
{
    AUTO(buf_fini) struct buf text = {0};

    options_help(&text);
    ck_assert_ptr_nonnull(strstr(text.data, "--data-dir DIR"));
    ck_assert_ptr_nonnull(strstr(text.data, "example: bisectd"));
    ck_assert_ptr_null(strstr(text.data, "--resolve"));
}
END_TEST

START_TEST(flags_stand_above_the_file)
{
    char dir[] = "/tmp/options-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(dir));
    AUTO(mem_free) char *file = path_join(dir, "bisectd.yml");
    AUTO(mem_free) char *data = path_join(dir, "data");
    const char text[] = "listen: 127.0.0.1:9999\nworkers: 4\nsandbox: bubblewrap\n";
    AUTO(config_free) struct config *c = NULL;
    struct options o = {
        .config = file, .data_dir = data, .listen = "none", .sandbox = "plain", .n_workers = 0};
    struct err e = {0};

    ck_assert_msg(!file_write(file, text, strlen(text), 0600, &e), "%s", e.text);
    ck_assert_msg(!options_config(&o, &c, &e), "%s", e.text);
    ck_assert_ptr_null(c->listen.host);
    ck_assert_int_eq(c->engine, ENGINE_POOL);
    ck_assert_int_eq(c->sandbox, SANDBOX_PLAIN);
    ck_assert_str_eq(c->data_dir, data);
    ck_assert(file_exists(data));
    ck_assert(!file_remove_tree(dir, &e));
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_told)
{
    struct config *c = NULL;
    struct options o = {.data_dir = "/dev/null/x", .n_workers = -1, .is_private = true};
    struct err e = {0};

    ck_assert(options_config(&o, &c, &e));
    ck_assert_ptr_nonnull(strstr(e.text, "/dev/null"));
    ck_assert_ptr_nonnull(strstr(e.hint, "--data-dir"));
}
END_TEST

START_TEST(a_short_path_has_its_socket_inside)
{
    AUTO(mem_free) char *s = place_socket("/var/lib/bisectd");

    ck_assert_str_eq(s, "/var/lib/bisectd/socket");
}
END_TEST

START_TEST(a_long_one_has_it_elsewhere)
{
    char path[128] = {0};

    memset(path, 'x', sizeof(path) - 1);
    path[0] = '/';
    setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
    AUTO(mem_free) char *s = place_socket(path);
    ck_assert_int_eq(strncmp(s, "/run/user/7/bisectd-", 20), 0);
    ck_assert_str_eq(s + strlen(s) - 5, ".sock");
    ck_assert_uint_le(strlen(s), 100);
    path[1] = 'y';
    AUTO(mem_free) char *other = place_socket(path);
    ck_assert_str_ne(s, other);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_mistake_is_told, LEN(bad)},        {flags_are_read, 1},
        {help_names_what_is_for_people, 1},   {flags_stand_above_the_file, 1},
        {a_folder_that_cannot_be_is_told, 1}, {a_short_path_has_its_socket_inside, 1},
        {a_long_one_has_it_elsewhere, 1},
    };
    return unit_run("app/options", tests, LEN(tests));
}
