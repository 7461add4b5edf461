/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/agent/workshop.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define OWN_ARTIFACTS_BYTES (INT64_C(10) * 1024 * MIB)
enum { FULL_BYTES = 16 * MIB, FULL_INODES = 64 };

static enum err_code lock_folder(struct workshop *w, struct err *e)
{
    AUTO(mem_free) char *path = path_join(w->folder, "lock");

    w->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (w->lock < 0)
        return err_sys(e, errno, "open %s", path);
    if (flock(w->lock, LOCK_EX | LOCK_NB) == 0)
        return ERR_OK;
    if (errno != EWOULDBLOCK)
        return err_sys(e, errno, "lock %s", path);
    err_set(e, ERR_CONFLICT, "another worker uses the folder %s", w->folder);
    return err_hint(e, "give each worker its own --work-dir");
}

static void name_folders(struct workshop *w)
{
    w->source = path_join(w->folder, "source");
    w->parked = path_join(w->folder, "parked");
    w->ready = path_join(w->folder, "ready");
    w->home = path_join(w->folder, "home");
    w->tmp = path_join(w->folder, "tmp");
    w->out = path_join(w->folder, "out");
    w->scratch = path_join(w->folder, "scratch");
    w->cache = path_join(w->folder, "cache");
}

static enum err_code clean(struct workshop *w, struct err *e)
{
    AUTO(mem_free) char *state = mem_printf("%s.state", w->source);
    AUTO(mem_free) char *kind = mem_printf("%s.kind", w->out); /* see workers/measure/schedule.h */
    const char *const old[] = {w->source, state,  w->parked, w->ready,  w->home,
                               w->tmp,    w->out, kind,      w->scratch};
    enum err_code code = ERR_OK;

    for (size_t i = 0; !code && i < LEN(old); i++)
        code = file_remove_tree(old[i], e);
    if (!code)
        code = file_mkdirs(w->cache, 0700, e);
    return code;
}

/** GIT_CEILING_DIRECTORIES is a list with colons between: it cannot name a folder with one. A .git
 *  that leads nowhere ends git's search too. */
static enum err_code wall_git(const struct workshop *w, struct err *e)
{
    static const char nowhere[] = "gitdir: nowhere\n";
    AUTO(mem_free) char *path = path_join(w->folder, ".git");

    return file_write(path, nowhere, strlen(nowhere), 0600, e);
}

enum err_code workshop_new(const struct workshop_options *o, struct workshop **out, struct err *e)
{
    AUTO(workshop_free) struct workshop *w = mem_alloc(sizeof(*w));

    w->lock = -1;
    enum err_code code = file_mkdirs(o->folder, 0700, e);
    if (code)
        return code;
    w->folder = path_real(o->folder, e);
    if (!w->folder)
        return e ? e->code : ERR_IO;
    name_folders(w);
    w->sandbox = o->sandbox;
    w->name = mem_dup(o->name);
    w->host = mem_dup(o->host);
    w->platform = mem_dup(o->platform);
    w->is_shared = o->artifacts != NULL;
    code = lock_folder(w, e);
    if (!code)
        code = clean(w, e);
    if (!code && strchr(w->folder, ':'))
        code = wall_git(w, e);
    AUTO(mem_free) char *own = path_join(w->folder, "artifacts");
    if (!code)
        code = artifacts_new(w->is_shared ? o->artifacts : own, w->scratch,
                             w->is_shared ? 0 : OWN_ARTIFACTS_BYTES, &w->artifacts, e);
    if (code)
        return code;
    *out = TAKE(w);
    return ERR_OK;
}

void workshop_free(struct workshop *w)
{
    if (!w)
        return;
    artifacts_free(w->artifacts);
    fd_close(w->lock);
    char *strings[] = {w->folder, w->source,  w->parked, w->ready, w->home, w->tmp,
                       w->out,    w->scratch, w->cache,  w->name,  w->host, w->platform};
    for (size_t i = 0; i < LEN(strings); i++)
        mem_free(strings[i]);
    mem_free(w);
}

struct job_place workshop_place(const struct workshop *w)
{
    return (struct job_place){.source = w->source, .home = w->home, .tmp = w->tmp};
}

/** A folder that is not there has nowhere to go; what is in the way of it goes. */
static enum err_code move(const char *from, const char *to, struct err *e)
{
    if (!file_exists(from))
        return ERR_OK;
    enum err_code code = file_remove_tree(to, e);
    if (!code && rename(from, to) != 0)
        code = err_sys(e, errno, "move %s to %s", from, to);
    return code;
}

enum err_code workshop_park(const struct workshop *w, struct err *e)
{
    return move(w->source, w->parked, e);
}

enum err_code workshop_unpark(const struct workshop *w, struct err *e)
{
    return move(w->parked, w->source, e);
}

bool workshop_is_full(const struct workshop *w)
{
    struct statvfs s;

    if (statvfs(w->folder, &s) != 0)
        return false;
    /* Some file systems have no fixed number of inodes and say 0 of 0. */
    return (uint64_t)s.f_bavail * s.f_frsize < FULL_BYTES ||
           (s.f_files > 0 && s.f_favail < FULL_INODES);
}
