/* SPDX-License-Identifier: Apache-2.0 */
/** Bytes that need not be text, where only text may stand (RFC 4648, one line). */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"
#include "base/err.h"

void base64_add(struct buf *out, const void *bytes, size_t n);
/** Appends the bytes. ERR_INVALID: no base64. */
MUST_CHECK enum err_code base64_read(struct buf *out, const char *text, struct err *e);
/** How many bytes the text stands for, or fewer: without looking at them. */
size_t base64_size(const char *text);

#endif
