/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are ended once they are ready. Ports and HTTP: tests/flow/start_test.sh. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "unit/run.h"
#include "workers/sandbox/sandbox.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
    {"a file below a variable is seen", "file:$HOME/up", ": >here/up; sleep 50", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file made by one that ends at once is seen", "file:up", ": >up", 20 * SECOND, 5 * SECOND, JOB_READY, "", ""},
    {"a file that is there before means nothing", "file:old", "echo started", 20 * SECOND, 5 * SECOND,
     JOB_WAS_READY, "", "old is there before the command was started"},
    {"no file is a time-out", "file:up", "sleep 50", SECOND / 5, 5 * SECOND, JOB_TIMED_OUT, "", "not ready (up is there)"},
    {"exit is as ever", "exit", "echo done", 20 * SECOND, 5 * SECOND, JOB_EXITED, "done\n", ""},
};
/* clang-format on */

START_TEST(jobs_end_once_ready)
{
    AUTO(sandbox_free) struct sandbox *sandbox = NULL;
    AUTO(ready_fini) struct ready ready = {0};
    AUTO(clip_fini) struct clip out;
    AUTO(buf_fini) struct buf text = {0};
    struct sandbox_limits limits = {0};
    struct strings environment = {0};
    struct job_outcome outcome;
    struct err e = {0};
    char folder[] = "/tmp/readiness-test-XXXXXX";
    const struct job_place place = {.source = folder};

    ck_assert_ptr_nonnull(mkdtemp(folder));
    AUTO(mem_free) char *home = mem_printf("HOME=%s/here", folder);
    ck_assert_int_eq(file_mkdirs(home + strlen("HOME="), 0755, &e), ERR_OK);
    AUTO(mem_free) char *old = path_join(folder, "old");
    ck_assert_int_eq(file_write(old, "", 0, 0644, &e), ERR_OK);
    strings_add(&environment, "PATH=/usr/bin:/bin");
    strings_add(&environment, home);
    clip_init(&out, MIB);
    ck_assert_msg(sandbox_new(&sandbox, &e) == ERR_OK, "%s", e.text);
    ck_assert_msg(ready_parse(rows[_i].ready, &ready, &e) == ERR_OK, "%s", e.text);
    struct job_spec spec = {.command = rows[_i].command,
                            .place = &place,
                            .environment = &environment,
                            .limits = &limits,
                            .timeout_ns = rows[_i].timeout_ns,
                            .ready = &ready,
                            .grace_ns = rows[_i].grace_ns};
    struct mono begin = mono_now();
    ck_assert_msg(sandbox_run(sandbox, &spec, &out, NULL, &outcome, &e) == ERR_OK, "%s: %s",
                  rows[_i].name, e.text);
    int64_t took_ns = mono_now().ns - begin.ns;
    clip_render(&out, &text);
    ck_assert_msg(outcome.end == rows[_i].end, "%s: end %d: %s", rows[_i].name, (int)outcome.end,
                  outcome.reason);
    if (rows[_i].out)
        ck_assert_msg(strcmp(buf_str(&text), rows[_i].out) == 0, "%s: %s", rows[_i].name,
                      buf_str(&text));
    ck_assert_msg(*rows[_i].reason ? strstr(outcome.reason, rows[_i].reason) != NULL
                                   : !*outcome.reason,
                  "%s: %s", rows[_i].name, outcome.reason);
    if (outcome.end == JOB_READY)
        ck_assert_msg(outcome.ready_ns > 0 && outcome.ready_ns < took_ns, "%s", rows[_i].name);
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
    strings_fini(&environment);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{jobs_end_once_ready, LEN(rows)}};

    return unit_run("readiness", tests, LEN(tests));
}
