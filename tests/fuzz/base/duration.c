/* SPDX-License-Identifier: Apache-2.0 */
/* A duration is refused, or lies in range and can be shown. */
#include "base/clock.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = mem_dup_n((const char *)bytes, n);
    struct err e = {0};
    int64_t ns = -1;
    char shown[32];

    if (duration_parse(text, &ns, &e)) {
        assert(ns == -1 && e.code == ERR_INVALID && e.text[0]);
        return 0;
    }
    assert(ns >= 0);
    duration_format(ns, shown);
    assert(strlen(shown) < sizeof(shown));
    return 0;
}
