/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/lookup.h"
#include "base/mem.h"
#include "commits/names.h"
#include "workers/source/library.h"
#include <git2.h>

struct lookup {
    git_repository *git;
};

enum err_code lookup_open(const char *path, struct lookup **out, struct err *e)
{
    AUTO(git_repository_free) git_repository *git = NULL;

    library_start();
    if (library_open(path, &git, e))
        return e ? e->code : ERR_NOT_FOUND;
    *out = mem_alloc(sizeof(**out));
    (*out)->git = TAKE(git);
    return ERR_OK;
}

void lookup_free(struct lookup *l)
{
    if (!l)
        return;
    git_repository_free(l->git);
    mem_free(l);
}

enum err_code lookup_commit(struct lookup *l, const char *name, struct revision *out,
                            struct utc *at, struct err *e)
{
    AUTO(git_commit_free) git_commit *commit = NULL;
    git_oid oid;

    enum err_code code = names_lookup(l->git, name, &oid, e);
    if (code)
        return code;
    int rc = git_commit_lookup(&commit, l->git, &oid);
    if (rc < 0)
        return err_git(e, rc, "read commit %.80s", name);
    git_oid_tostr(out->hex, sizeof(out->hex), &oid);
    if (at)
        at->ns = git_commit_time(commit) * NS_PER_S;
    return ERR_OK;
}
