/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lock.h"

#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static enum err_code refuse(int fd, const char *data_dir, struct err *e)
{
    char pid[24] = "";
    ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
    pid[n > 0 ? n : 0] = '\0';
    pid[strcspn(pid, "\n")] = '\0';
    err_set(e, ERR_CONFLICT, "data folder %s is in use by process %s", data_dir,
            *pid ? pid : "(unknown)");
    return err_hint(e, "stop that process, or name another data_dir");
}

/** Whatever the reason, the folder cannot be used. */
static enum err_code unusable(struct err *e, int sys, const char *verb, const char *path,
                              const char *hint)
{
    err_sys(e, sys, "%s %s", verb, path);
    if (e)
        e->code = ERR_IO;
    err_hint(e, "%s, or name another data_dir", hint);
    return ERR_IO;
}

enum err_code lock_take(const char *data_dir, int *out, struct err *e)
{
    AUTO(mem_free) char *path = path_join(data_dir, "lock");
    AUTO(fd_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return unusable(e, errno, "open", path, "make the data folder writable for this user");
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno == EWOULDBLOCK)
            return refuse(fd, data_dir, e);
        return unusable(e, errno, "lock", path, "put the data folder on a local disk");
    }

    char pid[24];
    int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)n, 0) != n)
        return unusable(e, errno, "write", path, "free some space on that disk");
    *out = fd;
    fd = -1;
    return ERR_OK;
}
