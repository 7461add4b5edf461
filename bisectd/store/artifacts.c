/* SPDX-License-Identifier: Apache-2.0 */
#include "store/artifacts.h"

#include "base/file.h"
#include "base/mem.h"
#include "store/db.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

bool artifact_name_is_valid(const char *sha256)
{
    return strlen(sha256) == 64 && strspn(sha256, "0123456789abcdef") == 64;
}

char *store_artifact_path(const struct store *s, const char *sha256)
{
    if (!artifact_name_is_valid(sha256))
        return NULL;
    return mem_printf("%s/artifacts/%.2s/%s.tar.zst", s->dir, sha256, sha256);
}

bool store_artifact_exists(const struct store *s, const char *sha256)
{
    AUTO(mem_free) char *path = store_artifact_path(s, sha256);
    return path && file_exists(path);
}

enum err_code store_artifact_note(struct store *s, const char *sha256, struct utc now,
                                  struct err *e)
{
    AUTO(mem_free) char *path = store_artifact_path(s, sha256);
    struct stat st;

    if (!path)
        return err_set(e, ERR_INVALID, "\"%.80s\" is not the SHA-256 of an artifact", sha256);
    if (stat(path, &st)) {
        int sys = errno;
        return sys == ENOENT ? not_found(e, "artifact", sha256) : err_sys(e, sys, "stat %s", path);
    }
    return db_run(s,
                  "INSERT INTO artifacts (sha256, bytes, used_ns) VALUES (?1, ?2, ?3)"
                  " ON CONFLICT DO UPDATE SET bytes = excluded.bytes,"
                  " used_ns = max(used_ns, excluded.used_ns)",
                  CELLS(cell_text(sha256), cell_int(st.st_size), cell_int(now.ns)), NULL, e);
}
