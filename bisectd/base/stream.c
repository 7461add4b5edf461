/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream.h"
#include "base/mem.h"
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <zstd.h>

enum { STEP = 128 * KIB };

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
