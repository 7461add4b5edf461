/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Real repositories made by the git program, in a temporary folder that is the current one.
 *
 * The person running the tests is kept out: no configuration but ours, fixed names, and dates that
 * go up by a minute a commit.
 */
#ifndef UNIT_GIT_FIXTURE_H
#define UNIT_GIT_FIXTURE_H

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/subprocess.h"
#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* libgit2 1.5.1 forgets regular expressions' matches, and part of a configuration it opens. Whole
 * stacks, since ours would otherwise look the same. */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
const char *__asan_default_options(void)
{
    return "fast_unwind_on_malloc=0";
}
const char *__lsan_default_suppressions(void)
{
    return "leak:pcre2_match\nleak:git_repository_open_ext\n";
}

static char fixture_top[64];

/** Shell words of every script: `commit MESSAGE` commits what is staged, or nothing. */
static const char fixture_words[] =
    "commit() {\n"
    "    t=$(( $(cat \"$TOP/.time\" 2>/dev/null || echo 1700000000) + 60 )); echo $t "
    ">\"$TOP/.time\"\n"
    "    GIT_AUTHOR_DATE=\"$t +0000\" GIT_COMMITTER_DATE=\"$t +0000\" \\\n"
    "        git commit -q --allow-empty -m \"$1\"\n"
    "}\n"
    "merge() {\n"
    "    t=$(( $(cat \"$TOP/.time\") + 60 )); echo $t >\"$TOP/.time\"\n"
    "    GIT_AUTHOR_DATE=\"$t +0000\" GIT_COMMITTER_DATE=\"$t +0000\" \\\n"
    "        git merge -q --no-ff --no-edit \"$@\"\n"
    "}\n";

static inline void fixture_start(void)
{
    strcpy(fixture_top, "/tmp/bisectd-git-XXXXXX");
    ck_assert(mkdtemp(fixture_top) != NULL);
    ck_assert_int_eq(chdir(fixture_top), 0);
    setenv("TOP", fixture_top, 1);
    setenv("HOME", fixture_top, 1);
    setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    setenv("GIT_AUTHOR_NAME", "Ada", 1);
    setenv("GIT_AUTHOR_EMAIL", "ada@example.org", 1);
    setenv("GIT_COMMITTER_NAME", "Grace", 1);
    setenv("GIT_COMMITTER_EMAIL", "grace@example.org", 1);
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
}

static inline void fixture_end(void)
{
    ck_assert_int_eq(chdir("/"), 0);
    struct err e = {0};
    ck_assert_msg(!file_remove_tree(fixture_top, &e), "%s", e.text);
}

/** Runs a shell script that must succeed; returns what it printed, without the last newline.
 *  Caller frees. */
PRINTF(1, 2) static inline char *sh_out(const char *format, ...)
{
    AUTO(buf_fini) struct buf script = {0}, out = {0}, err = {0};
    AUTO(mem_free) char *text = NULL;
    struct err e = {0};
    int status = -1;
    va_list args;

    va_start(args, format);
    ck_assert_int_ge(vasprintf(&text, format, args), 0);
    va_end(args);
    buf_printf(&script, "%s%s", fixture_words, text);
    const char *const argv[] = {"sh", "-ec", buf_str(&script), NULL};
    ck_assert_msg(!subprocess_run(argv, NULL, &out, &err, 16 * MIB, 0, &status, &e), "%s", e.text);
    ck_assert_msg(status == 0, "%s\n%s%s", text, buf_str(&out), buf_str(&err));
    while (out.len && out.data[out.len - 1] == '\n')
        out.data[--out.len] = '\0';
    return buf_take(&out);
}

#define sh(...) mem_free(sh_out(__VA_ARGS__))

/** An absolute path in the temporary folder. Caller frees. */
static inline char *fixture_path(const char *name)
{
    return mem_printf("%s/%s", fixture_top, name);
}

/** The same as a file:// URL. */
static inline char *fixture_url(const char *name)
{
    return mem_printf("file://%s/%s", fixture_top, name);
}

/** A socket that accepts and says nothing. */
static inline int fixture_listen(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    ck_assert(fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, 8));
    ck_assert(!getsockname(fd, (struct sockaddr *)&at, &n));
    *port = ntohs(at.sin_port);
    return fd;
}

/** git's own server on a free port; its pid. */
static inline pid_t fixture_serve(int *port)
{
    AUTO(mem_free) char *listen_on = NULL, *base = mem_printf("--base-path=%s", fixture_top);
    int fd = fixture_listen(port); /* finds a free port */
    struct err e = {0};
    pid_t pid;

    close(fd);
    listen_on = mem_printf("--port=%d", *port);
    const char *const argv[] = {"git", "daemon",       "--listen=127.0.0.1", listen_on,
                                base,  "--export-all", "--reuseaddr",        NULL};
    const struct subprocess s = {
        .argv = argv, .in = -1, .out = -1, .err = -1, .death_signal = SIGTERM, .new_session = true};
    ck_assert_msg(!subprocess_start(&s, &pid, &e), "%s", e.text);
    sh("for i in $(seq 100); do git ls-remote -q git://127.0.0.1:%d/r >/dev/null 2>&1 && exit 0;"
       " sleep .05; done; exit 1",
       *port);
    return pid;
}

static inline void fixture_unserve(pid_t server)
{
    kill(-server, SIGTERM);
    waitpid(server, NULL, 0);
}

#endif
