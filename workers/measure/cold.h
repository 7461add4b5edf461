/* SPDX-License-Identifier: Apache-2.0 */
/** Files as they are before anybody has read them: on disk, not in memory. */
#ifndef MEASURE_COLD_H
#define MEASURE_COLD_H

#include "base/err.h"
#include <stdint.h>

struct cold {
    uint64_t n_files;
    int64_t bytes;      /* of these files */
    int64_t kept_bytes; /* that the kernel has kept in memory: mapped by a process, or tmpfs */
};

/**
 * Writes back the regular files below the folder and drops them from the page cache, for
 * everybody; nothing else of the system is made cold, and no privilege is needed. Adds to `c`.
 */
MUST_CHECK enum err_code cold_drop(const char *folder, struct cold *c, struct err *e);

#endif
