/* SPDX-License-Identifier: Apache-2.0 */
/* First line: p for what perf has written, else callgrind's. Rest: that. */
#include "formats/counter.h"
#include "fuzz/fuzz.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *which = fuzz_line(&bytes, &n);
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    struct err e = {0};
    double value = -1;

    enum err_code code = *which == 'p' ? counter_read_perf(text, n, &value, &e)
                                       : counter_read_callgrind(text, n, &value, &e);
    if (code)
        assert(e.text[0]);
    else
        assert(isfinite(value) && value >= 0);
    return 0;
}
