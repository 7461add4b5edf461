/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/measure/schedule.h"
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];
static struct sandbox *sandbox;

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/schedule-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(sandbox_new(&sandbox, &e), ERR_OK);
}

static void teardown(void)
{
    struct err e;

    sandbox_free(sandbox);
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

struct got {
    struct run_result *runs;
    size_t n;
    struct buf log;
    struct buf shown; /* run/attempt status value, in words */
};

static void got_fini(struct got *g)
{
    for (size_t i = 0; i < g->n; i++)
        run_result_fini(&g->runs[i]);
    mem_free(g->runs);
    buf_fini(&g->log);
    buf_fini(&g->shown);
}
DEFINE_AUTO_FINI(struct got, got_fini)

/** Two builds a and b, each a folder holding its name in the file `name`; b may be missing. */
static struct got take(const char *metric_spec, const char *order, bool has_b)
{
    struct got g = {0};
    struct err e = {0};
    AUTO(project_free) struct project *p = project_new("demo", "/nowhere");
    AUTO(metric_free) struct metric *m = NULL;
    AUTO(clip_fini) struct clip log;
    struct task_build builds[2] = {{.revision = {"aaaa000000000000000000000000000000000000"}},
                                   {.revision = {"bbbb000000000000000000000000000000000000"}}};
    struct task_run runs[16];
    struct task_spec spec = {.n_builds = 2, .builds = builds, .runs = runs};
    struct schedule_build ready[2] = {{.folder = path_join(folder, "a")},
                                      {.folder = path_join(folder, "b")}};
    AUTO(mem_free) char *source = path_join(folder, "source");
    AUTO(mem_free) char *home = path_join(folder, "home");
    AUTO(mem_free) char *tmp = path_join(folder, "tmp");
    AUTO(mem_free) char *out = path_join(folder, "out");

    ck_assert_msg(metric_from_spec(metric_spec, &m, &e) == ERR_OK, "%s", e.text);
    for (int i = 0; i < 2; i++) {
        AUTO(mem_free) char *name = path_join(ready[i].folder, "name");
        ck_assert_int_eq(file_mkdirs(ready[i].folder, 0755, &e), ERR_OK);
        ck_assert_int_eq(file_write(name, i ? "b" : "a", 1, 0644, &e), ERR_OK);
    }
    if (!has_b) {
        mem_free(ready[1].folder);
        ready[1] = (struct schedule_build){.reason = mem_dup("not built: step 1 of 1 exited 2")};
    }
    for (const char *c = order; *c; c++, spec.n_runs++)
        runs[spec.n_runs] =
            (struct task_run){.build = *c == 'b', .number = spec.n_runs, .seed = 100 + spec.n_runs};
    clip_init(&log, MIB);
    struct schedule s = {.sandbox = sandbox,
                         .project = p,
                         .metric = m,
                         .spec = &spec,
                         .builds = ready,
                         .place = {.source = source, .home = home, .tmp = tmp},
                         .out = out,
                         .log = &log};
    ck_assert_msg(schedule_run(&s, &g.runs, &g.n, &e) == ERR_OK, "%s: %s", metric_spec, e.text);
    clip_render(&log, &g.log);
    for (size_t i = 0; i < g.n; i++) {
        buf_printf(&g.shown, "%s%u/%u %s", i ? " " : "", g.runs[i].run, g.runs[i].attempt,
                   run_status_name(g.runs[i].status));
        if (g.runs[i].status == RUN_OK)
            buf_printf(&g.shown, "=%g", g.runs[i].value);
    }
    ck_assert(!file_exists(source));
    for (int i = 0; i < 2; i++) {
        bool is_lost = strstr(metric_spec, "rm -rf") != NULL;
        ck_assert(is_lost || !ready[i].folder || file_exists(ready[i].folder));
        mem_free(ready[i].folder);
        mem_free(ready[i].reason);
    }
    return g;
}

/* clang-format off */
static const struct {
    const char *name;
    const char *metric;
    const char *order;
    bool lacks_b;
    const char *want;
    const char *reason; /* a part of the first one there is; NULL: not looked at */
} rows[] = {
    {"runs come in the order given", "value:command=test $(cat name) = a && echo 1 || echo 2", "abba", false,
     "0/0 ok=1 1/0 ok=2 2/0 ok=2 3/0 ok=1", NULL},
    {"run, seed and phase are told", "value:command=echo $BISECTD_RUN$BISECTD_SEED; test $BISECTD_PHASE = measure", "ab", false,
     "0/0 ok=100 1/0 ok=1101", NULL},
    {"the out folder is empty each time", "value:command=ls -A $BISECTD_OUT | wc -l; touch $BISECTD_OUT/x $TMPDIR/x", "aa", false,
     "0/0 ok=0 1/0 ok=0", NULL},
    {"both are measured at one path", "value:command=pwd | cksum | cut -d' ' -f1", "a", false, NULL, NULL},
    {"a file may hold the number", "value:file=n.txt,command=echo 5 >$BISECTD_OUT/n.txt; echo noise", "a", false, "0/0 ok=5", NULL},
    {"a file that is not there cannot", "value:file=n.txt,command=echo 5", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "left nothing in $BISECTD_OUT/n.txt"},
    {"what cannot be measured is tried three times, then skipped", "value:command=test $(cat name) = a && echo 1", "abab", false,
     "0/0 ok=1 1/0 cannot 1/1 cannot 1/2 cannot 2/0 ok=1 3/0 skipped", "cannot measure: exited 1"},
    {"a second try may do", "value:command=if test -e tried; then echo 3; else touch tried; fi", "aa", false,
     "0/0 cannot 0/1 ok=3 1/0 ok=3", NULL},
    {"nothing is no number", "value:command=true", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure"},
    {"two numbers without reduce cannot", "value:command=echo 1 2", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "2 numbers"},
    {"two numbers with reduce can", "value:reduce=mean,command=echo 1; echo 2", "a", false, "0/0 ok=1.5", NULL},
    {"nan is no number", "value:command=echo nan", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure"},
    {"inf is no number", "value:command=echo inf", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure"},
    {"a crash cannot be measured", "wall:command=kill -SEGV $$", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "signal 11"},
    {"what was not built is skipped", "value:command=echo 1", "aba", true, "0/0 ok=1 1/0 skipped 2/0 ok=1", "step 1 of 1 exited 2"},
    {"a time-out is not tried again", "value:timeout=200ms,command=test $(cat name) = b && echo 1 || sleep 100", "aba", false,
     "0/0 timeout 1/0 ok=1 2/0 skipped", "time limit"},
    {"exit: 0 is good, others bad", "exit:command=test $(cat name) = a || exit 3", "abab", false,
     "0/0 ok=0 1/0 ok=1 2/0 ok=0 3/0 ok=1", NULL},
    {"exit: 125 cannot test, at once", "exit:command=exit 125", "aa", false, "0/0 cannot 1/0 skipped", "125"},
    {"exit: 127 is bad, and the reason says what it may be", "exit:command=no-such-command-at-all", "a", false, "0/0 ok=1",
     "exited 127 (command not found?): /bin/sh: 1: no-such-command-at-all: not found"},
    {"exit: 126 likewise", "exit:command=./name", "a", false, "0/0 ok=1", "exited 126 (not executable?): /bin/sh: 1: ./name: Permission denied"},
    {"a reason quotes the last line", "value:command=echo first; echo 'no \033such file' >&2; echo; exit 3", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: exited 3: no "},
    {"a number needs a command that is there", "wall:command=no-such-command-at-all", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: exited 127 (command not found?): /bin/sh: 1: no-such-command-at-all: not found"},
    {"a run that removes its folder cannot be measured", "value:command=test $(cat name) = b || rm -rf $PWD; echo 1", "aba", false,
     "0/0 cannot 1/0 ok=1 2/0 skipped", "cannot measure: the command removed the folder that it ran in"},
    {"so does a link in its place", "exit:command=rm -rf $PWD; ln -s / $PWD", "aba", false,
     "0/0 cannot 1/0 cannot 2/0 skipped", "removed the folder that it ran in"},
    {"so does one that fails", "wall:command=rm -rf $PWD; exit 3", "aa", false, "0/0 cannot 1/0 skipped", "removed the folder"},
    {"a warm-up that removes its folder likewise", "value:warmup=2,command=rm -rf $PWD; echo 1", "aba", false,
     "0/0 cannot 1/0 cannot 2/0 skipped", "removed the folder"},
    {"a signal ends it all even so", "exit:command=rm -rf $PWD; kill -9 $$", "ab", false, "0/0 abort 1/0 skipped", "signal 9"},
    {"a folder that is closed is opened again", "value:command=chmod 0 .; echo 1", "aba", false, "0/0 ok=1 1/0 ok=1 2/0 ok=1", NULL},
    {"exit: 128 and more ends it all", "exit:command=exit 128", "ab", false, "0/0 abort 1/0 skipped", "exited 128"},
    {"exit: a signal ends it all", "exit:command=kill -9 $$", "ab", false, "0/0 abort 1/0 skipped", "signal 9"},
    {"exit: a time-out is untestable", "exit:timeout=200ms,command=sleep 100", "aa", false, "0/0 timeout 1/0 skipped", "time limit"},
    {"exit: a time-out may be bad", "exit:timeout=200ms,on_timeout=bad,command=sleep 100", "aa", false, "0/0 ok=1 1/0 ok=1", "counts as bad"},
    {"warm-ups are thrown away, once a revision", "value:warmup=2,command=n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n >n; echo $n", "abab", false,
     "0/0 ok=3 1/0 ok=3 2/0 ok=4 3/0 ok=4", NULL},
    {"ts: a program that ends too early cannot be measured", "ts:ready=line:up,command=echo down", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: ended before it was ready: down"},
    {"ts: one that fails before it is ready neither", "ts:ready=line:up,command=echo oh no; exit 3", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: ended before it was ready: exited 3: oh no"},
    {"ts: one that exits badly neither", "ts:command=echo oh no; exit 3", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: exited 3: oh no"},
    {"ts: never ready is a time-out", "ts:timeout=200ms,ready=port:1,command=sleep 100", "ab", false,
     "0/0 timeout 1/0 timeout", "not ready (port 1 is open) at its time limit of 200ms"},
    {"ts: a file of the artifact goes before the program starts", "ts:ready=file:name,command=test ! -e name || exit 9; echo", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: ended before it was ready"},
    {"ts: what has been there all the time says nothing", "ts:ready=file:/etc/passwd,command=sleep 100", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "cannot measure: /etc/passwd is there before the command was started"},
    {"syscalls: those of children count too", "syscalls:calls=mkdir,command=mkdir x; (mkdir y z; exec mkdir w)", "aa", false,
     "0/0 ok=4 1/0 cannot 1/1 cannot 1/2 cannot", "cannot measure: exited 1: "},
    {"syscalls: on files that match", "syscalls:calls=unlinkat+mkdir,path=*/y*,command=mkdir $TMPDIR/y1 $TMPDIR/z $TMPDIR/y2; rmdir $TMPDIR/*", "ab", false,
     "0/0 ok=2 1/0 ok=2", NULL},
    {"syscalls: none is a number", "syscalls:command=true", "a", false, "0/0 ok=0", NULL},
    {"syscalls: quotes and dollars are the command's", "syscalls:calls=mkdir,path=*/a'b\\,$c,command=x='$c'; mkdir \"$TMPDIR/a'b\\,$x\"", "a", false, "0/0 ok=1", NULL},
    {"syscalls: a name that there is not", "syscalls:calls=fsynk,command=true", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "fsynk"},
    {"syscalls: a crash cannot be measured", "syscalls:command=kill -SEGV $$", "a", false, "0/0 cannot 0/1 cannot 0/2 cannot", "signal 11"},
    {"output without end is cut and cannot be measured", "value:command=head -c 20000000 /dev/zero | tr '\\\\0' 1", "a", false,
     "0/0 cannot 0/1 cannot 0/2 cannot", "more than"},
};
/* clang-format on */

START_TEST(runs_end_as_claimed)
{
    AUTO(got_fini) struct got g = take(rows[_i].metric, rows[_i].order, !rows[_i].lacks_b);
    const char *name = rows[_i].name, *reason = NULL;

    if (rows[_i].want)
        ck_assert_msg(strcmp(buf_str(&g.shown), rows[_i].want) == 0, "%s: %s\n%s", name,
                      buf_str(&g.shown), g.log.len < 10000 ? buf_str(&g.log) : "");
    for (size_t i = 0; i < g.n; i++) {
        if (!reason)
            reason = g.runs[i].reason;
        ck_assert_msg(g.runs[i].status == RUN_OK ||
                          (isnan(g.runs[i].value) && g.runs[i].n_values == 0),
                      "%s", name);
        ck_assert_msg(g.runs[i].status == RUN_OK || g.runs[i].reason, "%s: no reason", name);
    }
    if (rows[_i].reason)
        ck_assert_msg(reason && strstr(reason, rows[_i].reason), "%s: %s", name,
                      reason ? reason : "none");
}
END_TEST

START_TEST(revisions_share_one_path)
{
    AUTO(got_fini) struct got g = take("value:command=pwd | cksum | cut -d' ' -f1", "ab", true);

    ck_assert_uint_eq(g.n, 2);
    ck_assert_double_eq(g.runs[0].value, g.runs[1].value);
}
END_TEST

START_TEST(what_is_taken_from_outside_has_its_unit)
{
    AUTO(got_fini) struct got wall = take("wall:command=sleep 0.2", "a", true);
    AUTO(got_fini) struct got seconds = take("wall:unit=s,command=sleep 0.2", "a", true);
    AUTO(got_fini) struct got cpu = take("cpu:command=sleep 0.2", "a", true);
    AUTO(got_fini)
    struct got rss = take(
        "rss:command=exec awk 'BEGIN{s=\"x\"; while(length(s) < 50000000) s = s s}'", "a", true);

    AUTO(got_fini) struct got start = take("ts:command=sleep 0.2", "a", true);
    AUTO(got_fini)
    struct got ready =
        take("ts:unit=s,ready=file:up,command=sleep 0.2; touch up; sleep 50", "aba", true);

    ck_assert_double_ge(start.runs[0].value, 200);
    ck_assert_double_lt(start.runs[0].value, 2000);
    for (size_t i = 0; i < ready.n; i++) {
        ck_assert_double_ge(ready.runs[i].value, .2);
        ck_assert_double_lt(ready.runs[i].value, 2);
    }
    ck_assert_double_ge(wall.runs[0].value, 200);
    ck_assert_double_lt(wall.runs[0].value, 2000);
    ck_assert_double_ge(seconds.runs[0].value, .2);
    ck_assert_double_lt(seconds.runs[0].value, 2);
    ck_assert_double_lt(cpu.runs[0].value, 100);
    ck_assert_double_ge(rss.runs[0].value, 60 * 1024);
    ck_assert_double_le(rss.runs[0].value, 400 * 1024);
}
END_TEST

/* What this machine can count decides what is right: a number with the name of what has counted, or
 * a reason that names what is missing. */

static bool works(const char *command)
{
    AUTO(mem_free) char *quiet = mem_printf("%s >/dev/null 2>&1", command);

    return system(quiet) == 0;
}

static void check_refused(const struct got *g, const char *words)
{
    ck_assert_str_eq(buf_str(&g->shown), "0/0 cannot 1/0 skipped");
    ck_assert_msg(strstr(g->runs[0].reason, "cannot measure: ") && strstr(g->runs[0].reason, words),
                  "%s", g->runs[0].reason);
}

START_TEST(software_events_are_counted)
{
    AUTO(got_fini) struct got g = take("counter:event=page-faults,command=true", "aa", true);

    if (!works("perf stat -e page-faults -- true")) {
        check_refused(&g, "perf");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(g.runs[i].status, RUN_OK);
        ck_assert_double_gt(g.runs[i].value, 10);
        ck_assert_msg(strncmp(g.runs[i].reason, "perf version ", 13) == 0, "%s", g.runs[i].reason);
    }
}
END_TEST

START_TEST(instructions_are_the_same_each_time)
{
    static const char spec[] = "counter:command=cat name >/dev/null; ls / >/dev/null; "
                               "test $BISECTD_RUN$BISECTD_SEED = 11";
    AUTO(got_fini) struct got g = take(spec, "aa", true);
    bool has_counter = works("perf stat -x, -e instructions:u -- true 2>&1 | grep -q '^[0-9]'");

    if (!has_counter && !works("valgrind --version")) {
        check_refused(&g, "package valgrind");
        return;
    }
    ck_assert_msg(g.n == 2 && g.runs[1].status == RUN_OK, "%s\n%s", buf_str(&g.shown),
                  buf_str(&g.log));
    ck_assert_double_gt(g.runs[0].value, 100000);
    ck_assert_double_eq_tol(g.runs[0].value, g.runs[1].value,
                            has_counter ? g.runs[0].value / 100 : .5);
    const char *by = has_counter ? "perf version " : "callgrind of valgrind-";
    ck_assert_msg(strncmp(g.runs[0].reason, by, strlen(by)) == 0, "%s", g.runs[0].reason);
}
END_TEST

START_TEST(what_fails_is_not_counted)
{
    static const char *const commands[] = {"kill -SEGV $$", "echo oh no; exit 3"};
    static const char *const events[] = {"instructions", "page-faults"};
    AUTO(mem_free)
    char *spec = mem_printf("counter:event=%s,command=%s", events[_i / 2], commands[_i % 2]);
    AUTO(got_fini) struct got g = take(spec, "a", true);

    for (size_t i = 0; i < g.n; i++) {
        ck_assert_int_eq(g.runs[i].status, RUN_CANNOT);
        ck_assert_msg(strstr(g.runs[i].reason, "cannot measure: "), "%s", g.runs[i].reason);
    }
}
END_TEST

START_TEST(an_event_that_nobody_knows_is_refused)
{
    AUTO(got_fini) struct got g = take("counter:event=no-such-event,command=true", "aa", true);

    check_refused(&g, "event no-such-event: ");
}
END_TEST

START_TEST(syscalls_say_which_files)
{
    AUTO(got_fini)
    struct got g =
        take("syscalls:calls=mkdir,command=mkdir $TMPDIR/y; mkdir $TMPDIR/y || true", "a", true);

    ck_assert_str_eq(buf_str(&g.shown), "0/0 ok=2");
    ck_assert_msg(strstr(buf_str(&g.log), "       2 mkdir /tmp/schedule-test-") != NULL, "%s",
                  buf_str(&g.log));
}
END_TEST

START_TEST(time_in_calls_is_measured)
{
    AUTO(got_fini)
    struct got g = take("syscalls:of=time,calls=clock_nanosleep,command=sleep .05", "ab", true);

    ck_assert_uint_eq(g.n, 2);
    for (size_t i = 0; i < g.n; i++)
        ck_assert_msg(g.runs[i].status == RUN_OK && g.runs[i].value >= 50 && g.runs[i].value < 5000,
                      "%s\n%s", buf_str(&g.shown), buf_str(&g.log));
}
END_TEST

START_TEST(a_worker_without_strace_says_which_package)
{
    AUTO(mem_free) char *path = mem_dup(getenv("PATH"));

    setenv("PATH", "/nowhere", 1);
    AUTO(got_fini) struct got g = take("syscalls:command=true", "aa", true);
    setenv("PATH", path, 1);
    ck_assert_str_eq(buf_str(&g.shown), "0/0 cannot 1/0 skipped");
    ck_assert_str_eq(g.runs[0].reason, "cannot measure: this worker has no strace: install the "
                                       "package strace (without it no revision can be measured)");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("schedule");
    TCase *tc = tcase_create("schedule");

    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, runs_end_as_claimed, 0, LEN(rows));
    tcase_add_test(tc, revisions_share_one_path);
    tcase_add_test(tc, syscalls_say_which_files);
    tcase_add_test(tc, time_in_calls_is_measured);
    tcase_add_test(tc, a_worker_without_strace_says_which_package);
    tcase_add_test(tc, what_is_taken_from_outside_has_its_unit);
    tcase_add_test(tc, software_events_are_counted);
    tcase_add_test(tc, instructions_are_the_same_each_time);
    tcase_add_loop_test(tc, what_fails_is_not_counted, 0, 4);
    tcase_add_test(tc, an_event_that_nobody_knows_is_refused);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
