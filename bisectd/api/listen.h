/* SPDX-License-Identifier: Apache-2.0 */
/** Sockets to listen on. */
#ifndef API_LISTEN_H
#define API_LISTEN_H

#include "base/err.h"

/**
 * "HOST:PORT", "[::1]:PORT", ":PORT" (loopback); port 0 takes a free one.
 *
 * `where`, new and the caller's to free, is the address with its real port.
 * Errors: ERR_INVALID (form, unknown host), ERR_CONFLICT (in use), ERR_DENIED, ERR_IO.
 */
MUST_CHECK enum err_code listen_tcp(const char *address, int *fd, char **where, struct err *e);

/** A socket that only its owner can open. A file left there by an earlier life is replaced. */
MUST_CHECK enum err_code listen_unix(const char *path, int *fd, struct err *e);

#endif
