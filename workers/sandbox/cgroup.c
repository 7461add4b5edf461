/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/cgroup.h"
#include "base/file.h"
#include "base/mem.h"
#include "workers/sandbox/cgroup_place.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "bisect-job-"
enum { FILE_BYTES = 4096, REMOVE_TRIES = 50 };

enum what { MEMORY, THREADS, N_WHAT };

/* clang-format off */
/** What the files of a controller are called; a NULL is not there. */
static const struct names {
    const char *controller, *limit, *no_swap, *whole, *events, *key;
} names[2][N_WHAT] = {
    [0] = { /* version 1 */
        {"memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", NULL, "memory.oom_control", "oom_kill"},
        {"pids",   "pids.max",              NULL,                          NULL, "pids.events",        "max"},
    },
    [1] = { /* version 2 */
        {"memory", "memory.max", "memory.swap.max", "memory.oom.group", "memory.events", "oom_kill"},
        {"pids",   "pids.max",   NULL,              NULL,               "pids.events",   "max"},
    },
};
/* clang-format on */

/** Version 2 has one folder for both: the second is then NULL, and the first counts for it. */
struct cgroups {
    bool is_v2;
    char *folder[N_WHAT];
    uint32_t n_made;
};

struct cgroup {
    bool is_v2;
    char *folder[N_WHAT];
    int procs[N_WHAT];
    bool is_limited[N_WHAT];
};

/* ---- small files ---- */

static bool put(const char *folder, const char *name, const char *text)
{
    AUTO(mem_free) char *path = path_join(folder, name);
    AUTO(fd_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

static bool put_number(const char *folder, const char *name, int64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, number);
    return put(folder, name, text);
}

/** The number behind a word at the beginning of a line; 0 if there is none. */
static int64_t number_in(const char *folder, const char *name, const char *key)
{
    AUTO(mem_free) char *path = path_join(folder, name);
    AUTO(buf_fini) struct buf text = {0};
    size_t n_key = strlen(key);

    if (file_read(path, FILE_BYTES, &text, NULL))
        return 0;
    for (const char *at = buf_str(&text); at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, n_key) == 0 && at[n_key] == ' ')
            return strtoll(at + n_key, NULL, 10);
    }
    return 0;
}

static int open_procs(const char *folder)
{
    AUTO(mem_free) char *path = path_join(folder, "cgroup.procs");

    return open(path, O_WRONLY | O_CLOEXEC);
}

