/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { STEP = 128 * KIB, MAGIC_BYTES = 4 };

static void cctx_free(ZSTD_CCtx *c)
{
    ZSTD_freeCCtx(c);
}
DEFINE_AUTO(ZSTD_CCtx, cctx_free)

static void dctx_free(ZSTD_DCtx *d)
{
    ZSTD_freeDCtx(d);
}
DEFINE_AUTO(ZSTD_DCtx, dctx_free)

static ZSTD_CCtx *cctx_new(void)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();

    assert(c != NULL);
    ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
    return c;
}

static ZSTD_DCtx *dctx_new(void)
{
    ZSTD_DCtx *d = ZSTD_createDCtx();

    assert(d != NULL);
    return d;
}

void zstd_pack(const void *bytes, size_t n, struct buf *out)
{
    AUTO(cctx_free) ZSTD_CCtx *c = cctx_new();
    size_t bound = ZSTD_compressBound(n);
    char *to = buf_room(out, bound);

    size_t packed = ZSTD_compress2(c, to, bound, bytes, n);
    assert(!ZSTD_isError(packed));
    out->len += packed;
}

/** Where plain bytes go while unpacking: a buffer or a descriptor, with a limit. */
struct sink {
    struct buf *buf; /* NULL: fd */
    int fd;
    size_t left;
};

static enum err_code write_all(int fd, const char *bytes, size_t n, struct err *e)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return err_sys(e, errno, "write");
        bytes += done;
        n -= (size_t)done;
    }
    return ERR_OK;
}

static enum err_code sink_add(struct sink *s, const char *bytes, size_t n, struct err *e)
{
    if (n > s->left)
        return err_set(e, ERR_LIMIT, "unpacked data passes its limit");
    s->left -= n;
    if (!s->buf)
        return write_all(s->fd, bytes, n, e);
    buf_add(s->buf, bytes, n);
    return ERR_OK;
}

/** Unpacks one piece; *hint is 0 when a frame just ended. */
static enum err_code unpack_piece(ZSTD_DCtx *d, ZSTD_inBuffer *in, struct sink *sink, size_t *hint,
                                  struct err *e)
{
    char plain[STEP];
    ZSTD_outBuffer to;

    do {
        to = (ZSTD_outBuffer){plain, sizeof(plain), 0};
        *hint = ZSTD_decompressStream(d, &to, in);
        if (ZSTD_isError(*hint))
            return err_set(e, ERR_INVALID, "packed data is damaged: %s", ZSTD_getErrorName(*hint));
        enum err_code rc = sink_add(sink, plain, to.pos, e);
        if (rc)
            return rc;
        /* A full output may hide more, except at the end of a frame: asked again, zstd would start
         * another one. */
    } while (in->pos < in->size || (to.pos == to.size && *hint != 0));
    return ERR_OK;
}

enum err_code zstd_unpack(const void *bytes, size_t n, size_t max_bytes, struct buf *out,
                          struct err *e)
{
    AUTO(dctx_free) ZSTD_DCtx *d = dctx_new();
    AUTO(buf_fini) struct buf plain = {0};
    struct sink sink = {.buf = &plain, .fd = -1, .left = max_bytes};
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t hint = 1;

    enum err_code rc = unpack_piece(d, &in, &sink, &hint, e);
    if (rc)
        return rc;
    if (hint != 0)
        return err_set(e, ERR_INVALID, "packed data ends too early");
    buf_add(out, buf_str(&plain), plain.len);
    return ERR_OK;
}

/** Bytes read, 0 at the end, -1 with errno. */
static ssize_t read_some(int fd, char *to, size_t n)
{
    ssize_t got;

    do
        got = read(fd, to, n);
    while (got < 0 && errno == EINTR);
    return got;
}

enum err_code zstd_pack_fd(int from, int to, struct err *e)
{
    AUTO(cctx_free) ZSTD_CCtx *c = cctx_new();
    AUTO(mem_free) char *plain = mem_alloc(STEP);
    AUTO(mem_free) char *packed = mem_alloc(STEP);
    bool is_end = false;

    while (!is_end) {
        ssize_t got = read_some(from, plain, STEP);
        if (got < 0)
            return err_sys(e, errno, "read");
        is_end = got == 0;
        ZSTD_inBuffer in = {plain, (size_t)got, 0};
        size_t left;
        do {
            ZSTD_outBuffer piece = {packed, STEP, 0};
            left = ZSTD_compressStream2(c, &piece, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
            assert(!ZSTD_isError(left));
            enum err_code rc = write_all(to, packed, piece.pos, e);
            if (rc)
                return rc;
        } while (is_end ? left > 0 : in.pos < in.size);
    }
    return ERR_OK;
}

enum err_code zstd_unpack_fd(int from, int to, size_t max_bytes, struct err *e)
{
    AUTO(dctx_free) ZSTD_DCtx *d = dctx_new();
    AUTO(mem_free) char *packed = mem_alloc(STEP);
    struct sink sink = {.fd = to, .left = max_bytes};
    size_t hint = 1;

    for (;;) {
        ssize_t got = read_some(from, packed, STEP);
        if (got < 0)
            return err_sys(e, errno, "read");
        if (got == 0)
            break;
        ZSTD_inBuffer in = {packed, (size_t)got, 0};
        enum err_code rc = unpack_piece(d, &in, &sink, &hint, e);
        if (rc)
            return rc;
    }
    return hint == 0 ? ERR_OK : err_set(e, ERR_INVALID, "packed data ends too early");
}

/* A descriptor of any kind */

enum packing { PACKING_UNKNOWN, PACKING_NONE, PACKING_GZIP, PACKING_ZSTD };

struct stream {
    int fd;
    enum packing packing;
    ZSTD_DCtx *zstd; /* one of these, as the packing says */
    z_stream *gzip;
    bool is_between; /* no member or frame is half read */
    bool is_over;    /* nothing more to read */
    size_t at, n;    /* what is read and not yet unpacked: in[at] to in[n] */
    char in[STEP];
};

struct stream *stream_new(int fd)
{
    struct stream *s = mem_alloc(sizeof(*s));

