/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/sandbox.h"
#include "workers/sandbox/tree.h"
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static struct sandbox *sandbox;

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/sandbox-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_msg(sandbox_new(&sandbox, &e) == ERR_OK, "%s", e.text);
}

static void teardown(void)
{
    struct err e = {0};

    sandbox_free(sandbox);
    ck_assert_msg(file_remove_tree(folder, &e) == ERR_OK, "%s", e.text);
}

struct ran {
    enum err_code code;
    struct err e;
    struct job_outcome outcome;
    struct buf out, log;
};

static void ran_fini(struct ran *r)
{
    buf_fini(&r->out);
    buf_fini(&r->log);
}
DEFINE_AUTO_FINI(struct ran, ran_fini)

static struct ran run(const char *command, int64_t timeout_ns, struct sandbox_limits limits)
{
    struct ran r = {0};
    struct strings environment = {0};
    struct clip out, log;
    const char *watched[] = {folder, NULL};
    struct job_spec spec = {.command = command,
                            .folder = folder,
                            .environment = &environment,
                            .limits = &limits,
                            .timeout_ns = timeout_ns,
                            .watched = watched,
                            .disk_before_bytes = sandbox_disk_usage(watched, INT64_MAX)};

    strings_add(&environment, "PATH=/usr/bin:/bin");
    strings_add(&environment, "GREETING=hello world");
    clip_init(&out, sandbox_output_bytes(&limits));
    clip_init(&log, sandbox_output_bytes(&limits));
    r.code = sandbox_run(sandbox, &spec, &out, &log, &r.outcome, &r.e);
    clip_render(&out, &r.out);
    clip_render(&log, &r.log);
    clip_fini(&out);
    clip_fini(&log);
    strings_fini(&environment);
    return r;
}

#define SECOND NS_PER_S

/* clang-format off */
static const struct {
    const char *name;
    const char *command;
    int64_t timeout_ns;
    struct sandbox_limits limits;
    enum job_end end;
    int code;
    const char *out;    /* NULL: not looked at */
    const char *log;    /* a part of it; NULL: not looked at */
    const char *reason; /* a part of it */
} rows[] = {
    {"a command's output and status come back", "echo a; echo b >&2; exit 3", 0, {0},
     JOB_EXITED, 3, "a\n", "b\n", "exited 3"},
    {"a good command has no reason",  "true", 0, {0}, JOB_EXITED, 0, "", NULL, ""},
    {"the first failing command ends it", "false; echo on", 0, {0}, JOB_EXITED, 1, "", NULL, "exited 1"},
    {"the environment is what was given", "env | sort | grep -v '^_=\\|^PWD=\\|^SHLVL='", 0, {0},
     JOB_EXITED, 0, "GREETING=hello world\nPATH=/usr/bin:/bin\n", NULL, ""},
    {"stdin is empty",                "cat; echo end", 0, {0}, JOB_EXITED, 0, "end\n", NULL, ""},
    {"no descriptor is inherited",    "ls /proc/self/fd | wc -l", 0, {0}, JOB_EXITED, 0, "4\n", NULL, ""},
    {"there is no terminal",          "cat /dev/tty", 0, {0}, JOB_EXITED, 1, "", NULL, "exited 1"},
    {"a crash is a signal",           "kill -SEGV $$", 0, {0}, JOB_SIGNALED, SIGSEGV, "", NULL, "signal 11"},
    {"a hang ends at its limit",      "echo x; sleep 100", SECOND / 5, {0}, JOB_TIMED_OUT, 9, "x\n", NULL, "time limit of"},
    {"a hang that ignores signals ends", "trap '' TERM INT HUP; while :; do sleep 1; done", SECOND / 5, {0},
     JOB_TIMED_OUT, 9, "", NULL, "time limit"},
    {"a daemonised child does not keep it", "setsid sleep 100 & echo on", 5 * SECOND, {0},
     JOB_EXITED, 0, "on\n", NULL, ""},
    {"a stopped job ends at its limit", "kill -STOP $$", SECOND / 5, {0}, JOB_TIMED_OUT, 9, "", NULL, "time limit"},
    {"too much memory is a limit",
     "exec awk 'BEGIN{s=\"x\"; while(1) s = s s}'", 20 * SECOND, {.memory_bytes = 64 * MIB},
     JOB_LIMIT, 9, NULL, NULL, "memory than its limit of 64 MiB"},
    {"too many processes is a limit", "for i in 1 2 3 4 5 6 7 8 9; do sleep 50 & done; wait", 20 * SECOND,
     {.n_processes = 5}, JOB_LIMIT, 9, NULL, NULL, "processes than its limit of 5"},
    {"many small files reach the disk limit",
     "i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero >f$i; done", 20 * SECOND, {.disk_bytes = 4 * MIB},
     JOB_LIMIT, 9, NULL, NULL, "disk than its limit of 4096 KiB"},
    {"one large file reaches the disk limit",
     "head -c 100000000 /dev/zero >big", 20 * SECOND, {.disk_bytes = 4 * MIB},
     JOB_LIMIT, 153, NULL, NULL, "disk than its limit"},
    {"output is cut and the cut is marked", "echo first; yes | head -c 1000000; echo; echo last", 0,
     {.output_bytes = 1000}, JOB_EXITED, 0, NULL, "bytes left out", ""},
};
/* clang-format on */

