/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/checkup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOPS = 40, SYNCS = 60, BLOCK_BYTES = 4 * KIB, WORDS_BYTES = 110, SAID_BYTES = 64 * KIB };
#define LOOK_NS (330 * NS_PER_MS)
#define LOOP_NS (20 * NS_PER_MS)
#define TOOL_NS (20 * NS_PER_S)

/* ---- spread ---- */

struct spread spread_of(double *v, size_t n)
{
    double sum = 0, squares = 0;

    numbers_sort(v, n);
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    const double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - mean) * (v[i] - mean);
    return (struct spread){
        .n = n,
        .median = numbers_median(v, n),
        .low = v[0],
        .high = v[n - 1],
        .p95 = v[(size_t)ceil(.95 * (double)n) - 1],
        .sd_percent = n > 1 && mean > 0 ? 100 * sqrt(squares / (double)(n - 1)) / mean : 0,
    };
}

/* ---- processor ---- */

static void rest(int64_t ns)
{
    nanosleep(&(struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S}, NULL);
}

double checkup_busy(void)
{
    struct cpu_times before, after;

    if (!machine_cpu_times("", &before))
        return nan("");
    rest(LOOK_NS);
    return machine_cpu_times("", &after) ? machine_busy(&before, &after) : nan("");
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/** Work that neither memory nor the compiler can shorten. */
static uint64_t turn(uint64_t n)
{
    uint64_t x = 88172645463325252;

    for (uint64_t i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/** So many turns that they take LOOP_NS of processor time. */
static uint64_t turns(volatile uint64_t *sink)
{
    for (uint64_t n = 1 << 16;; n *= 2) {
        int64_t begin = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        *sink = turn(n);
        int64_t took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
        if (took > LOOP_NS / 4)
            return (uint64_t)((double)n * (double)LOOP_NS / (double)took);
    }
}

void checkup_loop(struct spread *wall, struct spread *cpu)
{
    double walls[LOOPS], cpus[LOOPS];
    volatile uint64_t sink = 0;
    const uint64_t n = turns(&sink);

    for (int i = 0; i < LOOPS; i++) {
        int64_t wall_ns = clock_ns(CLOCK_MONOTONIC), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        sink = turn(n);
        cpus[i] = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / NS_PER_MS;
        walls[i] = (double)(clock_ns(CLOCK_MONOTONIC) - wall_ns) / NS_PER_MS;
    }
    *wall = spread_of(walls, LOOPS);
    *cpu = spread_of(cpus, LOOPS);
}

/* ---- disk ---- */

enum err_code checkup_disk(const char *folder, struct spread *out, struct err *e)
{
    AUTO(mem_free) char *path = mem_printf("%s/.bisectctl-doctor-XXXXXX", folder);
    static const char block[BLOCK_BYTES];
    double ms[SYNCS];

    AUTO(fd_close) int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, errno, "make a file in %s", folder);
    unlink(path);
    for (int i = 0; i < SYNCS; i++) {
        int64_t begin = clock_ns(CLOCK_MONOTONIC);
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block) || fdatasync(fd) != 0)
            return err_sys(e, errno, "write and sync in %s", folder);
        ms[i] = (double)(clock_ns(CLOCK_MONOTONIC) - begin) / NS_PER_MS;
    }
    *out = spread_of(ms, SYNCS);
    return ERR_OK;
}

/* ---- programs ---- */

struct trial {
    struct tool tool;
    const char *argv[12];
    /** Makes words of what it printed; returns whether it is of use. NULL: its first line will do.
     */
    bool (*judge)(const char *out, const char *err, char says[160]);
};

static void first_line(const char *text, char says[160])
{
    AUTO(buf_fini) struct buf clean = {0};

    text += strspn(text, " \t\r\n");
    text_clean(&clean, text, strcspn(text, "\n"), WORDS_BYTES);
    snprintf(says, 160, "%s", buf_str(&clean));
}

/** One "VALUE,UNIT,EVENT,…" line for each of the two events. */
static bool judge_perf(const char *out, const char *err, char says[160])
{
    const char *instructions = strstr(err, ",instructions"), *faults = strstr(err, ",page-faults");
    bool has_instructions = instructions && !strstr(err, "<not supported>,,instructions") &&
                            !strstr(err, "<not counted>,,instructions");

    (void)out;
    snprintf(says, 160, "software events %s; instructions: %s", faults ? "work" : "do not work",
             has_instructions ? "counted by the machine" : "this machine has no counter");
    return faults != NULL;
}

static bool judge_quiet(const char *out, const char *err, char says[160])
{
    (void)out;
    (void)err;
    snprintf(says, 160, "works");
    return true;
}

/* clang-format off */
static const struct trial trials[TOOLS] = {
    {{"git",      "repositories",                     "git",        false, ""}, {"git", "--version"}, NULL},
    {{"cc",       "building C",                       "gcc",        false, ""}, {"cc", "--version"}, NULL},
    {{"c++",      "building C++",                     "g++",        false, ""}, {"c++", "--version"}, NULL},
    {{"make",     "building",                         "make",       false, ""}, {"make", "--version"}, NULL},
    {{"bwrap",    "sandbox: bubblewrap",              "bubblewrap", false, ""},
     {"bwrap", "--unshare-user", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "true"}, judge_quiet},
    {{"strace",   "kind syscalls, explain",           "strace",     false, ""},
     {"strace", "-f", "-o", "/dev/null", "-e", "trace=fsync", "true"}, judge_quiet},
    {{"perf",     "kind counter",                     "linux-perf", false, ""},
     {"perf", "stat", "-x,", "-e", "instructions:u,page-faults", "--", "true"}, judge_perf},
    {{"valgrind", "kind counter where perf cannot",   "valgrind",   false, ""}, {"valgrind", "--version"}, NULL},
};
/* clang-format on */

static void try_it(const struct trial *t, struct tool *out)
{
    AUTO(buf_fini) struct buf said = {0};
    AUTO(buf_fini) struct buf complained = {0};
    struct err e = {0};
    int status = 0;

    *out = t->tool;
    if (subprocess_run(t->argv, NULL, &said, &complained, SAID_BYTES, TOOL_NS, &status, &e)) {
        snprintf(out->says, sizeof(out->says), "%.70s (package %s)",
                 e.sys == ENOENT ? "not installed" : e.text, t->tool.package);
        return;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        first_line(complained.len ? buf_str(&complained) : buf_str(&said), out->says);
        if (!out->says[0])
            snprintf(out->says, sizeof(out->says), "failed without a word");
        return;
    }
    out->works = true;
    if (t->judge)
        out->works = t->judge(buf_str(&said), buf_str(&complained), out->says);
    else
        first_line(buf_str(&said), out->says);
}

void checkup_tools(struct tool tools[TOOLS])
{
    for (size_t i = 0; i < TOOLS; i++)
        try_it(&trials[i], &tools[i]);
}
