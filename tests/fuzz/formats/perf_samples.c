/* SPDX-License-Identifier: Apache-2.0 */
/* All bytes are a report. */
#include "base/buf.h"
#include "formats/perf_samples.h"
#include "fuzz/fuzz.h"

static void check(void *self, const struct perf_sample *s)
{
    const struct buf *text = self;

    assert(s->n > 0);
    assert(s->object_bytes > 0 && s->object_bytes <= PERF_NAME_BYTES);
    assert(s->symbol_bytes > 0 && s->symbol_bytes <= PERF_NAME_BYTES);
    assert(s->object >= text->data && s->symbol + s->symbol_bytes <= text->data + text->len);
    assert(!memchr(s->symbol, '\n', s->symbol_bytes) && !memchr(s->symbol, 0, s->symbol_bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(buf_fini) struct buf text = {0};

    buf_add(&text, bytes, n);
    perf_samples_read(buf_str(&text), text.len, check, &text);
    return 0;
}
