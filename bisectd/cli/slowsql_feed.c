/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/slowsql_feed.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 256 * KIB, MAGIC_BYTES = 4 };

enum source_kind { SOURCE_NEW, SOURCE_PLAIN, SOURCE_STREAM };

struct source {
    const char *path;
    atomic_bool is_over;  /* nothing is left to give out */
    pthread_mutex_t lock; /* of the rest */
    enum source_kind kind;
    int fd;
    uint64_t start, next, end; /* SOURCE_PLAIN: from `next` on it is not given out yet */
    struct stream *stream;     /* SOURCE_STREAM */
    struct buf rest;           /* begins a line that the next chunk ends */
    uint64_t offset;           /* where `rest` begins */
    bool is_skipping;          /* a line that is too long goes on */
    bool has_ended;
};

struct feed {
    enum feed_order order;
    pthread_mutex_t lock;
    struct source *sources;
    size_t n, next; /* next: the first source that nobody has taken up */
    atomic_uint_fast64_t number;
};

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

enum err_code feed_new(const char *const *paths, size_t n, enum feed_order order, struct feed **out,
                       struct err *e)
{
    static const char *const only_stdin[] = {"-"};
    AUTO(feed_free) struct feed *f = mem_alloc(sizeof(*f));

    f->order = order;
    f->n = n ? n : 1;
    f->sources = mem_array(f->n, sizeof(*f->sources));
    pthread_mutex_init(&f->lock, NULL);
    for (size_t i = 0; i < f->n; i++) {
        f->sources[i].path = (n ? paths : only_stdin)[i];
        f->sources[i].fd = -1;
        pthread_mutex_init(&f->sources[i].lock, NULL);
    }
    for (size_t i = 0; i < f->n; i++) {
        const char *path = f->sources[i].path;
        if (!is_stdin(path) && access(path, R_OK) != 0)
            return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%.300s: %s", path,
                           strerror(errno));
    }
    *out = TAKE(f);
    return ERR_OK;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++) {
        struct source *s = &f->sources[i];
        stream_free(s->stream);
        buf_fini(&s->rest);
        if (!is_stdin(s->path))
            fd_close(s->fd);
        pthread_mutex_destroy(&s->lock);
    }
    pthread_mutex_destroy(&f->lock);
    mem_free(f->sources);
    mem_free(f);
}

const char *feed_name(const struct feed *f, size_t source)
{
    const char *path = f->sources[source].path;

    return is_stdin(path) ? "stdin" : path;
}

/* Opening */

static bool is_packed(int fd, uint64_t at)
{
    unsigned char magic[MAGIC_BYTES] = {0};

    if (pread(fd, magic, sizeof(magic), (off_t)at) < 2)
        return false;
    bool is_gzip = magic[0] == 0x1F && magic[1] == 0x8B;
    bool is_zstd = magic[1] == 0xB5 && magic[2] == 0x2F && magic[3] == 0xFD;
    bool is_skippable = magic[1] == 0x2A && magic[2] == 0x4D && magic[3] == 0x18;
    return is_gzip || is_zstd || is_skippable;
}

static enum err_code source_open(struct source *s, struct err *e)
{
    struct stat st;

    s->fd = is_stdin(s->path) ? STDIN_FILENO : open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        return err_sys(e, errno, "open");
    if (S_ISDIR(st.st_mode)) {
        err_set(e, ERR_INVALID, "is a folder");
        return err_hint(e, "Name the files in it.");
    }
    off_t at = lseek(s->fd, 0, SEEK_CUR);
    if (S_ISREG(st.st_mode) && at >= 0 && !is_packed(s->fd, (uint64_t)at)) {
        s->kind = SOURCE_PLAIN;
        s->start = s->next = (uint64_t)at;
        s->end = (uint64_t)st.st_size;
        posix_fadvise(s->fd, at, 0, POSIX_FADV_SEQUENTIAL);
        return ERR_OK;
    }
    s->kind = SOURCE_STREAM;
    s->stream = stream_new(s->fd);
    return ERR_OK;
}

