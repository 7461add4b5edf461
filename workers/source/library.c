/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/source/library.h"
#include "base/buf.h"
#include "base/text.h"
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void start(void)
{
    /* Format extensions that change nothing for a reader. A partial clone opens, and whoever needs
     * a file it lacks says so. */
    static const char *const extensions[] = {"worktreeconfig", "partialclone", "preciousobjects"};
    int rc = git_libgit2_init();

    assert(rc > 0);
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, LEN(extensions));
    /* Nothing a repository's configuration could name is ever run by libgit2, and a service reads
     * repositories of other users. */
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    /* Trees larger than the default of 4 KiB are read again for each commit of a range. */
    git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_TREE, (size_t)256 * KIB);
    /* Commits are read once each, and a range may have a million. */
    git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_COMMIT, (size_t)0);
}

void library_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
}

static enum err_code code_of(int rc, int class)
{
    switch (rc) {
    case GIT_ENOTFOUND:
        return ERR_NOT_FOUND;
    case GIT_EAMBIGUOUS:
    case GIT_EINVALIDSPEC:
    case GIT_EPEEL:
        return ERR_INVALID;
    case GIT_EAUTH:
    case GIT_ECERTIFICATE:
        return ERR_PEER;
    default:
        break;
    }
    switch (class) {
    case GIT_ERROR_NOMEMORY:
        return ERR_NOMEM;
    case GIT_ERROR_NET:
    case GIT_ERROR_SSL:
    case GIT_ERROR_SSH:
    case GIT_ERROR_HTTP:
        return ERR_PEER;
    default:
        return ERR_IO;
    }
}

enum err_code err_git(struct err *e, int rc, const char *format, ...)
{
    const git_error *last = git_error_last();
    enum err_code code = code_of(rc, last ? last->klass : GIT_ERROR_NONE);
    AUTO(buf_fini) struct buf said = {0};
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (last && last->message)
        text_clean(&said, last->message, strlen(last->message), 400);
    err_set(e, code, "%s: %s", what, said.len ? buf_str(&said) : "libgit2 gives no reason");
    if (e)
        e->sys = rc;
    return code;
}

void revision_from_oid(const git_oid *oid, struct revision *out)
{
    git_oid_tostr(out->hex, sizeof(out->hex), oid);
}

void revision_to_oid(const struct revision *r, git_oid *out)
{
    int rc = git_oid_fromstr(out, r->hex);

    assert(rc == 0);
}

enum err_code library_open(const char *path, git_repository **out, struct err *e)
{
    library_start();
    int rc = git_repository_open_ext(out, path, 0, NULL);

    if (rc == GIT_ENOTFOUND) {
        err_set(e, ERR_INVALID, "%s: not a git repository", path);
        return err_hint(e, "name a folder that holds .git, a bare repository, or a URL");
    }
    if (rc < 0) {
        err_git(e, rc, "%s: cannot read the repository", path);
        if (e)
            e->code = ERR_INVALID;
        return err_hint(e, "git -C %s status tells whether git itself can read it", path);
    }
    return ERR_OK;
}
