/* SPDX-License-Identifier: Apache-2.0 */
/* Every pair that is read is found again, and is a hash. */
#include "formats/revision_map.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(revision_map_fini) struct revision_map m = {0};
    struct err e = {0};
    char *text = fuzz_exact(bytes, n);
    enum err_code code = revision_map_parse(text, n, &m, &e);

    mem_free(text);
    assert(code == ERR_OK || (e.text[0] && m.n == 0));
    for (size_t i = 0; i < m.n; i++) {
        assert(strlen(m.items[i].revision.hex) == 40 && m.items[i].foreign[0]);
        assert(revision_map_find(&m, m.items[i].foreign) == &m.items[i].revision);
    }
    return 0;
}
