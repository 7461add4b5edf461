/* SPDX-License-Identifier: Apache-2.0 */
/* A sentence with a count, a mean and a total; and FROM..TO of builds. */
#include "formats/total_claim.h"
#include "formats/build_id.h"
#include "fuzz/fuzz.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = mem_dup_n((const char *)bytes, n);
    struct total_claim c;
    struct stretch s;
    struct err e = {0};

    if (total_claim_read(text, &c, &e))
        assert(e.code == ERR_INVALID && e.text[0]);
    else
        assert(isfinite(c.total_ms) && c.claimed_unit && !(c.agrees && c.looks_like));
    if (stretch_parse(text, &s, NULL) == ERR_OK)
        assert(s.from <= s.to);
    return 0;
}
