/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/measure/cold.h"
#include "base/file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WINDOW_BYTES = 64 * MIB }; /* of a file, looked at in one go */

/** How much of the file is in memory. */
static int64_t resident(int fd, int64_t size)
{
    static _Thread_local unsigned char pages[WINDOW_BYTES / 4096];
    const int64_t page = sysconf(_SC_PAGESIZE);
    int64_t total = 0;

    for (int64_t at = 0; at < size; at += WINDOW_BYTES) {
        size_t n = (size_t)(size - at < WINDOW_BYTES ? size - at : WINDOW_BYTES);
        void *map = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, at);
        if (map == MAP_FAILED)
            return total;
        size_t n_pages = mincore(map, n, pages) == 0 ? (n + (size_t)page - 1) / (size_t)page : 0;
        for (size_t i = 0; i < n_pages; i++)
            total += pages[i] & 1 ? page : 0;
        munmap(map, n);
    }
    return total < size ? total : size;
}

/** Only a clean page can be dropped, hence the sync. Without leave to read it, it stays as it is.
 */
static void drop_file(const FTSENT *at, struct cold *c)
{
    AUTO(fd_close) int fd = open(at->fts_accpath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const int64_t size = at->fts_statp->st_size;

    c->n_files++;
    c->bytes += size;
    if (fd >= 0 && resident(fd, size) > 0) {
        fdatasync(fd);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
    c->kept_bytes += fd >= 0 ? resident(fd, size) : size;
}

enum err_code cold_drop(const char *folder, struct cold *c, struct err *e)
{
    char *const paths[] = {(char *)folder, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    FTSENT *at;

    if (!walk)
        return err_sys(e, errno, "look into %s", folder);
    while ((at = fts_read(walk)) != NULL)
        if (at->fts_info == FTS_F && S_ISREG(at->fts_statp->st_mode))
            drop_file(at, c);
    fts_close(walk);
    return ERR_OK;
}
