/* SPDX-License-Identifier: Apache-2.0 */
/** Compressed bytes. Writers take plain bytes and give zstd; readers give plain bytes back, and some
 *  take gzip too. */
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include "base/buf.h"
#include "base/err.h"

/** Appends the zstd frame of `n` bytes. */
void zstd_pack(const void *bytes, size_t n, struct buf *out);
/** Appends the plain bytes; ERR_INVALID if damaged, ERR_LIMIT past `max_bytes`. */
MUST_CHECK enum err_code zstd_unpack(const void *bytes, size_t n, size_t max_bytes, struct buf *out,
                                     struct err *e);
/** Copies all of one descriptor to another, packing or unpacking on the way, in constant memory. */
MUST_CHECK enum err_code zstd_pack_fd(int from, int to, struct err *e);
MUST_CHECK enum err_code zstd_unpack_fd(int from, int to, size_t max_bytes, struct err *e);

/** The plain bytes of a descriptor: as they are, or out of gzip (any number of members) or zstd (of
 *  frames), told by its first bytes. Constant memory. */
struct stream;

struct stream *stream_new(int fd); /* borrowed; read from where it stands */
void stream_free(struct stream *s);
DEFINE_AUTO(struct stream, stream_free)

/**
 * Reads 1 to `n` bytes; *got is 0 at the end.
 *
 * Errors: ERR_IO; ERR_INVALID where packed data is damaged or ends too early, after all bytes
 *         before the fault were given out.
 */
MUST_CHECK enum err_code stream_read(struct stream *s, char *to, size_t n, size_t *got,
                                     struct err *e);

#endif
