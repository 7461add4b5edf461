/* SPDX-License-Identifier: Apache-2.0 */
/** What `perf report -q --stdio -t '|' -F sample,dso,sym` writes: samples by function. */
#ifndef FORMATS_PERF_SAMPLES_H
#define FORMATS_PERF_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

enum { PERF_NAME_BYTES = 200 }; /* of a symbol or object; longer ones are cut */

/** Borrowed; names have no terminator. */
struct perf_sample {
    uint64_t n;
    const char *object, *symbol;
    size_t object_bytes, symbol_bytes; /* at least 1, at most PERF_NAME_BYTES */
};

/** Tells of each line that is one; others are passed over. Pure. */
void perf_samples_read(const char *text, size_t n,
                       void (*seen)(void *self, const struct perf_sample *sample), void *self);

#endif
