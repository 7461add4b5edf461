/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/tree.h"
#include "base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/** Reads a small file of /proc; returns its length, 0 if it is gone. */
static size_t slurp(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;

    if (fd < 0)
        return 0;
    while (n < size - 1) {
        ssize_t got = read(fd, out + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    close(fd);
    out[n] = '\0';
    return n;
}

/* An entry of getdents64; the C library's readdir would allocate. */
struct dirent64_raw {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[];
};

/** Calls `each` with every name that is a number. */
static void each_number_in(const char *folder, void (*each)(void *context, pid_t pid),
                           void *context)
{
    _Alignas(struct dirent64_raw) char entries[8192];
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    long n;

    if (fd < 0)
        return;
    while ((n = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < n;) {
            const struct dirent64_raw *d = (const void *)(entries + at);
            if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
                each(context, (pid_t)strtol(d->d_name, NULL, 10));
            at += d->d_reclen;
        }
    }
    close(fd);
}

struct listing {
    pid_t *out;
    size_t n, max;
    pid_t parent;
};

static void listing_add(struct listing *l, pid_t pid)
{
    if (pid > 0 && l->n < l->max)
        l->out[l->n++] = pid;
}

/** The children that thread `tid` of l->parent has. There may be thousands: read piece by piece. */
static void add_children_of_thread(void *context, pid_t tid)
{
    struct listing *l = context;
    char path[64], text[4096];
    pid_t pid = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)l->parent, (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (ssize_t n; (n = read(fd, text, sizeof(text))) > 0;) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            listing_add(l, pid);
            pid = 0;
        }
    }
    close(fd);
}

struct stat_line {
    char state;
    int parent;
    long n_threads;
};

/** Reads /proc/PID/stat; zeros if the process is gone. */
static struct stat_line stat_of(pid_t pid)
{
    struct stat_line s = {0};
    char path[64], text[1024];
    const char *after = NULL; /* the name in parentheses may hold anything */

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (slurp(path, text, sizeof(text)))
        after = strrchr(text, ')');
    if (!after ||
        sscanf(after + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
               &s.state, &s.parent, &s.n_threads) != 3)
        return (struct stat_line){0};
    return s;
}

static void add_if_child(void *context, pid_t pid)
{
    struct listing *l = context;

    if (stat_of(pid).parent == l->parent)
        listing_add(l, pid);
}

static bool has_children_files(void)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    return access(path, R_OK) == 0;
}

size_t tree_list(pid_t root, pid_t *out, size_t max)
{
    struct listing l = {.out = out, .max = max, .parent = root};
    bool is_fast = has_children_files();
    size_t next = 0;
    char path[64];

    for (;;) {
        if (is_fast) {
            snprintf(path, sizeof(path), "/proc/%d/task", (int)l.parent);
            each_number_in(path, add_children_of_thread, &l);
        } else {
            each_number_in("/proc", add_if_child, &l);
        }
        if (next == l.n)
            return l.n;
        l.parent = out[next++];
    }
}

struct user_count {
    uid_t uid;
    int64_t n_threads;
};

static void count_if_users(void *context, pid_t pid)
{
    struct user_count *c = context;
    char path[64];
    struct stat s;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    if (stat(path, &s) == 0 && s.st_uid == c->uid)
        c->n_threads += stat_of(pid).n_threads;
}

int64_t tree_user_threads(uid_t uid)
{
    struct user_count c = {.uid = uid};

    each_number_in("/proc", count_if_users, &c);
    return c.n_threads;
}

size_t tree_count(pid_t root)
{
    static _Thread_local pid_t pids[TREE_MAX];
    size_t n = 0, n_listed = tree_list(root, pids, TREE_MAX);

    for (size_t i = 0; i < n_listed; i++) {
        char state = stat_of(pids[i]).state;
        n += state != '\0' && state != 'Z' && state != 'X';
    }
    return n;
}

struct tree_usage tree_measure(pid_t root)
{
    static _Thread_local pid_t pids[TREE_MAX];
    struct tree_usage u = {.n_processes = tree_list(root, pids, TREE_MAX)};
    int64_t page = sysconf(_SC_PAGESIZE);
    char path[64], text[256];

    for (size_t i = 0; i < u.n_processes; i++) {
        long long resident = 0, shared = 0;
        snprintf(path, sizeof(path), "/proc/%d/statm", (int)pids[i]);
        if (slurp(path, text, sizeof(text)) &&
            sscanf(text, "%*s %lld %lld", &resident, &shared) == 2 && resident > shared)
            u.memory_bytes += (resident - shared) * page;
    }
    return u;
}

/** Stops all descendants, looking again until no new one appears. */
static size_t freeze(pid_t *pids)
{
    size_t n_before = 0, n = 0;

    for (int look = 0; look < 50; look++) {
        n = tree_list(getpid(), pids, TREE_MAX);
        for (size_t i = 0; i < n; i++)
            kill(pids[i], SIGSTOP);
        if (n == n_before)
            break;
        n_before = n;
    }
    return n;
}

size_t tree_kill_own(int64_t patience_ns,
                     void (*reaped)(void *context, pid_t pid, int status,
                                    const struct rusage *used),
                     void *context)
{
    static pid_t pids[TREE_MAX];
    int64_t until = mono_now().ns + patience_ns;

    for (;;) {
        size_t n = freeze(pids);
        for (size_t i = 0; i < n; i++)
            kill(pids[i], SIGKILL);

        struct rusage used;
        int status;
        pid_t pid;
        while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0)
            reaped(context, pid, status, &used);
        if (pid < 0 && errno == ECHILD)
            return 0;
        if (mono_now().ns > until)
            return n ? n : 1;
        nanosleep(&(struct timespec){.tv_nsec = 500 * 1000}, NULL);
    }
}