START_TEST(job_ends_as_claimed)
{
    AUTO(ran_fini) struct ran r = run(rows[_i].command, rows[_i].timeout_ns, rows[_i].limits);
    const char *name = rows[_i].name;

    ck_assert_msg(r.code == ERR_OK, "%s: %s", name, r.e.text);
    ck_assert_msg(r.outcome.end == rows[_i].end, "%s: end %d: %s %s", name, (int)r.outcome.end,
                  r.outcome.reason, buf_str(&r.log));
    if (rows[_i].end != JOB_LIMIT)
        ck_assert_msg(r.outcome.code == rows[_i].code, "%s: code %d", name, r.outcome.code);
    if (rows[_i].out)
        ck_assert_msg(strcmp(buf_str(&r.out), rows[_i].out) == 0, "%s: %s", name, buf_str(&r.out));
    if (rows[_i].log)
        ck_assert_msg(strstr(buf_str(&r.log), rows[_i].log) != NULL, "%s: %s", name,
                      buf_str(&r.log));
    ck_assert_msg(strstr(r.outcome.reason, rows[_i].reason) != NULL, "%s: %s", name,
                  r.outcome.reason);
    ck_assert_msg(rows[_i].reason[0] || !r.outcome.reason[0], "%s: %s", name, r.outcome.reason);
}
END_TEST

/** The command with every `sleep SECONDS` made one that no other test program has. */
static char *mark_sleeps(const char *command, const char *seconds)
{
    struct buf out = {0};

    for (const char *at; (at = strstr(command, seconds)) != NULL; command = at + strlen(seconds)) {
        buf_add(&out, command, (size_t)(at - command));
        buf_printf(&out, "%s.%d", seconds, (int)getpid());
    }
    buf_adds(&out, command);
    return buf_take(&out);
}

/** Whether any process on the machine is such a `sleep SECONDS`. */
static bool somebody_sleeps(const char *seconds)
{
    bool is_found = false;
    DIR *proc = opendir("/proc");
    AUTO(mem_free) char *marked = mark_sleeps(seconds, seconds);

    ck_assert_ptr_nonnull(proc);
    for (struct dirent *d; (d = readdir(proc)) != NULL;) {
        char path[300], line[64] = "";
        snprintf(path, sizeof(path), "/proc/%s/cmdline", d->d_name);
        int fd = d->d_name[0] >= '1' && d->d_name[0] <= '9' ? open(path, O_RDONLY) : -1;
        if (fd >= 0 && read(fd, line, sizeof(line) - 1) > 6)
            is_found |= strcmp(line, "sleep") == 0 && strcmp(line + 6, marked) == 0;
        fd_close(fd);
    }
    closedir(proc);
    return is_found;
}

