/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/local.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/subprocess.h"
#include "base/text.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_FIRST_NS (200 * NS_PER_MS)
#define PAUSE_MOST_NS  (30 * NS_PER_S)
/* One that lived so long was not stillborn: the pause starts small again. */
#define LIVED_NS (30 * NS_PER_S)

struct own {
    char name[24];
    pid_t pid; /* 0: does not run */
    struct mono started, due;
    int64_t pause_ns;
};

struct local {
    char *program, *coordinator, *data_dir, *platform;
    bool is_stopping;
    uint32_t n;
    struct own *own;
};

struct local *local_new(const struct local_options *o)
{
    struct local *l = mem_alloc(sizeof(*l));

    l->program = mem_dup(o->program);
    l->coordinator = mem_printf("unix:%s", o->socket);
    l->data_dir = mem_dup(o->data_dir);
    l->platform = o->platform ? mem_dup(o->platform) : NULL;
    l->n = o->n_workers;
    l->own = mem_array(l->n ? l->n : 1, sizeof(*l->own));
    for (uint32_t i = 0; i < l->n; i++)
        snprintf(l->own[i].name, sizeof(l->own[i].name), "local-%u", (unsigned)i);
    return l;
}

void local_free(struct local *l)
{
    if (!l)
        return;
    local_stop(l, 0);
    mem_free(l->program);
    mem_free(l->coordinator);
    mem_free(l->data_dir);
    mem_free(l->platform);
    mem_free(l->own);
    mem_free(l);
}

uint32_t local_count(const struct local *l)
{
    return l->n;
}

const char *local_name(const struct local *l, uint32_t i)
{
    return l->own[i].name;
}

bool local_has(const struct local *l, const char *name)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->own[i].name, name) == 0)
            return true;
    return false;
}

static enum err_code start(const struct local *l, uint32_t i, pid_t *pid, struct err *e)
{
    AUTO(mem_free) char *work = mem_printf("%s/work/%u", l->data_dir, (unsigned)i);
    AUTO(mem_free) char *artifacts = path_join(l->data_dir, "artifacts");
    const char *argv[16] = {l->program,    "--coordinator", l->coordinator, "--work-dir",  work,
                            "--artifacts", artifacts,       "--name",       l->own[i].name};
    size_t n = 9;

    if (l->platform) {
        argv[n++] = "--platform";
        argv[n++] = l->platform;
    }
    if (file_mkdirs(work, 0700, e) || file_mkdirs(artifacts, 0700, e))
        return e->code;
    struct subprocess s = {
        .argv = argv,
        .in = -1,
        .out = -1,
        .err = STDERR_FILENO,
        .death_signal = SIGTERM,
        .new_session = true,
    };
    return subprocess_start(&s, pid, e);
}

static void pause_longer(struct own *w, struct mono now)
{
    if (!w->pause_ns || now.ns - w->started.ns > LIVED_NS)
        w->pause_ns = PAUSE_FIRST_NS;
    else
        w->pause_ns = w->pause_ns * 2 < PAUSE_MOST_NS ? w->pause_ns * 2 : PAUSE_MOST_NS;
    w->due.ns = now.ns + w->pause_ns;
}

void local_start_due(struct local *l, struct mono now)
{
    for (uint32_t i = 0; i < l->n && !l->is_stopping; i++) {
        struct own *w = &l->own[i];
        struct err e = {0};

        if (w->pid || w->due.ns > now.ns)
            continue;
        w->started = now;
        if (start(l, i, &w->pid, &e)) {
            AUTO(buf_fini) struct buf quoted = {0};
            text_quote(&quoted, e.text);
            w->pid = 0;
            pause_longer(w, now);
            LOG(LOG_ERROR, "worker not started", "worker=%s error=%s", w->name, buf_str(&quoted));
        } else {
            LOG(LOG_INFO, "worker started", "worker=%s pid=%d", w->name, (int)w->pid);
        }
    }
}

bool local_deadline(const struct local *l, struct mono *out)
{
    bool is_set = false;

    for (uint32_t i = 0; i < l->n && !l->is_stopping; i++) {
        if (l->own[i].pid || (is_set && out->ns <= l->own[i].due.ns))
            continue;
        *out = l->own[i].due;
        is_set = true;
    }
    return is_set;
}

static void log_end(const struct own *w, int status)
{
    if (WIFSIGNALED(status))
        LOG(LOG_WARN, "worker died", "worker=%s pid=%d signal=%d", w->name, (int)w->pid,
            WTERMSIG(status));
    else
        LOG(LOG_WARN, "worker exited", "worker=%s pid=%d status=%d", w->name, (int)w->pid,
            WEXITSTATUS(status));
}

int local_reap(struct local *l, struct mono now)
{
    for (uint32_t i = 0; i < l->n; i++) {
        struct own *w = &l->own[i];
        int status = 0;

        if (!w->pid || waitpid(w->pid, &status, WNOHANG) == 0)
            continue;
        if (!l->is_stopping)
            log_end(w, status);
        w->pid = 0;
        pause_longer(w, now);
        return (int)i;
    }
    return -1;
}

static bool any_runs(struct local *l)
{
    while (local_reap(l, mono_now()) >= 0)
        ;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->own[i].pid)
            return true;
    return false;
}

static void signal_all(const struct local *l, int signal)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->own[i].pid)
            (void)kill(l->own[i].pid, signal);
}

void local_stop(struct local *l, int64_t grace_ns)
{
    int64_t end_ns = mono_now().ns + grace_ns;
    const struct timespec nap = {.tv_nsec = 5 * NS_PER_MS};

    l->is_stopping = true;
    if (!any_runs(l))
        return;
    signal_all(l, SIGTERM);
    while (any_runs(l) && mono_now().ns < end_ns)
        (void)nanosleep(&nap, NULL);
    signal_all(l, SIGKILL);
    while (any_runs(l))
        (void)nanosleep(&nap, NULL);
}
