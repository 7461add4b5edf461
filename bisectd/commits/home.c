/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/home.h"
#include "base/mem.h"
#include "commits/names.h"
#include "workers/source/library.h"
#include "workers/source/origin.h"
#include <git2.h>
#include <string.h>

bool home_is_local(const char *repository)
{
    return origin_is_local(repository);
}

enum err_code home_of(const char *path, char **out, struct err *e)
{
    AUTO(git_repository_free) git_repository *git = NULL;

    library_start();
    if (library_open(path, &git, e))
        return e ? e->code : ERR_NOT_FOUND;
    const char *dir = git_repository_commondir(git);
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/')
        n--;
    *out = mem_dup_n(dir, n);
    return ERR_OK;
}

enum err_code home_resolve(const char *path, const char *name, struct revision *out, struct err *e)
{
    AUTO(git_repository_free) git_repository *git = NULL;
    git_oid oid;

    library_start();
    if (library_open(path, &git, e))
        return e ? e->code : ERR_NOT_FOUND;
    enum err_code code = names_lookup(git, name, &oid, e);
    if (code == ERR_NOT_FOUND)
        return names_explain(git, path, name, e);
    if (!code)
        git_oid_tostr(out->hex, sizeof(out->hex), &oid);
    return code;
}