START_TEST(nothing_survives)
{
    /* clang-format off */
    static const struct {
        const char *name, *command;
        int64_t timeout_ns;
        struct sandbox_limits limits;
    } ways[] = {
        {"after a good end",     "setsid sh -c 'sleep 7771 & sleep 7771' & (sleep 7771 &) ; exit 0", 0, {0}},
        {"after a bad end",      "(setsid setsid sleep 7771 >/dev/null 2>&1 &); exit 1", 0, {0}},
        {"after a time limit",   "(setsid sleep 7771 &) ; nohup sleep 7771", SECOND / 5, {0}},
        {"after a disk limit",   "(setsid sleep 7771 &) ; head -c 9000000 /dev/zero >big; sleep 7771", 5 * SECOND, {.disk_bytes = MIB}},
        {"after forking without end", "while :; do sleep 7771 & done", 20 * SECOND, {.n_processes = 400}},
        {"after forking faster",      "f() { [ $1 -lt 1 ] || { f $(($1 - 1)) | f $(($1 - 1)) & }; }; f 11; sleep 7771", 20 * SECOND, {.n_processes = 200}},
    };
    /* clang-format on */
    ck_assert(_i < (int)LEN(ways));
    AUTO(mem_free) char *command = mark_sleeps(ways[_i].command, "7771");
    AUTO(ran_fini) struct ran r = run(command, ways[_i].timeout_ns, ways[_i].limits);

    ck_assert_msg(r.code == ERR_OK, "%s: %s", ways[_i].name, r.e.text);
    ck_assert_msg(!somebody_sleeps("7771"), "%s", ways[_i].name);
}
END_TEST

START_TEST(a_hundred_megabytes_are_cut)
{
    AUTO(ran_fini)
    struct ran r = run("yes 0123456789 | head -c 100000000; echo; echo last", 60 * SECOND,
                       (struct sandbox_limits){.output_bytes = 100000});

    ck_assert_msg(r.code == ERR_OK, "%s", r.e.text);
    ck_assert_int_eq(r.outcome.end, JOB_EXITED);
    ck_assert_uint_lt(r.log.len, 100100);
    ck_assert(strncmp(buf_str(&r.log), "0123456789\n", 11) == 0);
    ck_assert(strcmp(buf_str(&r.log) + r.log.len - 6, "\nlast\n") == 0);
}
END_TEST

START_TEST(time_and_memory_are_measured)
{
    AUTO(ran_fini) struct ran nap = run("sleep 0.2", 0, (struct sandbox_limits){0});
    AUTO(ran_fini)
    struct ran work =
        run("i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done", 0, (struct sandbox_limits){0});
    AUTO(ran_fini)
    struct ran big = run("exec awk 'BEGIN{s=\"x\"; while(length(s) < 50000000) s = s s}'", 0,
                         (struct sandbox_limits){0});

    ck_assert_int_ge(nap.outcome.wall_ns, SECOND / 5);
    ck_assert_int_lt(nap.outcome.wall_ns, 2 * SECOND);
    ck_assert_int_lt(nap.outcome.cpu_ns, SECOND / 10);
    ck_assert_int_gt(work.outcome.cpu_ns, 20 * NS_PER_MS);
    ck_assert_int_ge(big.outcome.rss_bytes, 60 * MIB);
    ck_assert_int_lt(nap.outcome.rss_bytes, big.outcome.rss_bytes / 2);
}
END_TEST

static enum job_go stop_at_once(void *context)
{
    (*(int *)context)++;
    return JOB_STOP;
}

