/* SPDX-License-Identifier: Apache-2.0 */
/* First byte: how many bytes arrive at once. Rest: the stream; its pieces must not matter. */
#include "wire/sse.h"
#include "base/buf.h"
#include "fuzz/fuzz.h"

enum { MOST = 1000 };

static bool collect(void *context, const char *name, const char *data, size_t n)
{
    assert(data[n] == '\0' && n <= MOST);
    buf_printf(context, "[%s|%s]", name, data);
    return true;
}

static enum err_code feed(const uint8_t *bytes, size_t n, size_t step, struct buf *out)
{
    AUTO(sse_fini) struct sse s;
    bool stopped = false;
    enum err_code rc = ERR_OK;

    sse_init(&s, MOST);
    for (size_t at = 0; at < n && rc == ERR_OK && !stopped; at += step) {
        AUTO(mem_free) char *piece = fuzz_exact(bytes + at, n - at < step ? n - at : step);
        rc = sse_feed(&s, piece, n - at < step ? n - at : step, collect, out, &stopped, NULL);
    }
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(buf_fini) struct buf whole = {0};
    AUTO(buf_fini) struct buf parts = {0};

    if (n < 2)
        return 0;
    enum err_code a = feed(bytes + 1, n - 1, n - 1, &whole);
    enum err_code b = feed(bytes + 1, n - 1, bytes[0] + 1u, &parts);
    assert(a == b && strcmp(buf_str(&whole), buf_str(&parts)) == 0);
    return 0;
}
