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

enum err_code lock_take(const char *data_dir, int *out, struct err *e)
{
    AUTO(mem_free) char *path = path_join(data_dir, "lock");
    AUTO(fd_close) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0) {
        err_sys(e, errno, "open %s", path);
        return err_hint(e, "make %s writable for this user, or name another data_dir", data_dir);
    }
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        if (errno == EWOULDBLOCK)
            return refuse(fd, data_dir, e);
        return err_sys(e, errno, "lock %s", path);
    }

    char pid[24];
    int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) || pwrite(fd, pid, (size_t)n, 0) != n) {
        err_sys(e, errno, "write %s", path);
        return err_hint(e, "free some space on that disk, or name another data_dir");
    }
    *out = fd;
    fd = -1;
    return ERR_OK;
}
