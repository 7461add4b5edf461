/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/agent/options.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *argv[8];
    enum err_code code;
    const char *says; /* a part of text and hint, or "coordinator name platform once tags" */
} rows[] = {
    {"nothing needed",      {NULL}, ERR_OK, "http://127.0.0.1:8641 "},
    {"all given",           {"--coordinator", "unix:/s", "--name=n", "--platform", "p", "--once", "--tag", "a"}, ERR_OK, "unix:/s n p 1 1"},
    {"the last one wins",   {"--name", "a", "--name", "b", "--platform=p"}, ERR_OK, "b p 0 0"},
    {"tags add up",         {"--tag", "a", "--tag", "b", "--name=n", "--platform=p"}, ERR_OK, "n p 0 2"},
    {"unknown with a near one", {"--platfrom", "x"}, ERR_INVALID, "did you mean --platform?"},
    {"unknown",             {"--zzzzzz"}, ERR_INVALID, "unknown flag --zzzzzz"},
    {"a value is missing",  {"--name"}, ERR_INVALID, "--name needs a value"},
    {"a value is empty",    {"--name="}, ERR_INVALID, "--name is empty"},
    {"a value too many",    {"--once=yes"}, ERR_INVALID, "--once takes no value"},
    {"not an address",      {"--coordinator", "ftp://a"}, ERR_INVALID, "--coordinator: \"ftp://a\" is not a coordinator's address; give http://"},
    {"a URL has no spaces", {"--coordinator", "http://a b"}, ERR_INVALID, "--coordinator: a coordinator's URL has no spaces"},
    {"a socket's path may", {"--coordinator", "unix:/a b", "--name=n", "--platform=p"}, ERR_OK, "unix:/a b n p 0 0"},
    {"a platform is a name", {"--platform", "a b"}, ERR_INVALID, "--platform: expected a name of letters"},
    {"quiet by default",    {"--name=n", "--platform=p"}, ERR_OK, "quiet 2000 ms 25 %"},
    {"quiet as asked",      {"--name=n", "--quiet-wait", "0", "--quiet-load=7.5%"}, ERR_OK, "quiet 0 ms 7.5 %"},
    {"quiet without a sign", {"--name=n", "--quiet-wait", "90s", "--quiet-load=10"}, ERR_OK, "quiet 90000 ms 10 %"},
    {"a wait that is none", {"--quiet-wait", "long"}, ERR_INVALID, "--quiet-wait: "},
    {"a wait too long",     {"--quiet-wait", "2h"}, ERR_INVALID, "--quiet-wait: at most 1h, got 2h"},
    {"a load that is none", {"--quiet-load", "%"}, ERR_INVALID, "--quiet-load: expected a percentage from 0 to 100, got %"},
    {"a load too high",     {"--quiet-load", "101"}, ERR_INVALID, "--quiet-load: expected a percentage from 0 to 100, got 101"},
    {"not a flag",          {"name"}, ERR_INVALID, "\"name\" is not a flag"},
    {"one dash",            {"-h"}, ERR_INVALID, "\"-h\" is not a flag"},
};
/* clang-format on */

START_TEST(flags_are_read)
{
    AUTO(options_fini) struct options o = {0};
    AUTO(buf_fini) struct buf got = {0};
    struct err e = {0};
    char *argv[10] = {(char *)"bisect-worker"};
    int argc = 1;

    unsetenv("BISECTD_URL");
    for (size_t i = 0; i < LEN(rows[_i].argv) && rows[_i].argv[i]; i++)
        argv[argc++] = (char *)rows[_i].argv[i];
    enum err_code code = options_parse(argc, argv, &o, &e);
    ck_assert_msg(code == rows[_i].code, "%s: %s", rows[_i].name, e.text);
    if (code)
        buf_printf(&got, "%s; %s", e.text, e.hint);
    else
        buf_printf(&got, "%s %s %s %d %zu quiet %lld ms %g %%", o.coordinator, o.name, o.platform,
                   o.is_once, o.tags.n, (long long)(o.quiet.patience_ns / NS_PER_MS),
                   100 * o.quiet.most_busy);
    ck_assert_msg(strstr(buf_str(&got), rows[_i].says) != NULL, "%s: %s", rows[_i].name,
                  buf_str(&got));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    const char *content; /* NULL: no such file */
    const char *want;    /* the token, or a part of the error */
} token_rows[] = {
    {"a token",           "  secret\nmore\n", "secret"},
    {"no file",           NULL,               "--token-file: "},
    {"an empty file",     "",                 "holds no token"},
    {"nothing but space", " \n\t\n",          "holds no token"},
    {"no text",           "a\x01z",           "holds something that is no token"},
};
/* clang-format on */

