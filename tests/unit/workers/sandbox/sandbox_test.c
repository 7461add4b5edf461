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

static char folder[64], source[80], tmp[80];
static struct job_place place = {.source = source, .tmp = tmp};
static struct sandbox *sandbox;
static enum sandbox_kind kind; /* of all that runs */

static void setup(void)
{
    struct err e = {0};

    snprintf(folder, sizeof(folder), "/tmp/sandbox-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(source, sizeof(source), "%s/source", folder);
    snprintf(tmp, sizeof(tmp), "%s/tmp", folder);
    ck_assert_int_eq(file_mkdirs(source, 0755, &e), ERR_OK);
    ck_assert_int_eq(file_mkdirs(tmp, 0755, &e), ERR_OK);
    ck_assert_msg(sandbox_new(&sandbox, &e) == ERR_OK, "%s", e.text);
}

static void setup_plain(void)
{
    kind = SANDBOX_PLAIN;
    setup();
}

static void setup_walls(void)
{
    kind = SANDBOX_BUBBLEWRAP;
    setup();
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
    struct job_spec spec = {.command = command,
                            .place = &place,
                            .environment = &environment,
                            .limits = &limits,
                            .timeout_ns = timeout_ns,
                            .disk_before_bytes = job_place_usage(&place, INT64_MAX)};

    limits.kind = kind;
    limits.is_kind_set = true;

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
        int n_left; /* reported; -1: not looked at */
    } ways[] = {
        {"after a good end",     "setsid sh -c 'sleep 7771 & sleep 7771' & (sleep 7771 &) ; exit 0", 0, {0}, -1},
        {"what is left is counted", "(sleep 7771 &); setsid sleep 7771 >/dev/null 2>&1 & sleep .1", 0, {0}, 2},
        {"what has ended is not", "true & (true &) & sleep .1", 0, {0}, 0},
        {"after a bad end",      "(setsid setsid sleep 7771 >/dev/null 2>&1 &); exit 1", 0, {0}, 1},
        {"after a time limit",   "(setsid sleep 7771 &) ; nohup sleep 7771", SECOND / 5, {0}, 0},
        {"after a disk limit",   "(setsid sleep 7771 &) ; head -c 9000000 /dev/zero >big; sleep 7771", 5 * SECOND, {.disk_bytes = MIB}, -1},
        {"after forking without end", "while :; do sleep 7771 & done", 20 * SECOND, {.n_processes = 400}, -1},
        {"after forking faster",      "f() { [ $1 -lt 1 ] || { f $(($1 - 1)) | f $(($1 - 1)) & }; }; f 11; sleep 7771", 20 * SECOND, {.n_processes = 200}, -1},
    };
    /* clang-format on */
    ck_assert(_i < (int)LEN(ways));
    AUTO(mem_free) char *command = mark_sleeps(ways[_i].command, "7771");
    AUTO(ran_fini) struct ran r = run(command, ways[_i].timeout_ns, ways[_i].limits);

    ck_assert_msg(r.code == ERR_OK, "%s: %s", ways[_i].name, r.e.text);
    ck_assert_msg(!somebody_sleeps("7771"), "%s", ways[_i].name);
    if (ways[_i].n_left >= 0)
        ck_assert_msg(r.outcome.n_left == (uint32_t)ways[_i].n_left, "%s: %u", ways[_i].name,
                      (unsigned)r.outcome.n_left);
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
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    int n_ticks = 0;
    struct job_spec spec = {.command = "sleep 100",
                            .place = &place,
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
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    struct job_place nowhere = {.source = "/no/such/folder"};
    struct job_spec spec = {
        .command = "true", .place = &nowhere, .environment = &environment, .limits = &limits};

    ck_assert_int_eq(sandbox_run(sandbox, &spec, NULL, NULL, &o, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "/no/such/folder: enter the folder: No such file") != NULL, "%s",
                  e.text);
}
END_TEST

START_TEST(memory_has_a_limit_of_the_machines)
{
    static const struct {
        int64_t stated, machine, want;
    } cases[] = {{0, 1000, 900}, {500, 1000, 500}, {2000, 1000, 2000}, {0, 0, 0}};

    for (size_t i = 0; i < LEN(cases); i++) {
        const struct sandbox_limits limits = {.memory_bytes = cases[i].stated};
        ck_assert_int_eq(sandbox_memory_bytes(&limits, cases[i].machine), cases[i].want);
    }
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
    AUTO(mem_free) char *here = path_join(source, "here");
    for (int i = 0; i < 1000 && !(file_exists(here) && somebody_sleeps("7773")); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    for (int i = 0; i < 500 && !somebody_sleeps("7773"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert(somebody_sleeps("7773"));
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
    for (int i = 0; i < 500 && somebody_sleeps("7773"); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert(!somebody_sleeps("7773"));
}
END_TEST

/** Where the stack of a fresh process lies. */
static void find_stack(bool is_fixed, char out[64])
{
    static const char command[] = "grep stack /proc/self/maps | cut -d- -f1";
    struct strings environment = {0};
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    AUTO(clip_fini) struct clip said;
    AUTO(buf_fini) struct buf text = {0};
    struct job_spec spec = {.command = command,
                            .place = &place,
                            .environment = &environment,
                            .limits = &limits,
                            .has_fixed_layout = is_fixed};
    struct job_outcome outcome;
    struct err e = {0};

    strings_add(&environment, "PATH=/usr/bin:/bin");
    clip_init(&said, KIB);
    ck_assert_msg(sandbox_run(sandbox, &spec, &said, NULL, &outcome, &e) == ERR_OK, "%s", e.text);
    clip_render(&said, &text);
    ck_assert_uint_gt(text.len, 4);
    snprintf(out, 64, "%s", buf_str(&text));
    strings_fini(&environment);
}

START_TEST(addresses_are_fixed_where_asked)
{
    char a[64], b[64];

    find_stack(true, a);
    find_stack(true, b);
    ck_assert_str_eq(a, b);
    if (file_exists("/proc/sys/kernel/randomize_va_space")) {
        for (int i = 0; i < 4 && strcmp(a, b) == 0; i++) /* the same twice in 2^22 */
            find_stack(false, b);
        ck_assert_str_ne(a, b);
    }
}
END_TEST

/* ---- walls only ---- */

/** By somebody else's judgement: bwrap's own, called as a person would. */
static bool walls_can_stand(void)
{
    int status =
        system("bwrap --unshare-user --unshare-all --ro-bind / / --proc /proc --dev /dev true "
               ">/dev/null 2>&1");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(a_check_says_whether_walls_stand)
{
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    struct err e = {0};
    enum err_code code = sandbox_check(sandbox, &limits, &e);

    if (walls_can_stand()) {
        ck_assert_msg(code == ERR_OK, "%s", e.text);
        return;
    }
    ck_assert_msg(code == ERR_DENIED || code == ERR_NOT_FOUND, "%d %s", (int)code, e.text);
    ck_assert_msg(strstr(e.text, "sandbox kind bubblewrap does not work here: ") == e.text, "%s",
                  e.text);
    ck_assert_msg(strstr(e.text, "\"sandbox: plain\"") != NULL, "%s", e.text);
    /* and a job is not run, with the same words */
    AUTO(ran_fini) struct ran r = run("touch here", 0, limits);
    AUTO(mem_free) char *here = path_join(source, "here");
    ck_assert_int_eq(r.code, code);
    ck_assert_str_eq(r.e.text, e.text);
    ck_assert(!file_exists(here));
}
END_TEST

START_TEST(a_missing_bwrap_is_named)
{
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    struct err e = {0};

    setenv("PATH", folder, 1);
    ck_assert_int_eq(sandbox_check(sandbox, &limits, &e), ERR_NOT_FOUND);
    ck_assert_msg(strstr(e.text, "bwrap is not installed") != NULL, "%s", e.text);
    ck_assert_msg(strstr(e.text, "\"sandbox: plain\"") != NULL, "%s", e.text);
}
END_TEST

START_TEST(a_bwrap_that_fails_is_quoted)
{
    struct sandbox_limits limits = {.kind = kind, .is_kind_set = true};
    AUTO(mem_free) char *bwrap = path_join(folder, "bwrap");
    static const char script[] = "#!/bin/sh\necho 'bwrap: no \033[1mluck' >&2\nexit 1\n";
    struct err e = {0};

    ck_assert_int_eq(file_write(bwrap, script, strlen(script), 0755, &e), ERR_OK);
    setenv("PATH", folder, 1);
    ck_assert_int_eq(sandbox_check(sandbox, &limits, &e), ERR_DENIED);
    ck_assert_msg(strstr(e.text, "does not work here: bwrap: no ") != NULL, "%s", e.text);
    ck_assert_msg(strchr(e.text, '\033') == NULL, "%s", e.text);
}
END_TEST

/* clang-format off */
/* What a job within walls finds. SECRET is a file of ours outside, HIDDEN one within /etc. */
static const struct {
    const char *name, *command;
    bool has_network;
    const char *out;
} finds[] = {
    {"it starts in a constant place", "pwd; echo a >$PWD/a; cat /job/source/a", false, "/job/source\na\n"},
    {"it writes to its own folders only",
     "for at in / /usr /etc /job /dev /run /var /proc/sys/kernel /sys; do touch $at/x 2>/dev/null && echo $at; done; touch /tmp/x /var/tmp/y . && ls /tmp", false, "x\ny\n"},
    {"there is no home and nothing of the worker", "ls -d /home /root /srv /mnt SECRET 2>/dev/null || true", false, ""},
    {"the secret is no file", "cat SECRET 2>&1 || true", false, "cat: SECRET: No such file or directory\n"},
    {"a secret within the system is hidden", "cat HIDDEN 2>/dev/null || echo no", false, "no\n"},
    {"what not all may read is hidden", "cat /etc/shadow 2>/dev/null || echo no", false, "no\n"},
    {"it sees its own processes only", "ls /proc | grep -c '^[0-9]' || true", false, "4\n"}, /* bisect-job, sh, ls, grep */
    {"it cannot look into process 1", "cat /proc/1/environ 2>/dev/null || echo no; readlink /proc/1/fd/3 2>/dev/null || echo no; cat /proc/1/exe >/dev/null 2>&1 || echo no", false, "no\nno\nno\n"},
    {"it cannot end process 1", "for s in 1 2 9 15 19 17; do kill -$s 1 || true; done; echo on", false, "on\n"},
    {"it has no network but its own", "grep -c : /proc/net/dev", false, "1\n"},
    {"it has no capability", "grep Cap /proc/self/status | grep -vc 0000000000000000 || true", false, "0\n"},
    {"it can gain no privileges", "grep NoNewPrivs /proc/self/status", false, "NoNewPrivs:\t1\n"},
    {"its host has a constant name", "uname -n", false, "localhost\n"},
    {"it is not root", "test $(id -u) != 0", false, ""},
    {"it can be traced", "strace -f -e trace=openat -o /tmp/log sh -c 'cat /dev/null' && grep -c /dev/null /tmp/log", false, "1\n"},
    {"devices work", "echo a >/dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; echo b >/dev/shm/b; cat /dev/shm/b", false, "3\n3\nb\n"},
    {"with network it has that of the host", "test $(grep -c : /proc/net/dev) = N_DEVICES", true, ""},
};
/* clang-format on */

static char *fill_in(const char *command, const char *word, const char *by)
{
    struct buf out = {0};

    for (const char *at; (at = strstr(command, word)) != NULL; command = at + strlen(word)) {
        buf_add(&out, command, (size_t)(at - command));
        buf_adds(&out, by);
    }
    buf_adds(&out, command);
    return buf_take(&out);
}

static char *count_devices(void)
{
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};
    int n = 0;

    ck_assert_int_eq(file_read("/proc/net/dev", MIB, &text, &e), ERR_OK);
    for (const char *at = buf_str(&text); (at = strchr(at, ':')) != NULL; at++)
        n++;
    return mem_printf("%d", n);
}

START_TEST(a_job_finds_what_it_may)
{
    AUTO(mem_free) char *secret = path_join(folder, "secret");
    AUTO(mem_free) char *devices = count_devices();
    static const char hidden[] = "/etc/hostname"; /* everybody may read it, but for a job */
    struct err e = {0};

    ck_assert_int_eq(file_write(secret, "key", 3, 0644, &e), ERR_OK);
    sandbox_hide(sandbox, hidden);
    AUTO(mem_free) char *first = fill_in(finds[_i].command, "SECRET", secret);
    AUTO(mem_free) char *second = fill_in(first, "HIDDEN", hidden);
    AUTO(mem_free) char *command = fill_in(second, "N_DEVICES", devices);
    AUTO(mem_free) char *want = fill_in(finds[_i].out, "SECRET", secret);
    AUTO(ran_fini)
    struct ran r =
        run(command, 20 * SECOND, (struct sandbox_limits){.has_network = finds[_i].has_network});
    ck_assert_msg(r.code == ERR_OK, "%s: %s", finds[_i].name, r.e.text);
    ck_assert_msg(r.outcome.end == JOB_EXITED && r.outcome.code == 0, "%s: %s\n%s", finds[_i].name,
                  r.outcome.reason, buf_str(&r.log));
    ck_assert_msg(strcmp(buf_str(&r.out), want) == 0, "%s: %s", finds[_i].name, buf_str(&r.log));
}
END_TEST

/** Of the machine a project may have more shown; not what the worker hides there. */
START_TEST(a_job_sees_what_the_project_shows)
{
    char there[] = "/var/lib/dpkg", missing[] = "/no/such/folder";
    char *folders[] = {there, missing};
    struct sandbox_limits limits = {.read = {.n = LEN(folders), .items = folders}};

    sandbox_hide(sandbox, "/var/lib/dpkg/status");
    AUTO(ran_fini)
    struct ran r = run("ls -d /var/lib/*; test -d /var/lib/dpkg/info; touch /var/lib/dpkg/x || "
                       "cat /var/lib/dpkg/status || echo no",
                       20 * SECOND, limits);
    ck_assert_msg(r.code == ERR_OK, "%s", r.e.text);
    ck_assert_msg(strcmp(buf_str(&r.out), "/var/lib/dpkg\nno\n") == 0, "%s", buf_str(&r.log));
}
END_TEST

/** Putting up walls takes a multiple of what `true` does; none of it is the command's. */
START_TEST(walls_are_in_no_measurement)
{
    struct job_outcome best[2] = {{.wall_ns = INT64_MAX, .cpu_ns = INT64_MAX},
                                  {.wall_ns = INT64_MAX, .cpu_ns = INT64_MAX}};
    int64_t around_ns = INT64_MAX;

    for (int i = 0; i < 40; i++) {
        kind = i % 2 ? SANDBOX_BUBBLEWRAP : SANDBOX_PLAIN;
        int64_t begin_ns = mono_now().ns;
        AUTO(ran_fini) struct ran r = run("true", 0, (struct sandbox_limits){0});
        int64_t took_ns = mono_now().ns - begin_ns;
        struct job_outcome *b = &best[i % 2];
        ck_assert_msg(r.code == ERR_OK, "%s", r.e.text);
        if (i % 2 && took_ns < around_ns)
            around_ns = took_ns;
        b->wall_ns = r.outcome.wall_ns < b->wall_ns ? r.outcome.wall_ns : b->wall_ns;
        b->cpu_ns = r.outcome.cpu_ns < b->cpu_ns ? r.outcome.cpu_ns : b->cpu_ns;
    }
    ck_assert_msg(best[1].wall_ns < best[0].wall_ns + around_ns / 4, "%lld %lld of %lld",
                  (long long)best[0].wall_ns, (long long)best[1].wall_ns, (long long)around_ns);
    ck_assert_msg(best[1].cpu_ns < best[0].cpu_ns + 2 * NS_PER_MS, "%lld %lld",
                  (long long)best[0].cpu_ns, (long long)best[1].cpu_ns);
}
END_TEST

static void add_common(TCase *tc)
{
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, job_ends_as_claimed, 0, LEN(rows));
    tcase_add_loop_test(tc, nothing_survives, 0, 8);
    tcase_add_test(tc, a_hundred_megabytes_are_cut);
    tcase_add_test(tc, time_and_memory_are_measured);
    tcase_add_test(tc, tick_stops_a_job);
    tcase_add_test(tc, addresses_are_fixed_where_asked);
    tcase_add_test(tc, what_is_ours_is_an_error);
    tcase_add_test(tc, the_job_dies_with_its_worker);
}

int main(void)
{
    Suite *s = suite_create("sandbox");
    TCase *plain = tcase_create("plain");
    TCase *check = tcase_create("check");
    TCase *walls = tcase_create("walls");

    tcase_add_checked_fixture(plain, setup_plain, teardown);
    add_common(plain);
    tcase_add_test(plain, memory_has_a_limit_of_the_machines);
    tcase_add_test(plain, a_killed_supervisor_is_replaced);
    suite_add_tcase(s, plain);
    tcase_add_checked_fixture(check, setup_walls, teardown);
    tcase_add_test(check, a_check_says_whether_walls_stand);
    tcase_add_test(check, a_missing_bwrap_is_named);
    tcase_add_test(check, a_bwrap_that_fails_is_quoted);
    suite_add_tcase(s, check);
    tcase_add_checked_fixture(walls, setup_walls, teardown);
    add_common(walls);
    tcase_add_loop_test(walls, a_job_finds_what_it_may, 0, LEN(finds));
    tcase_add_test(walls, a_job_sees_what_the_project_shows);
    tcase_add_test(walls, walls_are_in_no_measurement);
    if (walls_can_stand()) /* else "check" says why not */
        suite_add_tcase(s, walls);
    else
        puts("no namespaces here: what walls keep out is not tested");
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
