/* SPDX-License-Identifier: Apache-2.0 */
/** Text with a limit: the first and the last half are kept and the cut between them is marked. */
#ifndef SANDBOX_CLIP_H
#define SANDBOX_CLIP_H

#include "base/buf.h"
#include <stdbool.h>
#include <stdint.h>

/** Holds at most 1.5 times its limit in memory, however much is added. */
struct clip {
    size_t max_bytes;
    struct buf head;
    struct buf tail; /* its last bytes, up to half the limit, are those that count */
    uint64_t n_seen; /* bytes ever added */
};

void clip_init(struct clip *c, size_t max_bytes);
void clip_fini(struct clip *c);
DEFINE_AUTO_FINI(struct clip, clip_fini)

void clip_add(struct clip *c, const void *bytes, size_t n);
void clip_printf(struct clip *c, const char *format, ...) PRINTF(2, 3);
bool clip_is_cut(const struct clip *c);
/** Appends what is kept, with a line "[... N bytes left out ...]" where it was cut. */
void clip_render(const struct clip *c, struct buf *out);
/** The same into another one. */
void clip_pour(const struct clip *c, struct clip *into);
/** Appends the last line with anything in it, safe to show. For reasons. */
void clip_last_line(const struct clip *c, size_t max_bytes, struct buf *out);

#endif
