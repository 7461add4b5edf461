/* SPDX-License-Identifier: Apache-2.0 */
/* A list of builds, as lines or JSON; rows come out in order, each build once. */
#include "formats/build_id.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(build_map_fini) struct build_map m = {0};
    struct err e = {0};

    if (build_map_read(text, n, "linux64", &m, &e)) {
        assert(e.text[0] && m.n == 0);
        return 0;
    }
    assert(m.n > 0);
    for (size_t i = 0; i < m.n; i++) {
        assert(m.rows[i].build && (i == 0 || m.rows[i - 1].build < m.rows[i].build));
        assert(build_map_find(&m, m.rows[i].build) == &m.rows[i]);
    }
    return 0;
}