    s->fd = fd;
    s->is_between = true;
    return s;
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    if (s->gzip)
        inflateEnd(s->gzip);
    mem_free(s->gzip);
    ZSTD_freeDCtx(s->zstd);
    mem_free(s);
}

/** Reads on behind what is there. Pre: there is room. */
static enum err_code stream_fill(struct stream *s, struct err *e)
{
    ssize_t got = read_some(s->fd, s->in + s->n, STEP - s->n);

    if (got < 0)
        return err_sys(e, errno, "read");
    s->n += (size_t)got;
    s->is_over = got == 0;
    return ERR_OK;
}

static enum packing packing_of(const unsigned char *in, size_t n)
{
    static const unsigned char gzip[] = {0x1F, 0x8B};
    static const unsigned char zstd[] = {0x28, 0xB5, 0x2F, 0xFD};
    static const unsigned char skippable[] = {0x2A, 0x4D, 0x18}; /* after 0x50 to 0x5F */

    if (n >= sizeof(gzip) && memcmp(in, gzip, sizeof(gzip)) == 0)
        return PACKING_GZIP;
    if (n >= sizeof(zstd) && (memcmp(in, zstd, sizeof(zstd)) == 0 ||
                              (in[0] >> 4 == 5 && memcmp(in + 1, skippable, 3) == 0)))
        return PACKING_ZSTD;
    return PACKING_NONE;
}

static enum err_code stream_begin(struct stream *s, struct err *e)
{
    while (s->n < MAGIC_BYTES && !s->is_over) {
        enum err_code rc = stream_fill(s, e);
        if (rc)
            return rc;
    }
    s->packing = packing_of((const unsigned char *)s->in, s->n);
    if (s->packing == PACKING_ZSTD)
        s->zstd = dctx_new();
    if (s->packing != PACKING_GZIP)
        return ERR_OK;
    s->gzip = mem_alloc(sizeof(*s->gzip));
    int rc = inflateInit2(s->gzip, 16 + MAX_WBITS);
    assert(rc == Z_OK);
    return ERR_OK;
}

static enum err_code gzip_step(struct stream *s, char *to, size_t n, size_t *got, struct err *e)
{
    z_stream *z = s->gzip;

    z->next_in = (unsigned char *)s->in + s->at;
    z->avail_in = (unsigned)(s->n - s->at);
    z->next_out = (unsigned char *)to;
    z->avail_out = (unsigned)n;
    int rc = inflate(z, Z_NO_FLUSH);
    s->at = s->n - z->avail_in;
    *got = n - z->avail_out;
    s->is_between = rc == Z_STREAM_END;
    if (rc == Z_STREAM_END)
        rc = inflateReset(z);
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return err_set(e, ERR_INVALID, "packed data is damaged: %s", z->msg ? z->msg : "gzip");
    return ERR_OK;
}

static enum err_code zstd_step(struct stream *s, char *to, size_t n, size_t *got, struct err *e)
{
    ZSTD_inBuffer in = {s->in, s->n, s->at};
    ZSTD_outBuffer out = {to, n, 0};
    size_t hint = ZSTD_decompressStream(s->zstd, &out, &in);

    if (ZSTD_isError(hint))
        return err_set(e, ERR_INVALID, "packed data is damaged: %s", ZSTD_getErrorName(hint));
    s->at = in.pos;
    *got = out.pos;
    s->is_between = hint == 0;
    return ERR_OK;
}

static enum err_code read_packed(struct stream *s, char *to, size_t n, size_t *got, struct err *e)
{
    for (;;) {
        /* What was taken in may still hold bytes to give out. */
        if (s->at < s->n || !s->is_between) {
            enum err_code rc = s->packing == PACKING_GZIP ? gzip_step(s, to, n, got, e)
                                                          : zstd_step(s, to, n, got, e);
            if (rc || *got > 0)
                return rc;
        }
        if (s->at < s->n)
            continue;
        if (s->is_over)
            return s->is_between ? ERR_OK : err_set(e, ERR_INVALID, "packed data ends too early");
        s->at = s->n = 0;
        enum err_code rc = stream_fill(s, e);
        if (rc)
            return rc;
    }
}

enum err_code stream_read(struct stream *s, char *to, size_t n, size_t *got, struct err *e)
{
    size_t some = 0;

    assert(n > 0);
    n = n < INT32_MAX ? n : INT32_MAX; /* zlib counts in 32 bits */
    enum err_code rc = s->packing == PACKING_UNKNOWN ? stream_begin(s, e) : ERR_OK;
    if (!rc && s->packing > PACKING_NONE)
        rc = read_packed(s, to, n, &some, e);
    if (rc)
        return rc;
    if (s->packing > PACKING_NONE) {
        *got = some;
        return ERR_OK;
    }
    if (s->at < s->n) { /* what was read to see what it is */
        some = s->n - s->at < n ? s->n - s->at : n;
        memcpy(to, s->in + s->at, some);
        s->at += some;
    } else if (!s->is_over) {
        ssize_t fresh = read_some(s->fd, to, n);
        if (fresh < 0)
            return err_sys(e, errno, "read");
        some = (size_t)fresh;
    }
    *got = some;
    return ERR_OK;
}