START_TEST(token_files_are_read)
{
    char path[] = "/tmp/options-test-XXXXXX";
    int fd = mkstemp(path);
    char *argv[] = {(char *)"w", (char *)"--token-file", path};
    AUTO(options_fini) struct options o = {0};
    AUTO(mem_free) char *token = NULL;
    struct err e = {0};

    if (token_rows[_i].content)
        ck_assert_int_eq(
            file_write(path, token_rows[_i].content, strlen(token_rows[_i].content), 0600, &e),
            ERR_OK);
    else
        unlink(path);
    ck_assert_int_eq(options_parse(3, argv, &o, &e), ERR_OK);
    enum err_code code = options_token(&o, &token, &e);
    fd_close(fd);
    unlink(path);
    if (code)
        ck_assert_msg(strstr(e.text, "--token-file: ") && strstr(e.text, token_rows[_i].want),
                      "%s: %s", token_rows[_i].name, e.text);
    else
        ck_assert_str_eq(token, token_rows[_i].want);
}
END_TEST

START_TEST(what_the_environment_says_is_named)
{
    char *argv[] = {(char *)"w"};
    AUTO(options_fini) struct options o = {0};
    struct err e = {0};

    setenv("BISECTD_URL", "nowhere", 1);
    ck_assert_int_eq(options_parse(1, argv, &o, &e), ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(e.text, "$BISECTD_URL: "));
}
END_TEST

START_TEST(workers_of_one_host_have_their_own_names)
{
    AUTO(options_fini) struct options a = {0};
    AUTO(options_fini) struct options b = {0};
    AUTO(options_fini) struct options again = {0};
    char *one[] = {(char *)"w", (char *)"--work-dir", (char *)"/tmp/1"};
    char *two[] = {(char *)"w", (char *)"--work-dir", (char *)"/tmp/2"};
    struct err e = {0};

    ck_assert_int_eq(options_parse(3, one, &a, &e), ERR_OK);
    ck_assert_int_eq(options_parse(3, two, &b, &e), ERR_OK);
    ck_assert_int_eq(options_parse(3, one, &again, &e), ERR_OK);
    ck_assert_str_ne(a.name, b.name);
    ck_assert_str_eq(a.name, again.name);
}
END_TEST

START_TEST(help_names_every_flag)
{
    static const char *const flags[] = {"--coordinator", "--token-file", "--platform",  "--tag",
                                        "--once",        "--work-dir",   "--artifacts", "--name",
                                        "--host",        "example:"};
    AUTO(buf_fini) struct buf help = {0};

    options_help(&help);
    for (size_t i = 0; i < LEN(flags); i++)
        ck_assert_msg(strstr(buf_str(&help), flags[i]) != NULL, "%s", flags[i]);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("options");
    TCase *tc = tcase_create("options");

    tcase_add_loop_test(tc, flags_are_read, 0, LEN(rows));
    tcase_add_loop_test(tc, token_files_are_read, 0, LEN(token_rows));
    tcase_add_test(tc, what_the_environment_says_is_named);
    tcase_add_test(tc, workers_of_one_host_have_their_own_names);
    tcase_add_test(tc, help_names_every_flag);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
