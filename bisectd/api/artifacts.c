/* SPDX-License-Identifier: Apache-2.0 */
/* /artifacts: packed build results, streamed to and from the disk. */
#include "store/artifacts.h"
#include "api/route.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stream.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A tar that unpacks to more than this is refused; a bomb of zeros packs very small. */
#define MAX_PLAIN_BYTES ((size_t)64 * 1024 * MIB)
enum { READ_BYTES = 256 * KIB };

/** An upload being checked: unpacked, hashed, synced and moved to its place. */
struct check {
    struct work work;
    int fd;
    char *from, *to;
    char sha256[65];
};

static void check_release(struct work *w)
{
    struct check *c = (struct check *)w;

    fd_close(c->fd);
    mem_free(c->from);
    mem_free(c->to);
    json_free(w->answer);
    mem_free(c);
}

static enum err_code hash_file(int fd, struct digest *out, struct err *e)
{
    AUTO(mem_free) char *bytes = mem_array(1, READ_BYTES);
    AUTO(hash_free) struct hash *h = hash_new();
    ssize_t n;
    off_t at = 0;

    while ((n = pread(fd, bytes, READ_BYTES, at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, errno, "read the unpacked upload");
        hash_add(h, bytes, (size_t)n);
        at += n;
    }
    *out = hash_end(TAKE(h));
    return ERR_OK;
}

/* Unpacks into a file that has no name, so that nothing is left whatever happens. */
static enum err_code hash_plain(const struct check *c, struct digest *out, struct err *e)
{
    AUTO(mem_free) char *folder = mem_dup_n(c->from, (size_t)(strrchr(c->from, '/') - c->from));
    AUTO(fd_close) int plain = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (plain < 0)
        return err_sys(e, errno, "create a file in %s", folder);
    if (lseek(c->fd, 0, SEEK_SET) < 0)
        return err_sys(e, errno, "rewind the upload");
    if (zstd_unpack_fd(c->fd, plain, MAX_PLAIN_BYTES, e))
        return err_wrap(e, "artifact");
    return hash_file(plain, out, e);
}

static enum err_code check_and_place(struct check *c, struct err *e)
{
    struct digest plain;
    AUTO(mem_free) char *folder = mem_dup_n(c->to, (size_t)(strrchr(c->to, '/') - c->to));

    if (hash_plain(c, &plain, e))
        return e->code;
    if (strcmp(plain.hex, c->sha256) != 0)
        return err_set(e, ERR_INVALID, "the plain archive's SHA-256 is %s, not %s", plain.hex,
                       c->sha256);
    if (file_mkdirs(folder, 0700, e))
        return e->code;
    if (fsync(c->fd) || rename(c->from, c->to))
        return err_sys(e, errno, "store artifact %s", c->sha256);
    return ERR_OK;
}

static void check_run(struct work *w)
{
    (void)check_and_place((struct check *)w, &w->error);
}

static struct work *check_new(struct exchange *x, const char *to)
{
    struct check *c = mem_alloc(sizeof(*c));

    c->work.run = check_run;
    c->work.release = check_release;
    c->work.waiter = x;
    c->fd = x->upload.fd;
    c->from = mem_dup(x->upload.path);
    c->to = mem_dup(to);
    snprintf(c->sha256, sizeof(c->sha256), "%s", x->args[0]);
    x->upload.fd = -1;
    return &c->work;
}

static char *path_of(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    char *path = store_artifact_path(s->store, x->args[0]);

    if (!path) {
        err_set(&e, ERR_INVALID, "an artifact is named by 64 hexadecimal digits");
        answer_error(x, &e);
    }
    return path;
}

void artifact_put(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    AUTO(mem_free) char *path = path_of(x, s);

    if (!path)
        return;
    if (!x->work && store_artifact_exists(s->store, x->args[0])) {
        answer_empty(x, 204);
        return;
    }
    if (!x->work) {
        x->work = check_new(x, path);
        s->work_start(s->self, x->work);
    }
    if (x->work->is_done && !x->work->error.code &&
        store_artifact_note(s->store, x->args[0], utc_now(), &e)) {
        answer_error(x, &e);
        return;
    }
    exchange_await(x);
}

void artifact_get(struct exchange *x, const struct service *s)
{
    struct err e = {0};
    struct stat st;
    AUTO(mem_free) char *path = path_of(x, s);

    if (!path)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        fd_close(fd);
        if (errno == ENOENT)
            err_set(&e, ERR_NOT_FOUND, "no artifact %s here", x->args[0]);
        else
            err_sys(&e, errno, "open %s", path);
        answer_error(x, &e);
        return;
    }
    answer_file(x, fd, st.st_size, "application/zstd");
}
