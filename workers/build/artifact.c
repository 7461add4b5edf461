/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/build/artifact.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "workers/build/listing.h"
#include "workers/sandbox/job_env.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEFTOVER_S  3600 /* an unfinished file of that age belongs to nobody any more */
#define UNPACK_MOST (INT64_C(64) * 1024 * MIB)

struct artifacts {
    char *folder;
    char *scratch;
    int64_t max_bytes;
};

enum err_code artifacts_new(const char *folder, const char *scratch, int64_t max_bytes,
                            struct artifacts **out, struct err *e)
{
    enum err_code code = file_mkdirs(folder, 0700, e);

    if (!code)
        code = file_mkdirs(scratch, 0700, e);
    if (code)
        return code;
    *out = mem_alloc(sizeof(**out));
    **out = (struct artifacts){
        .folder = mem_dup(folder), .scratch = mem_dup(scratch), .max_bytes = max_bytes};
    return ERR_OK;
}

void artifacts_free(struct artifacts *a)
{
    if (!a)
        return;
    mem_free(a->folder);
    mem_free(a->scratch);
    mem_free(a);
}

static bool is_hash(const char *s)
{
    return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

static char *path_of(const struct artifacts *a, const char *hash)
{
    return mem_printf("%s/%.2s/%s.tar.zst", a->folder, hash, hash);
}

bool artifacts_has(const struct artifacts *a, const char *hash)
{
    if (!is_hash(hash))
        return false;
    AUTO(mem_free) char *path = path_of(a, hash);
    return file_exists(path);
}

/* ---- tar ---- */

static enum err_code run_tar(const char *const *argv, struct err *e)
{
    AUTO(buf_fini) struct buf complaint = {0};
    int status = 0;
    enum err_code code = subprocess_run(argv, NULL, NULL, &complaint, MIB, 0, &status, e);

    if (code)
        return code;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return ERR_OK;
    AUTO(buf_fini) struct buf clean = {0};
    text_clean(&clean, buf_str(&complaint), complaint.len, 600);
    return err_set(e, ERR_IO, "tar: %s", clean.len ? buf_str(&clean) : "failed");
}

static enum err_code tar_create(const char *tree, const char *list, const char *tar, struct err *e)
{
    char mtime[40];

    snprintf(mtime, sizeof(mtime), "--mtime=@%d", JOB_SOURCE_DATE_EPOCH);
    const char *const argv[] = {"env",
                                "-u",
                                "TAR_OPTIONS",
                                "LC_ALL=C",
                                "tar",
                                "--create",
                                "--file",
                                tar,
                                "--directory",
                                tree,
                                "--format=gnu",
                                "--numeric-owner",
                                "--owner=0",
                                "--group=0",
                                mtime,
                                "--hard-dereference",
                                "--no-recursion",
                                "--null",
                                "--verbatim-files-from",
                                "--files-from",
                                list,
                                NULL};
    return run_tar(argv, e);
}

static enum err_code tar_extract(const char *tar, const char *folder, struct err *e)
{
    const char *const argv[] = {"env",
                                "-u",
                                "TAR_OPTIONS",
                                "LC_ALL=C",
                                "tar",
                                "--extract",
                                "--file",
                                tar,
                                "--directory",
                                folder,
                                "--no-same-owner",
                                "--same-permissions",
                                "--delay-directory-restore",
                                NULL};
    return run_tar(argv, e);
}

static enum err_code hash_file(const char *path, char hash[65], struct err *e)
{
    AUTO(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
    AUTO(hash_free) struct hash *h = hash_new();
    static _Thread_local char piece[256 * KIB];

    if (fd < 0)
        return err_sys(e, errno, "open %s", path);
    for (ssize_t n; (n = read(fd, piece, sizeof(piece))) != 0;) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, errno, "read %s", path);
        hash_add(h, piece, (size_t)n);
    }
    struct digest d = hash_end(TAKE(h));
    memcpy(hash, d.hex, sizeof(d.hex));
    return ERR_OK;
}

/* ---- the folder ---- */

struct entry {
    char *path;
    int64_t bytes;
    int64_t used_s;
};

struct entries {
    struct entry *items;
    size_t n, cap;
    int64_t bytes;
};

static void entries_fini(struct entries *s)
{
    for (size_t i = 0; i < s->n; i++)
        mem_free(s->items[i].path);
    mem_free(s->items);
}
DEFINE_AUTO_FINI(struct entries, entries_fini)

static void entries_read(struct entries *s, const char *folder)
{
    DIR *dir = opendir(folder);

    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        struct stat st;
        AUTO(mem_free) char *path = path_join(folder, d->d_name);
        if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (d->d_name[0] == '.') {
            if (utc_now().ns / NS_PER_S - st.st_mtime > LEFTOVER_S)
                unlink(path);
            continue;
        }
        if (s->n == s->cap) {
            s->cap = s->cap ? 2 * s->cap : 64;
            s->items = mem_resize(s->items, s->cap, sizeof(*s->items));
        }
        s->items[s->n++] = (struct entry){TAKE(path), st.st_blocks * INT64_C(512), st.st_mtime};
        s->bytes += st.st_blocks * INT64_C(512);
    }
    closedir(dir);
}

static int by_age(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->used_s > y->used_s) - (x->used_s < y->used_s);
}