/* Plain files */

/** Appends what is at `at`, at most `n` bytes; fewer only at the end of the file. */
static enum err_code append_at(const struct source *s, uint64_t at, size_t n, struct buf *out,
                               struct err *e)
{
    char *to = buf_room(out, n);

    for (size_t done = 0; done < n;) {
        ssize_t got = pread(s->fd, to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_sys(e, errno, "read");
        if (got == 0)
            break;
        done += (size_t)got;
        out->len += (size_t)got;
    }
    return ERR_OK;
}

/** Reads on to the end of the line that the chunk breaks off in; drops it where it is too long. */
static enum err_code complete_line(const struct source *s, uint64_t at, struct chunk *c,
                                   struct err *e)
{
    const char *last = memrchr(c->bytes.data, '\n', c->bytes.len);
    size_t line_at = last ? (size_t)(last - c->bytes.data) + 1 : 0;

    while (at < s->end && c->bytes.len - line_at <= FEED_LINE_MOST) {
        size_t had = c->bytes.len;
        size_t n = s->end - at < READ_BYTES ? (size_t)(s->end - at) : READ_BYTES;
        enum err_code rc = append_at(s, at, n, &c->bytes, e);
        if (rc)
            return rc;
        const char *newline = memchr(c->bytes.data + had, '\n', c->bytes.len - had);
        if (newline) {
            c->bytes.len = (size_t)(newline - c->bytes.data) + 1;
            break;
        }
        if (c->bytes.len == had)
            break; /* the file became shorter */
        at += c->bytes.len - had;
    }
    if (c->bytes.len - line_at > FEED_LINE_MOST) {
        c->bytes.len = line_at;
        c->n_too_long++;
    }
    return ERR_OK;
}

/** The lines that begin in from..to-1. */
static enum err_code read_plain(const struct source *s, uint64_t from, uint64_t to, struct chunk *c,
                                struct err *e)
{
    bool is_first = from == s->start;
    uint64_t at = is_first ? from : from - 1; /* is the byte before it the end of a line? */

    enum err_code rc = append_at(s, at, (size_t)(to - at), &c->bytes, e);
    if (rc)
        return rc;
    if (!is_first) {
        const char *newline = c->bytes.len ? memchr(c->bytes.data, '\n', c->bytes.len) : NULL;
        size_t drop = newline ? (size_t)(newline - c->bytes.data) + 1 : c->bytes.len;
        buf_drop(&c->bytes, drop);
        at += drop;
    }
    c->offset = at;
    if (c->bytes.len > 0 && c->bytes.data[c->bytes.len - 1] != '\n')
        return complete_line(s, to, c, e);
    return ERR_OK;
}

/* Streams */

/** Appends some bytes; nothing more comes at the end. Of a line that is too long all is dropped. */
static enum err_code append_some(struct source *s, struct chunk *c, struct err *e)
{
    size_t got = 0;
    char *to = buf_room(&c->bytes, READ_BYTES);

    enum err_code rc = stream_read(s->stream, to, READ_BYTES, &got, e);
    if (rc)
        return rc;
    c->bytes.len += got;
    if (got == 0)
        s->has_ended = true;
    if (!s->is_skipping)
        return ERR_OK;
    const char *newline = got ? memchr(to, '\n', got) : NULL;
    size_t drop = newline ? (size_t)(newline - to) + 1 : got;
    s->is_skipping = !newline;
    s->offset += drop;
    c->offset = s->offset;
    buf_drop(&c->bytes, drop); /* nothing was there before */
    return ERR_OK;
}

static enum err_code read_stream(struct source *s, struct chunk *c, struct err *e)
{
    const char *last = NULL;

