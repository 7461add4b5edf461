/* SPDX-License-Identifier: Apache-2.0 */
/** Where a daemon's private socket lies: the daemon listens there, clients look there. */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include "base/err.h"

/**
 * DATA_DIR/socket, or if that is over 100 bytes, for which a socket's address has no room,
 * ${XDG_RUNTIME_DIR or /tmp}/bisectd-<uid>/<first 16 hex digits of SHA-256 of data_dir>.sock.
 *
 * `data_dir` has links and dots resolved. Caller frees with mem_free.
 */
char *place_socket(const char *data_dir);

/** Makes the socket's folder, for its owner alone. ERR_DENIED: somebody else has made it. */
MUST_CHECK enum err_code place_make_folder(const char *socket, struct err *e);

#endif
