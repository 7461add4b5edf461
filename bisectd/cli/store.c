/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/store.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum err_code refuse_name(struct err *e)
{
    return err_hint(e, "Name a folder for builds, samples and state with --store DIR, or leave "
                       "it out: then it is bisectd/ in the repository's .git.");
}

enum err_code store_check_name(const char *store, struct err *e)
{
    struct stat named, root;

    if (!store[0]) {
        err_set(e, ERR_INVALID, "the name of the store is empty");
        return refuse_name(e);
    }
    bool is_root = stat("/", &root) == 0 && stat(store, &named) == 0 &&
                   named.st_dev == root.st_dev && named.st_ino == root.st_ino;
    if (is_root) {
        err_set(e, ERR_INVALID, "the root folder is no place for a store");
        return refuse_name(e);
    }
    return ERR_OK;
}

enum err_code store_make(const char *store, struct err *e)
{
    if (store_check_name(store, e))
        return e->code;
    if (file_mkdirs(store, 0700, e)) {
        err_wrap(e, "store");
        return err_hint(e, "Name a folder you may write to with --store DIR.");
    }
    return ERR_OK;
}

bool store_is_there(const char *store)
{
    AUTO(mem_free) char *database = path_join(store, "bisectd.db");
    struct stat st;

    return stat(database, &st) == 0 || errno == EACCES;
}

static const char *owner_of(const struct stat *st)
{
    const struct passwd *p = getpwuid(st->st_uid);

    return p ? p->pw_name : "unknown";
}

enum err_code store_check(const char *store, struct err *e)
{
    AUTO(mem_free) char *database = path_join(store, "bisectd.db");
    bool is_ours = access(store, R_OK | W_OK | X_OK) == 0 &&
                   (access(database, R_OK | W_OK) == 0 || errno == ENOENT);
    struct stat st;

    if (is_ours)
        return ERR_OK;
    if (errno != EACCES && errno != EROFS)
        return err_sys(e, errno, "store %s", store);
    if (stat(store, &st) == 0 && st.st_uid != geteuid()) {
        err_set(e, ERR_DENIED, "the store %s belongs to user %s", store, owner_of(&st));
        return err_hint(e,
                        "Even reading needs write access to it, since a bisectd is started on it: "
                        "run this as %s.",
                        owner_of(&st));
    }
    err_set(e, ERR_DENIED, "the store %s may not be written", store);
    return err_hint(e, "Even reading needs write access to it, since a bisectd is started on it.");
}
