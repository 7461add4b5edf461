/* SPDX-License-Identifier: Apache-2.0 */
/** Compressed bytes. Writers take plain bytes and give zstd; readers give plain bytes back. */
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

#endif
