/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are ended once they are ready. Ports and HTTP: tests/flow/start_test.sh. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/sandbox.h"
#include <check.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SECOND NS_PER_S

/* clang-format off */
static const struct {
    const char *name;
    const char *ready, *command;
    int64_t timeout_ns, grace_ns;
    enum job_end end;
    const char *out;    /* all of stdout; NULL: not looked at */
    const char *reason; /* a part of it; "" for none at all */
} rows[] = {
    {"a line on stdout is seen", "line:up", "echo start; echo it is up now; sleep 50", 20 * SECOND, 5 * SECOND,
     JOB_READY, "start\nit is up now\n", ""},
    {"a line on stderr is seen", "line:up", "echo up >&2; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a text in two pieces is one", "line:is ready", "printf 'it is'; sleep .05; printf ' ready'; sleep 50",
     20 * SECOND, 5 * SECOND, JOB_READY, "it is ready", ""},
    {"a text at the edge of a buffer is seen", "line:is ready",
     "head -c 65530 /dev/zero | tr '\\0' x; printf 'it is ready'; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, NULL, ""},
    {"one that prints and ends has been ready", "line:up", "echo up", 20 * SECOND, 5 * SECOND, JOB_READY, "up\n", ""},
    {"one that prints and fails has been ready", "line:up", "echo up; exit 3", 20 * SECOND, 5 * SECOND, JOB_READY, "up\n", ""},
    {"an end before that is none", "line:up", "echo down", 20 * SECOND, 5 * SECOND, JOB_EXITED, "down\n", ""},
    {"a crash before that is one", "line:up", "kill -SEGV $$", 20 * SECOND, 5 * SECOND, JOB_SIGNALED, "", "signal 11"},
    {"never ready is a time-out that says so", "line:up", "echo u; echo p; sleep 50", SECOND / 5, 5 * SECOND,
     JOB_TIMED_OUT, "u\np\n", "not ready (it has printed \"up\") at its time limit of 200ms"},
    {"it is asked to end, and may finish", "line:up", "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep .02; done",
     20 * SECOND, 20 * SECOND, JOB_READY, "up\nbye\n", ""},
    {"all of it is asked, and waited for", "line:up",
     "(trap 'sleep .2; echo bye; exit' TERM; echo up; while :; do sleep .02; done) & exec sleep 50",
     20 * SECOND, 20 * SECOND, JOB_READY, "up\nbye\n", ""},
    {"a session of its own is asked too", "line:up",
     "setsid sh -c 'trap \"echo bye; exit\" TERM; echo up; while :; do sleep .02; done' & exec sleep 50",
     20 * SECOND, 20 * SECOND, JOB_READY, "up\nbye\n", ""},
    {"who does not listen is killed, and it is said", "line:up", "trap '' TERM; echo up; while :; do sleep .02; done",
     20 * SECOND, SECOND / 5, JOB_READY, "up\n", "killed 200ms after it was asked to end"},
    {"a file is seen", "file:run/up", "mkdir run; : >run/up; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file that is moved there is seen", "file:up", ": >draft; mv draft up; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file below a variable is seen", "file:$HOME/up", ": >$HOME/up; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file made by one that ends at once is seen", "file:up", ": >up", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file that is there before means nothing", "file:old", "echo started", 20 * SECOND, 5 * SECOND,
     JOB_WAS_READY, "", "old is there before the command was started"},
    {"no file is a time-out", "file:up", "sleep 50", SECOND / 5, 5 * SECOND, JOB_TIMED_OUT, "", "not ready (up is there)"},
    {"exit is as ever", "exit", "echo done", 20 * SECOND, 5 * SECOND, JOB_EXITED, "done\n", ""},
    {"a port that nobody opens", "port:40000", "exec sleep 50", SECOND / 2, 5 * SECOND, JOB_TIMED_OUT, "", "not ready"},
};
/* clang-format on */

static struct sandbox_limits limits; /* of which sandbox the tests are about */
static char folder[64];
static struct sandbox *sandbox;

static void setup(enum sandbox_kind kind)
{
    struct err e = {0};

    limits = (struct sandbox_limits){.kind = kind, .is_kind_set = true};
    snprintf(folder, sizeof(folder), "/tmp/readiness-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_msg(sandbox_new(&sandbox, &e) == ERR_OK, "%s", e.text);
}

static void setup_plain(void)
{
    setup(SANDBOX_PLAIN);
}

static void setup_walls(void)
{
    setup(SANDBOX_BUBBLEWRAP);
}

/** A network of its own that hands out one port: a connection from that to itself succeeds where
 *  nobody listens. False where no such network is to be had. */
static bool enter_small_network(void)
{
    static const char range[] = "40000 40000";
    struct ifreq lo = {.ifr_name = "lo"};

    if (unshare(CLONE_NEWNET) != 0)
        return false;
    AUTO(fd_close) int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    AUTO(fd_close)
    int ports = open("/proc/sys/net/ipv4/ip_local_port_range", O_WRONLY | O_CLOEXEC);
    lo.ifr_flags = IFF_UP;
    return ioctl(any, SIOCSIFFLAGS, &lo) == 0 &&
           write(ports, range, strlen(range)) == (ssize_t)strlen(range);
}

static void setup_small_network(void)
{
    if (!enter_small_network())
        puts("no network of its own: a port that the system hands out is not tested");
    setup_plain();
}

static void teardown(void)
{
    struct err e = {0};

    sandbox_free(sandbox);
    ck_assert_msg(file_remove_tree(folder, &e) == ERR_OK, "%s", e.text);
}

/** Runs a row's command in source/, which has a file "old". */
static void run_row(int row, const struct ready *ready, struct buf *out, struct job_outcome *o)
{
    AUTO(mem_free) char *source = path_join(folder, "source");
    AUTO(mem_free) char *home = path_join(source, "here");
    AUTO(mem_free) char *old = path_join(source, "old");
    const struct job_place place = {.source = source, .home = home};
    const struct job_place seen = sandbox_place(&limits, &place);
    AUTO(mem_free) char *variable = mem_printf("HOME=%s", seen.home);
    AUTO(clip_fini) struct clip said;
    struct strings environment = {0};
    struct err e = {0};

    ck_assert_int_eq(file_mkdirs(home, 0755, &e), ERR_OK);
    ck_assert_int_eq(file_write(old, "", 0, 0644, &e), ERR_OK);
    strings_add(&environment, "PATH=/usr/bin:/bin");
    strings_add(&environment, variable);
    clip_init(&said, MIB);
    struct job_spec spec = {.command = rows[row].command,
                            .place = &place,
                            .environment = &environment,
                            .limits = &limits,
                            .timeout_ns = rows[row].timeout_ns,
                            .ready = ready,
                            .grace_ns = rows[row].grace_ns};
    ck_assert_msg(sandbox_run(sandbox, &spec, &said, NULL, o, &e) == ERR_OK, "%s: %s",
                  rows[row].name, e.text);
    clip_render(&said, out);
    strings_fini(&environment);
}

START_TEST(jobs_end_once_ready)
{
    AUTO(ready_fini) struct ready ready = {0};
    AUTO(buf_fini) struct buf out = {0};
    const char *name = rows[_i].name, *reason = rows[_i].reason;
    struct job_outcome o;
    struct err e = {0};

    ck_assert_msg(ready_parse(rows[_i].ready, &ready, &e) == ERR_OK, "%s", e.text);
    struct mono begin = mono_now();
    run_row(_i, &ready, &out, &o);
    int64_t took_ns = mono_now().ns - begin.ns;
    ck_assert_msg(o.end == rows[_i].end, "%s: end %d: %s", name, (int)o.end, o.reason);
    if (rows[_i].out)
        ck_assert_msg(strcmp(buf_str(&out), rows[_i].out) == 0, "%s: %s", name, buf_str(&out));
    ck_assert_msg(*reason ? strstr(o.reason, reason) != NULL : !*o.reason, "%s: %s", name,
                  o.reason);
    if (o.end == JOB_READY)
        ck_assert_msg(o.ready_ns > 0 && o.ready_ns < took_ns, "%s", name);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("readiness");
    TCase *plain = tcase_create("plain");
    TCase *small = tcase_create("small network");
    TCase *walls = tcase_create("walls");

    tcase_set_timeout(plain, 60);
    tcase_set_timeout(walls, 60);
    tcase_add_checked_fixture(plain, setup_plain, teardown);
    tcase_add_checked_fixture(walls, setup_walls, teardown);
    tcase_add_loop_test(plain, jobs_end_once_ready, 0, LEN(rows));
    tcase_add_loop_test(walls, jobs_end_once_ready, 0, LEN(rows));
    tcase_add_checked_fixture(small, setup_small_network, teardown);
    tcase_add_loop_test(small, jobs_end_once_ready, LEN(rows) - 1, LEN(rows));
    suite_add_tcase(s, small);
    suite_add_tcase(s, plain);
    if (system("bwrap --unshare-user --unshare-all --ro-bind / / --proc /proc --dev /dev true "
               ">/dev/null 2>&1") == 0)
        suite_add_tcase(s, walls);
    else
        puts("no namespaces here: being ready within walls is not tested");
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