/** A group that still has dying processes cannot go yet. */
static void remove_group(const char *folder)
{
    for (int i = 0; i < REMOVE_TRIES && rmdir(folder) != 0 && errno == EBUSY; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- where groups can be made ---- */

/** Whether a process can be put into groups below the folder. */
static bool can_enter(const char *folder)
{
    AUTO(mem_free) char *group = mem_printf("%s/" PREFIX "%d-try", folder, (int)getpid());
    int status = -1;

    if (mkdir(group, 0755) != 0)
        return false;
    AUTO(fd_close) int procs = open_procs(group);
    pid_t pid = procs < 0 ? -1 : fork();
    if (pid == 0)
        _exit(write(procs, "0", 1) != 1);
    bool has_entered = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    remove_group(group);
    return has_entered;
}

/** Groups of workers that are no more. */
static void sweep(const char *folder)
{
    DIR *d = opendir(folder);

    for (struct dirent *at; d && (at = readdir(d)) != NULL;) {
        if (strncmp(at->d_name, PREFIX, strlen(PREFIX)) != 0)
            continue;
        pid_t pid = (pid_t)strtol(at->d_name + strlen(PREFIX), NULL, 10);
        AUTO(mem_free) char *path = path_join(folder, at->d_name);
        if (pid > 0 && kill(pid, 0) != 0 && errno == ESRCH)
            rmdir(path);
    }
    if (d)
        closedir(d);
}

/** Version 2: children get controllers only if their parent hands them on. */
static bool hands_on(const char *folder)
{
    AUTO(mem_free) char *path = path_join(folder, "cgroup.subtree_control");
    AUTO(buf_fini) struct buf text = {0};

    put(folder, "cgroup.subtree_control", "+memory +pids");
    return file_read(path, FILE_BYTES, &text, NULL) == ERR_OK &&
           cgroup_has_word(buf_str(&text), names[1][MEMORY].controller) &&
           cgroup_has_word(buf_str(&text), names[1][THREADS].controller);
}

/** The folder if groups can be made in it, else NULL. */
static char *usable(char *folder, bool is_v2)
{
    if (folder && (!is_v2 || hands_on(folder)) && can_enter(folder)) {
        sweep(folder);
        return folder;
    }
    mem_free(folder);
    return NULL;
}

static char *parent_of(const char *folder)
{
    const char *slash = folder ? strrchr(folder, '/') : NULL;

    return slash && slash > folder ? mem_dup_n(folder, (size_t)(slash - folder)) : NULL;
}

struct cgroups *cgroups_new(void)
{
    struct cgroups *g = mem_alloc(sizeof(*g));
    AUTO(buf_fini) struct buf mounts = {0};
    AUTO(buf_fini) struct buf own = {0};

    if (file_read("/proc/self/mountinfo", MIB, &mounts, NULL) ||
        file_read("/proc/self/cgroup", MIB, &own, NULL))
        return g;
    AUTO(mem_free) char *v2 = cgroup_place(buf_str(&mounts), buf_str(&own), NULL);
    g->folder[MEMORY] = usable(v2 ? mem_dup(v2) : NULL, true);
    if (!g->folder[MEMORY]) /* it has processes in it, and so no groups with controllers */
        g->folder[MEMORY] = usable(parent_of(v2), true);
    g->is_v2 = g->folder[MEMORY] != NULL;
    for (int i = 0; !g->is_v2 && i < N_WHAT; i++)
        g->folder[i] =
            usable(cgroup_place(buf_str(&mounts), buf_str(&own), names[0][i].controller), false);
    return g;
}

void cgroups_free(struct cgroups *g)
{
    if (!g)
        return;
    for (int i = 0; i < N_WHAT; i++)
        mem_free(g->folder[i]);
    mem_free(g);
}

const char *cgroups_keep(const struct cgroups *g)
{
    if (g->folder[MEMORY])
        return g->is_v2 || g->folder[THREADS] ? "memory and processes" : "memory";
    return g->folder[THREADS] ? "processes" : "";
}

/* ---- one group ---- */

/** The folder that has this controller's files. */
static const char *folder_for(const struct cgroup *c, enum what what)
{
    return c->folder[c->is_v2 ? MEMORY : what];
}

static bool set_limit(const struct cgroup *c, enum what what, int64_t limit)
{
    const struct names *n = &names[c->is_v2][what];
    const char *folder = folder_for(c, what);

    if (!folder || limit <= 0 || !put_number(folder, n->limit, limit))
        return false;
    if (n->no_swap) /* there may be no swap to limit */
        (void)put_number(folder, n->no_swap, c->is_v2 ? 0 : limit);
    if (n->whole)
        (void)put(folder, n->whole, "1");
    return true;
}

struct cgroup *cgroup_new(struct cgroups *g, const struct cgroup_limits *l)
{
    const int64_t limits[N_WHAT] = {l->memory_bytes, l->n_threads};
    AUTO(cgroup_free) struct cgroup *c = mem_alloc(sizeof(*c));
    bool is_any = false;

    c->is_v2 = g->is_v2;
    c->procs[MEMORY] = c->procs[THREADS] = -1;
    g->n_made++;
    for (int i = 0; i < N_WHAT; i++) {
        if (!g->folder[i] || (limits[i] <= 0 && !g->is_v2))
            continue;
        char *folder =
            mem_printf("%s/" PREFIX "%d-%u", g->folder[i], (int)getpid(), (unsigned)g->n_made);
        if (mkdir(folder, 0755) != 0) {
            mem_free(folder);
            continue;
        }
        c->folder[i] = folder;
        c->procs[i] = open_procs(folder);
    }
    for (int i = 0; i < N_WHAT; i++)
        is_any |= c->is_limited[i] = set_limit(c, (enum what)i, limits[i]);
    return is_any ? TAKE(c) : NULL;
}

void cgroup_free(struct cgroup *c)
{
    if (!c)
        return;
    for (int i = 0; i < N_WHAT; i++) {
        fd_close(c->procs[i]);
        if (c->folder[i])
            remove_group(c->folder[i]);
        mem_free(c->folder[i]);
    }
    mem_free(c);
}

void cgroup_files(const struct cgroup *c, int fds[CGROUP_FILES])
{
    for (int i = 0; i < CGROUP_FILES; i++)
        fds[i] = c ? c->procs[i] : -1;
}

struct cgroup_events cgroup_look(const struct cgroup *c)
{
    bool has_lacked[N_WHAT] = {false, false};

    for (int i = 0; c && i < N_WHAT; i++)
        has_lacked[i] =
            c->is_limited[i] && number_in(folder_for(c, (enum what)i), names[c->is_v2][i].events,
                                          names[c->is_v2][i].key) > 0;
    return (struct cgroup_events){has_lacked[MEMORY], has_lacked[THREADS]};
}
