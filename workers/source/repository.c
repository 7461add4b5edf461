/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/repository.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "workers/source/origin.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/** Names what the repository stands for; one line. */
static const char marker[] = "bisectd-origin";

void repository_free(struct repository *r)
{
    if (!r)
        return;
    git_repository_free(r->git);
    git_repository_free(r->origin);
    mem_free(r->path);
    mem_free(r->from);
    mem_free(r->shown);
    mem_free(r);
}

bool repository_has(const struct repository *r, const git_oid *oid)
{
    AUTO(git_odb_free) git_odb *odb = NULL;

    return git_repository_odb(&odb, r->git) == 0 && git_odb_exists(odb, oid);
}

enum err_code repository_lock(const char *path, int *fd, struct err *e)
{
    AUTO(mem_free) char *name = mem_printf("%s.lock", path);
    AUTO(fd_close) int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int rc;

    if (lock < 0)
        return err_sys(e, errno, "open %s", name);
    do
        rc = flock(lock, LOCK_EX);
    while (rc < 0 && errno == EINTR);
    if (rc < 0)
        return err_sys(e, errno, "lock %s", name);
    *fd = lock;
    lock = -1;
    return ERR_OK;
}

/* Making one */

static bool stands_for(const char *path, const char *from)
{
    AUTO(mem_free) char *file = path_join(path, marker);
    AUTO(buf_fini) struct buf held = {0};

    return !file_read(file, 64 * KIB, &held, NULL) && !strcmp(buf_str(&held), from);
}

static enum err_code write_config(git_repository *repo, struct err *e)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        {"core.autocrlf", "false"},
        {"core.eol", "lf"},
        {"core.attributesfile", "/dev/null"},
        {"gc.auto", "0"},
    };
    AUTO(git_config_free) git_config *config = NULL;
    int rc = git_repository_config(&config, repo);

    for (size_t i = 0; rc >= 0 && i < LEN(rows); i++)
        rc = git_config_set_string(config, rows[i].key, rows[i].value);
    return rc < 0 ? err_git(e, rc, "configure %s", git_repository_path(repo)) : ERR_OK;
}

static enum err_code fill(const char *path, const struct repository *r, struct err *e)
{
    AUTO(git_repository_free) git_repository *repo = NULL;
    AUTO(mem_free) char *mark = path_join(path, marker);
    int rc = git_repository_init(&repo, path, 1);

    if (rc < 0)
        return err_git(e, rc, "create %s", path);
    if (write_config(repo, e))
        return ERR_IO;
    if (r->origin) {
        AUTO(mem_free) char *info = path_join(path, "objects/info/alternates");
        AUTO(mem_free) char *line = mem_printf("%s/objects\n", r->from);
        enum err_code wrote = file_write(info, line, strlen(line), 0644, e);
        if (wrote)
            return wrote;
    }
    return file_write(mark, r->from, strlen(r->from), 0644, e);
}

/** Pre: the lock is held, nothing stands at r->path. */
static enum err_code create(const struct repository *r, struct err *e)
{
    AUTO(mem_free) char *fresh = mem_printf("%s.new", r->path);

    if (file_remove_tree(fresh, e))
        return ERR_IO;
    enum err_code rc = fill(fresh, r, e);
    if (!rc && rename(fresh, r->path) < 0)
        rc = err_sys(e, errno, "rename to %s", r->path);
    return rc;
}

/* Where from */

static enum err_code open_origin(struct repository *r, const char *from, struct err *e)
{
    enum err_code rc;

    r->shown = origin_shown(from);
    if (!origin_is_local(from)) {
        r->from = mem_dup(from);
        return ERR_OK;
    }
    rc = library_open(from, &r->origin, e);
    if (rc)
        return rc;
    r->from = path_real(git_repository_commondir(r->origin), e);
    if (!r->from)
        return e ? e->code : ERR_NOT_FOUND;
    if (strchr(r->from, '\n'))
        return err_set(e, ERR_INVALID, "%s: a line break in the path of a repository", from);
    return ERR_OK;
}

static char *pick_path(const char *folder, const char *stem, const char *from)
{
    struct digest hash = hash_of(from, strlen(from));
    AUTO(mem_free) char *plain = stem ? mem_printf("%s/%s.git", folder, stem) : NULL;

    if (!stem)
        return mem_printf("%s/%.16s.git", folder, hash.hex);
    if (!file_exists(plain) || stands_for(plain, from))
        return TAKE(plain);
    return mem_printf("%s/%s-%.8s.git", folder, stem, hash.hex);
}

enum err_code repository_open(const char *folder, const char *stem, const char *from,
                              struct repository **out, struct err *e)
{
    AUTO(repository_free) struct repository *r = mem_alloc(sizeof(*r));
    AUTO(fd_close) int folder_lock = -1;
    AUTO(mem_free) char *any = path_join(folder, "new");
    enum err_code rc;

    library_start();
    if ((rc = open_origin(r, from, e)))
        return rc;
    if (file_mkdirs(folder, 0700, e)) {
        if (e)
            e->code = ERR_IO; /* whatever is wrong with it, it is ours */
        return ERR_IO;
    }
    if ((rc = repository_lock(any, &folder_lock, e)))
        return rc;
    r->path = pick_path(folder, stem, r->from);
    if (!file_exists(r->path) && (rc = create(r, e)))
        return rc;

    int git = git_repository_open_bare(&r->git, r->path);
    if (git < 0)
        return err_git(e, git, "open %s", r->path);
    *out = TAKE(r);
    return ERR_OK;
}

/* Fetching */

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

static int clear_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    const char *name = path + at->base;

    (void)st;
    if (kind == FTW_F && (ends_with(name, ".lock") || !strncmp(name, "pack_git2_", 10)))
        unlink(path);
    return 0;
}

enum err_code repository_fetch(struct repository *r, const struct revision *only,
                               const struct fetch_watch *watch, struct err *e)
{
    AUTO(fd_close) int lock = -1;
    enum err_code rc;

    if (r->origin)
        return ERR_OK;
    if ((rc = repository_lock(r->path, &lock, e)))
        return rc;
    /* We alone write here, so every lock file and temporary pack is a dead fetch's. */
    nftw(r->path, clear_one, 16, FTW_PHYS);
    return fetch_into(r->path, r->from, only, watch, e);
}
