/* SPDX-License-Identifier: Apache-2.0 */
/** Files: whole reads with a limit, writes that are all or nothing, folders. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void fd_close(int fd); /* keeps errno; < 0 is fine */
static inline void fd_close_auto(int *fd)
{
    fd_close(*fd);
}

/** ERR_NOT_FOUND, ERR_LIMIT (larger than `max_bytes`) or ERR_IO. Appends to `out`. */
MUST_CHECK enum err_code file_read(const char *path, size_t max_bytes, struct buf *out, struct err *e);
/** Writes beside `path`, syncs, renames: a reader sees the old or the new. */
MUST_CHECK enum err_code file_write(const char *path, const void *bytes, size_t n, mode_t mode, struct err *e);
MUST_CHECK enum err_code file_mkdirs(const char *path, mode_t mode, struct err *e);
/** Removes a tree, whatever its permissions; nothing there is fine. Never follows links. */
MUST_CHECK enum err_code file_remove_tree(const char *path, struct err *e);
bool file_exists(const char *path);
/** "a/b" as a new string; caller frees with mem_free. */
char *path_join(const char *a, const char *b);
/** Symlinks and dots resolved; NULL with ERR_NOT_FOUND. Caller frees with mem_free. */
char *path_real(const char *path, struct err *e);
/** Folder of the running program; caller frees. */
char *path_of_program(void);

#endif