START_TEST(tick_stops_a_job)
{
    struct strings environment = {0};
    struct sandbox_limits limits = {0};
    int n_ticks = 0;
    struct job_spec spec = {.command = "sleep 100",
                            .folder = folder,
                            .environment = &environment,
                            .limits = &limits,
                            .tick = stop_at_once,
                            .context = &n_ticks};
    struct job_outcome o;
    struct err e = {0};

    ck_assert_msg(sandbox_run(sandbox, &spec, NULL, NULL, &o, &e) == ERR_OK, "%s", e.text);
    ck_assert_int_eq(o.end, JOB_STOPPED);
    ck_assert_int_ge(n_ticks, 1);
    /* and the next job is not hit by the stop of the last */
    AUTO(ran_fini) struct ran r = run("echo fine", 0, limits);
    ck_assert_str_eq(buf_str(&r.out), "fine\n");
}
END_TEST

START_TEST(what_is_ours_is_an_error)
{
    struct strings environment = {0};
    struct job_outcome o;
    struct err e = {0};
    struct sandbox_limits walls = {.kind = SANDBOX_BUBBLEWRAP, .is_kind_set = true}, none = {0};
    struct job_spec spec = {
        .command = "true", .folder = folder, .environment = &environment, .limits = &walls};

    ck_assert_int_eq(sandbox_run(sandbox, &spec, NULL, NULL, &o, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "\"bubblewrap\"") != NULL, "%s", e.text);
    spec.limits = &none;
    spec.folder = "/no/such/folder";
    ck_assert_int_eq(sandbox_run(sandbox, &spec, NULL, NULL, &o, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "/no/such/folder: enter the folder: No such file") != NULL, "%s",
                  e.text);
}
END_TEST

START_TEST(a_killed_supervisor_is_replaced)
{
    struct sandbox_limits none = {0};

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    AUTO(mem_free)
    char *command = mark_sleeps("setsid sleep 7772 & kill -9 $PPID; sleep 7772", "7772");
    AUTO(ran_fini) struct ran r = run(command, 0, none);
    ck_assert_int_eq(r.code, ERR_IO);
    ck_assert_msg(strstr(r.e.text, "supervisor") != NULL, "%s", r.e.text);
    ck_assert(!somebody_sleeps("7772"));
    AUTO(ran_fini) struct ran again = run("echo fine", 0, none);
    ck_assert_msg(again.code == ERR_OK, "%s", again.e.text);
    ck_assert_str_eq(buf_str(&again.out), "fine\n");
}
END_TEST

START_TEST(the_job_dies_with_its_worker)
{
    AUTO(mem_free)
    char *command = mark_sleeps("setsid sleep 7773 & touch here; sleep 7773", "7773");
    pid_t worker = fork();
    if (worker == 0) {
        struct sandbox *own = NULL;
        struct err e = {0};
        if (sandbox_new(&own, &e))
            _exit(1);
        sandbox = own;
        run(command, 0, (struct sandbox_limits){0});
        _exit(0);
    }
    AUTO(mem_free) char *here = path_join(folder, "here");
    for (int i = 0; i < 500 && !file_exists(here); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert(somebody_sleeps("7773"));
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    for (int i = 0; i < 500 && somebody_sleeps("7773"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert(!somebody_sleeps("7773"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sandbox");
    TCase *tc = tcase_create("sandbox");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, job_ends_as_claimed, 0, LEN(rows));
    tcase_add_loop_test(tc, nothing_survives, 0, 6);
    tcase_add_test(tc, a_hundred_megabytes_are_cut);
    tcase_add_test(tc, time_and_memory_are_measured);
    tcase_add_test(tc, tick_stops_a_job);
    tcase_add_test(tc, what_is_ours_is_an_error);
    tcase_add_test(tc, a_killed_supervisor_is_replaced);
    tcase_add_test(tc, the_job_dies_with_its_worker);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
