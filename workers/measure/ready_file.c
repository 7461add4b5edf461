/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/ready_file.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/** The folder of `path`, which is below `root` whatever links a job has put there; -1: none. */
static int open_folder(const char *root, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO(mem_free) char *folder = mem_dup_n(path, slash ? (size_t)(slash - path) : 0);
    AUTO(fd_close) int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH};

    return at < 0 ? -1 : (int)syscall(SYS_openat2, at, *folder ? folder : ".", &how, sizeof(how));
}

static enum err_code forget(const char *root, const char *path, struct err *e)
{
    AUTO(fd_close) int folder = open_folder(root, path);
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct stat s;

    if (folder < 0 || fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(s.st_mode))
        return ERR_OK;
    if (unlinkat(folder, name, 0) != 0)
        return err_sys(e, errno, "remove %s of an earlier run", path);
    return ERR_OK;
}

enum err_code ready_file_forget(const struct ready *r, const struct job_place *place, struct err *e)
{
    static const char source[] = "$BISECTD_SOURCE/", home[] = "$HOME/";

    if (r->kind != READY_FILE || *r->text == '/')
        return ERR_OK;
    if (strncmp(r->text, source, strlen(source)) == 0)
        return forget(place->source, r->text + strlen(source), e);
    if (strncmp(r->text, home, strlen(home)) == 0)
        return forget(place->home, r->text + strlen(home), e);
    return *r->text == '$' ? ERR_OK : forget(place->source, r->text, e);
}