    buf_add(&c->bytes, buf_str(&s->rest), s->rest.len);
    buf_clear(&s->rest);
    c->offset = s->offset;
    while (!s->has_ended && (c->bytes.len < FEED_CHUNK || !last)) {
        enum err_code rc = append_some(s, c, e);
        if (rc)
            return rc;
        last = c->bytes.len ? memrchr(c->bytes.data, '\n', c->bytes.len) : NULL;
        if (!last && c->bytes.len > FEED_LINE_MOST) {
            s->offset += c->bytes.len;
            c->offset = s->offset;
            buf_clear(&c->bytes);
            s->is_skipping = true;
            c->n_too_long++;
        }
    }
    if (!s->has_ended) {
        size_t whole = (size_t)(last - c->bytes.data) + 1;
        buf_add(&s->rest, c->bytes.data + whole, c->bytes.len - whole);
        c->bytes.len = whole;
    }
    s->offset += c->bytes.len;
    return ERR_OK;
}

/* Chunks */

/** Whose turn it is; the number of sources if none has anything left. */
static size_t choose(struct feed *f, size_t last)
{
    size_t i = 0;

    if (f->order == FEED_ANY_ORDER && last < f->n && !f->sources[last].is_over)
        return last;
    pthread_mutex_lock(&f->lock);
    if (f->order == FEED_ANY_ORDER && f->next < f->n)
        i = f->next++;
    else
        while (i < f->n && f->sources[i].is_over)
            i++;
    pthread_mutex_unlock(&f->lock);
    return i;
}

/** Under the source's lock. *has: there is a chunk; *to > 0: its lines are those that begin in
 *  c->offset..*to-1, and are to be read. */
static enum err_code take(struct feed *f, struct source *s, struct chunk *c, bool *has,
                          uint64_t *to, struct err *e)
{
    enum err_code rc = s->kind == SOURCE_NEW ? source_open(s, e) : ERR_OK;

    if (!rc && s->kind == SOURCE_STREAM) {
        rc = read_stream(s, c, e);
        *has = c->bytes.len > 0 || c->n_too_long > 0;
    } else if (!rc && s->next < s->end) {
        *has = true;
        c->offset = s->next;
        s->next = *to = s->end - s->next < FEED_CHUNK ? s->end : s->next + FEED_CHUNK;
    }
    if (*has)
        c->number = f->number++;
    /* Only now may another thread go on to the next source, whose chunks have later numbers. */
    if (!rc)
        s->is_over = s->kind == SOURCE_STREAM ? s->has_ended : s->next >= s->end;
    return rc;
}

/** What only the first chunk of a file has. */
static enum err_code look_at_start(const struct source *s, struct chunk *c, struct err *e)
{
    static const char mark[] = "\xEF\xBB\xBF", xz[] = "\xFD"
                                                      "7zXZ";
    const size_t n_mark = sizeof(mark) - 1, n_xz = sizeof(xz) - 1;

    if (c->offset != s->start)
        return ERR_OK;
    if (c->bytes.len >= n_xz && memcmp(c->bytes.data, xz, n_xz) == 0) {
        err_set(e, ERR_INVALID, "is packed with xz, which is not read");
        return err_hint(e, "Unpack it: xz -dc FILE | bisectctl slowsql …");
    }
    if (c->bytes.len >= n_mark && memcmp(c->bytes.data, mark, n_mark) == 0) {
        buf_drop(&c->bytes, n_mark);
        c->offset += n_mark;
    }
    return ERR_OK;
}

enum err_code feed_next(struct feed *f, struct chunk *c, bool *has, struct err *e)
{
    size_t last = c->bytes.cap ? c->source : f->n;

    *has = false;
    for (size_t i; !*has && (i = choose(f, last)) < f->n;) {
        struct source *s = &f->sources[i];
        enum err_code rc = ERR_OK;
        uint64_t to = 0;

        buf_clear(&c->bytes);
        c->n_too_long = 0;
        c->source = last = i;
        pthread_mutex_lock(&s->lock);
        if (!s->is_over)
            rc = take(f, s, c, has, &to, e);
        pthread_mutex_unlock(&s->lock);
        if (!rc && to)
            rc = read_plain(s, c->offset, to, c, e);
        if (!rc && *has)
            rc = look_at_start(s, c, e);
        if (rc) {
            err_wrap(e, "%.300s", feed_name(f, i));
            return rc;
        }
    }
    return ERR_OK;
}
