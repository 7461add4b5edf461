/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 * KIB, DEEPEST = 32 };

void fd_close(int fd)
{
    int keep = errno;

    if (fd >= 0)
        close(fd);
    errno = keep;
}

/* Whole files */

enum err_code file_read(const char *path, size_t max_bytes, struct buf *out, struct err *e)
{
    AUTO(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    AUTO(buf_fini) struct buf got = {0};

    if (fd < 0)
        return err_sys(e, errno, "open %s", path);
    for (;;) {
        /* One byte past the limit tells "exactly full" from "too large". */
        size_t left = max_bytes - got.len;
        size_t step = left < READ_STEP ? left + 1 : READ_STEP;
        ssize_t n = read(fd, buf_room(&got, step), step);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, errno, "read %s", path);
        if (n == 0)
            break;
        got.len += (size_t)n;
        if (got.len > max_bytes)
            return err_set(e, ERR_LIMIT, "%s is larger than %zu bytes", path, max_bytes);
    }
    buf_add(out, buf_str(&got), got.len);
    return ERR_OK;
}

static enum err_code write_all(int fd, const char *bytes, size_t n, const char *path, struct err *e)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_sys(e, errno, "write %s", path);
        bytes += done;
        n -= (size_t)done;
    }
    return ERR_OK;
}

static enum err_code write_synced(const char *path, const void *bytes, size_t n, mode_t mode,
                                  struct err *e)
{
    AUTO(fd_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(e, errno, "create %s", path);
    if (write_all(fd, bytes, n, path, e))
        return e ? e->code : ERR_IO;
    if (fchmod(fd, mode) < 0 || fsync(fd) < 0)
        return err_sys(e, errno, "write %s", path);
    return ERR_OK;
}

/** Makes a rename in the folder of `path` outlive a power cut. */
static enum err_code sync_folder(const char *path, struct err *e)
{
    AUTO(mem_free) char *copy = mem_dup(path);
    const char *folder = dirname(copy);
    AUTO(fd_close) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0)
        return err_sys(e, errno, "sync %s", folder);
    return ERR_OK;
}

enum err_code file_write(const char *path, const void *bytes, size_t n, mode_t mode, struct err *e)
{
    char unique[17];

    random_hex(unique, 8);
    AUTO(mem_free) char *beside = mem_printf("%s.%s.new", path, unique);
    enum err_code rc = write_synced(beside, bytes, n, mode, e);
    if (!rc && rename(beside, path) < 0)
        rc = err_sys(e, errno, "rename to %s", path);
    if (rc) {
        unlink(beside);
        return rc;
    }
    return sync_folder(path, e);
}

/* Folders */

enum err_code file_mkdirs(const char *path, mode_t mode, struct err *e)
{
    AUTO(mem_free) char *part = mem_dup(path);

    for (char *s = part + (*part == '/');; s++) {
        char end = *s;
        if (end != '/' && end != '\0')
            continue;
        *s = '\0';
        if (*part && mkdir(part, mode) < 0 && errno != EEXIST)
            return err_sys(e, errno, "create folder %s", part);
        *s = end;
        if (end == '\0')
            break;
    }

    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(e, errno, "create folder %s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, ERR_CONFLICT, "create folder %s: something else has this name", path);
    return ERR_OK;
}

/** A tree being removed. Folders too deep down are moved up to `top`, so depth costs nothing. */
struct removal {
    int top;
    uint64_t n_moved;
};

static int open_folder(int at, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    struct stat st;

    /* Our rights first: entries of a folder without them can be neither listed nor removed. */
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (S_ISDIR(st.st_mode) && (st.st_mode & S_IRWXU) != S_IRWXU)
        fchmodat(at, name, S_IRWXU, 0);
    return openat(at, name, flags);
}

static int remove_entry(struct removal *r, int at, const char *name, int depth);

static int remove_children(struct removal *r, int at, int depth)
{
    int copy = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    int rc = dir ? 0 : -1;

    if (!dir)
        fd_close(copy);
    for (struct dirent *d; dir && rc == 0 && (errno = 0, d = readdir(dir)) != NULL;)
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            rc = remove_entry(r, at, d->d_name, depth);
    if (rc == 0 && errno != 0)
        rc = -1;
    if (dir) {
        int keep = errno;
        closedir(dir);
        errno = keep;
    }
    return rc;
}

static int remove_entry(struct removal *r, int at, const char *name, int depth)
{
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    if (unlinkat(at, name, AT_REMOVEDIR) == 0)
        return 0;

    AUTO(fd_close) int fd = open_folder(at, name);
    if (fd < 0)
        return -1;
    if (depth >= DEEPEST) {
        char moved[40];
        snprintf(moved, sizeof(moved), ".moved-up-%llu", (unsigned long long)r->n_moved++);
        return renameat2(at, name, r->top, moved, RENAME_NOREPLACE) < 0 && errno != EEXIST ? -1 : 0;
    }
    if (remove_children(r, fd, depth + 1) < 0)
        return -1;
    return unlinkat(at, name, AT_REMOVEDIR);
}

static bool is_empty(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    size_t n = 0;

    if (!dir) {
        fd_close(copy);
        return true;
    }
    while (readdir(dir))
        n++;
    closedir(dir);
    return n <= 2;
}

enum err_code file_remove_tree(const char *path, struct err *e)
{
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return ERR_OK;
    if (errno != EISDIR && errno != EPERM)
        return err_sys(e, errno, "remove %s", path);

    AUTO(fd_close) int top = open_folder(AT_FDCWD, path);
    if (top < 0)
        return errno == ENOENT ? ERR_OK : err_sys(e, errno, "remove %s", path);
    struct removal r = {.top = top};
    do {
        if (remove_children(&r, top, 0) < 0)
            return err_sys(e, errno, "remove below %s", path);
    } while (!is_empty(top));
    if (rmdir(path) < 0 && errno != ENOENT)
        return err_sys(e, errno, "remove %s", path);
    return ERR_OK;
}

bool file_exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

/* Names */

char *path_join(const char *a, const char *b)
{
    size_t n = strlen(a);

    while (*b == '/')
        b++;
    return mem_printf("%s%s%s", a, n == 0 || a[n - 1] == '/' ? "" : "/", b);
}

char *path_real(const char *path, struct err *e)
{
    char *real = realpath(path, NULL);

    if (!real)
        err_sys(e, errno, "%s", path);
    return real;
}

char *path_of_program(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (n <= 0)
        return mem_dup(".");
    path[n] = '\0';
    return mem_dup(dirname(path));
}