/** Lets those go that were not used for longest. */
static void trim(const struct artifacts *a, const char *keep)
{
    AUTO(entries_fini) struct entries all = {0};

    if (a->max_bytes <= 0)
        return;
    for (int i = 0; i < 256; i++) {
        char folder[4096];
        snprintf(folder, sizeof(folder), "%s/%02x", a->folder, i);
        entries_read(&all, folder);
    }
    if (all.n)
        qsort(all.items, all.n, sizeof(*all.items), by_age);
    for (size_t i = 0; i < all.n && all.bytes > a->max_bytes; i++) {
        if (strstr(all.items[i].path, keep))
            continue;
        if (unlink(all.items[i].path) == 0)
            all.bytes -= all.items[i].bytes;
    }
}

/** Packs the tar at `tar` under its name, all or nothing. */
static enum err_code store_tar(struct artifacts *a, const char *hash, const char *tar,
                               struct err *e)
{
    char random[17];
    AUTO(mem_free) char *folder = mem_printf("%s/%.2s", a->folder, hash);
    AUTO(mem_free) char *path = path_of(a, hash);

    random_hex(random, 8);
    AUTO(mem_free) char *draft = mem_printf("%s/.%s", folder, random);
    enum err_code code = file_mkdirs(folder, 0700, e);
    if (code)
        return code;

    AUTO(fd_close) int from = open(tar, O_RDONLY | O_CLOEXEC);
    AUTO(fd_close) int to = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (from < 0 || to < 0)
        return err_sys(e, errno, "store artifact in %s", folder);
    code = zstd_pack_fd(from, to, e);
    if (!code && (fsync(to) != 0 || rename(draft, path) != 0))
        code = err_sys(e, errno, "store artifact in %s", folder);
    if (code)
        unlink(draft);
    else
        trim(a, hash);
    return code;
}

enum err_code artifacts_pack(struct artifacts *a, const char *tree, const struct strings *globs,
                             int64_t most_bytes, char hash[65], struct clip *log, struct err *e)
{
    AUTO(mem_free) char *list = path_join(a->scratch, "list");
    AUTO(mem_free) char *tar = path_join(a->scratch, "packing.tar");
    struct listing_sum sum = {0};
    char found[65];

    enum err_code code = listing_write(tree, globs, list, &sum, log, e);
    if (code)
        return code;
    if (most_bytes > 0 && sum.bytes > most_bytes)
        return err_set(e, ERR_LIMIT, "artifacts of %lld MiB are over the limit of %lld MiB",
                       (long long)(sum.bytes / MIB), (long long)(most_bytes / MIB));
    code = tar_create(tree, list, tar, e);
    if (!code)
        code = hash_file(tar, found, e);
    if (!code && !artifacts_has(a, found))
        code = store_tar(a, found, tar, e);
    unlink(tar);
    unlink(list);
    if (!code)
        memcpy(hash, found, sizeof(found));
    return code;
}

enum err_code artifacts_open(const struct artifacts *a, const char *hash, int *fd, struct err *e)
{
    AUTO(mem_free) char *path = path_of(a, hash);

    if (!is_hash(hash))
        return err_set(e, ERR_NOT_FOUND, "\"%.80s\" is not the name of an artifact", hash);
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0)
        return err_sys(e, errno, "open artifact %.12s", hash);
    *fd = opened;
    return ERR_OK;
}

/** Unpacks the open file to the tar `tar` and checks it. ERR_CONFLICT if it is not what it should
 * be. */
static enum err_code check_packed(int packed, const char *hash, const char *tar, struct err *e)
{
    AUTO(fd_close) int to = open(tar, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char found[65];

    if (to < 0)
        return err_sys(e, errno, "open %s", tar);
    enum err_code code = zstd_unpack_fd(packed, to, UNPACK_MOST, e);
    if (code == ERR_INVALID)
        return err_set(e, ERR_CONFLICT, "artifact %.12s is damaged", hash);
    if (!code)
        code = hash_file(tar, found, e);
    if (!code && strcmp(found, hash) != 0)
        return err_set(e, ERR_CONFLICT, "artifact %.12s is damaged: its content has hash %.12s",
                       hash, found);
    return code;
}

enum err_code artifacts_unpack(struct artifacts *a, const char *hash, const char *folder,
                               struct err *e)
{
    AUTO(mem_free) char *tar = path_join(a->scratch, "unpacking.tar");
    AUTO(fd_close) int packed = -1;

    enum err_code code = artifacts_open(a, hash, &packed, e);
    if (!code)
        code = check_packed(packed, hash, tar, e);
    if (code == ERR_CONFLICT) {
        AUTO(mem_free) char *path = path_of(a, hash);
        unlink(path);
    }
    if (!code)
        code = job_folder_empty(folder, e);
    if (!code)
        code = tar_extract(tar, folder, e);
    if (!code)
        futimens(packed, NULL); /* used now; only the order of going depends on it */
    unlink(tar);
    return code;
}

enum err_code artifacts_adopt(struct artifacts *a, const char *hash, int packed, struct err *e)
{
    AUTO(mem_free) char *tar = path_join(a->scratch, "adopting.tar");

    if (!is_hash(hash))
        return err_set(e, ERR_CONFLICT, "\"%.80s\" is not the name of an artifact", hash);
    enum err_code code = check_packed(packed, hash, tar, e);
    if (!code)
        code = store_tar(a, hash, tar, e);
    unlink(tar);
    return code;
}
