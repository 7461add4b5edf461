/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/subprocess.h"
#include "unit/run.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static enum err_code shell(const char *script, struct buf *out, struct buf *err, int *status,
                           struct err *e)
{
    const char *const argv[] = {"sh", "-c", script, NULL};

    return subprocess_run(argv, NULL, out, err, MIB, 10 * NS_PER_S, status, e);
}

START_TEST(collects_both_streams)
{
    AUTO(buf_fini) struct buf out = {0};
    AUTO(buf_fini) struct buf err = {0};
    struct err e = {0};
    int status = -1;

    ck_assert_msg(shell("echo out; echo err >&2; exit 3", &out, &err, &status, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_str_eq(buf_str(&out), "out\n");
    ck_assert_str_eq(buf_str(&err), "err\n");
    ck_assert_int_eq(WEXITSTATUS(status), 3);
    ck_assert_int_eq(shell("kill -9 $$", NULL, NULL, &status, &e), ERR_OK);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}
END_TEST

START_TEST(feeds_more_than_a_pipe_holds)
{
    static const char *const argv[] = {"cat", NULL};
    AUTO(buf_fini) struct buf in = {0};
    AUTO(buf_fini) struct buf out = {0};
    struct err e = {0};
    int status = -1;

    for (int i = 0; i < 100000; i++)
        buf_printf(&in, "line %d\n", i);
    ck_assert_msg(subprocess_run(argv, &in, &out, NULL, 16 * MIB, 0, &status, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_uint_eq(out.len, in.len);
    ck_assert_int_eq(memcmp(out.data, in.data, in.len), 0);
}
END_TEST

START_TEST(survives_a_reader_that_left)
{
    static const char *const argv[] = {"true", NULL};
    AUTO(buf_fini) struct buf in = {0};
    struct err e = {0};
    int status = -1;

    memset(buf_room(&in, MIB), 'x', MIB);
    in.len = MIB;
    ck_assert_msg(subprocess_run(argv, &in, NULL, NULL, MIB, 0, &status, &e) == ERR_OK, "%s",
                  e.text);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(a_missing_program_is_an_error)
{
    static const char *const argv[] = {"no-such-program-anywhere", NULL};
    struct err e = {0};
    int status = -1;

    ck_assert_int_eq(subprocess_run(argv, NULL, NULL, NULL, MIB, 0, &status, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "no-such-program-anywhere") != NULL, "%s", e.text);
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1); /* no zombie left */

    static const char *const folder[] = {"/", NULL};
    struct subprocess s = {.argv = folder, .in = -1, .out = -1, .err = -1};
    pid_t pid = 0;
    ck_assert_int_eq(subprocess_start(&s, &pid, &e), ERR_DENIED);
    static const char *const fine[] = {"true", NULL};
    s = (struct subprocess){.argv = fine, .in = -1, .out = -1, .err = -1, .cwd = "/no/such"};
    ck_assert_int_eq(subprocess_start(&s, &pid, &e), ERR_NOT_FOUND);
}
END_TEST

START_TEST(time_and_output_have_limits)
{
    static const char *const endless[] = {"sh", "-c", "while :; do echo yes; done", NULL};
    static const char *const silent[] = {"sleep", "60", NULL};
    AUTO(buf_fini) struct buf out = {0};
    struct err e = {0};
    int status = -1;

    ck_assert_int_eq(subprocess_run(endless, NULL, &out, NULL, 1000, 0, &status, &e), ERR_LIMIT);
    struct mono start = mono_now();
    ck_assert_int_eq(subprocess_run(silent, NULL, &out, NULL, 1000, 100 * NS_PER_MS, &status, &e),
                     ERR_TIMEOUT);
    ck_assert_int_lt(mono_now().ns - start.ns, 10 * NS_PER_S);
    ck_assert_int_eq(waitpid(-1, &status, WNOHANG), -1);
}
END_TEST

START_TEST(a_child_left_behind_does_not_hold_us)
{
    AUTO(buf_fini) struct buf out = {0};
    struct err e = {0};
    int status = -1;
    struct mono start = mono_now();

    ck_assert_int_eq(shell("sleep 5 & echo done", &out, NULL, &status, &e), ERR_OK);
    ck_assert_str_eq(buf_str(&out), "done\n");
    ck_assert_int_lt(mono_now().ns - start.ns, 4 * NS_PER_S);
}
END_TEST

START_TEST(only_named_descriptors_pass)
{
    AUTO(buf_fini) struct buf got = {0};
    AUTO(fd_close) int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
    AUTO(fd_close) int hidden = open("/dev/null", O_RDONLY); /* without O_CLOEXEC on purpose */
    struct err e = {0};
    int ends[2], status;
    char script[120];
    pid_t pid;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    snprintf(script, sizeof(script),
             "for f in 0 1 2 %d %d; do test -e /dev/fd/$f && echo $f; done; :", kept, hidden);
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct subprocess s = {.argv = argv, .in = -1, .out = ends[1], .err = -1, .keep = {kept}};
    ck_assert_msg(subprocess_start(&s, &pid, &e) == ERR_OK, "%s", e.text);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buf_room(&got, 100), 100)) > 0;)
        got.len += (size_t)n;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    snprintf(script, sizeof(script), "0\n1\n2\n%d\n", kept);
    ck_assert_str_eq(buf_str(&got), script);
    close(ends[0]);
}
END_TEST

START_TEST(signals_start_fresh)
{
    AUTO(buf_fini) struct buf out = {0};
    sigset_t all;
    struct err e = {0};
    int status;

    signal(SIGPIPE, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    ck_assert_int_eq(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status", &out, NULL, &status, &e),
                     ERR_OK);
    ck_assert_str_eq(buf_str(&out), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    ck_assert_int_eq(shell("kill -TERM $$", NULL, NULL, &status, &e), ERR_OK);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
END_TEST

START_TEST(descriptors_may_be_swapped)
{
    static const char *const argv[] = {"sh", "-c", "echo to-out; echo to-err >&2", NULL};
    struct err e = {0};
    int a[2], status;
    char got[64] = {0};
    pid_t pid;

    /* Our 1 and 2 exchanged in the child: a naive dup2 sequence would lose one of them. */
    ck_assert_int_eq(pipe(a), 0);
    int keep_1 = dup(1), keep_2 = dup(2);
    dup2(a[1], 1);
    struct subprocess s = {.argv = argv, .in = -1, .out = 2, .err = 1};
    enum err_code rc = subprocess_start(&s, &pid, &e);
    dup2(keep_1, 1);
    dup2(keep_2, 2);
    close(a[1]);
    ck_assert_int_eq(rc, ERR_OK);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_gt(read(a[0], got, sizeof(got) - 1), 0);
    ck_assert_str_eq(got, "to-err\n");
}
END_TEST

START_TEST(the_child_dies_with_us)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    pid_t middle = fork();
    if (middle == 0) {
        static const char *const argv[] = {"sleep", "60", NULL};
        struct subprocess s = {.argv = argv,
                               .in = -1,
                               .out = ends[1],
                               .err = -1,
                               .death_signal = SIGTERM,
                               .new_session = true};
        pid_t pid;
        _exit(subprocess_start(&s, &pid, NULL) ? 1 : 0);
    }
    close(ends[1]);
    waitpid(middle, NULL, 0);
    struct pollfd end = {.fd = ends[0], .events = POLLIN};
    ck_assert_int_eq(poll(&end, 1, 10000), 1);
    ck_assert(end.revents & POLLHUP);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {collects_both_streams, 1},       {feeds_more_than_a_pipe_holds, 1},
        {survives_a_reader_that_left, 1}, {a_missing_program_is_an_error, 1},
        {time_and_output_have_limits, 1}, {a_child_left_behind_does_not_hold_us, 1},
        {only_named_descriptors_pass, 1}, {signals_start_fresh, 1},
        {descriptors_may_be_swapped, 1},  {the_child_dies_with_us, 1},
    };
    return unit_run("subprocess", tests, LEN(tests));
}
