/* SPDX-License-Identifier: Apache-2.0 */
/* A frame is refused, or unpacks to no more than allowed; any bytes survive packing. */
#include "base/stream.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(buf_fini) struct buf back = {0};

    if (zstd_unpack(text, n, MIB, &plain, NULL))
        assert(plain.len == 0);
    assert(plain.len <= MIB);
    zstd_pack(text, n, &packed);
    assert(zstd_unpack(packed.data, packed.len, n, &back, NULL) == ERR_OK);
    assert(back.len == n && memcmp(buf_str(&back), text, n) == 0);
    return 0;
}
