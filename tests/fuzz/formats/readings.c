/* SPDX-License-Identifier: Apache-2.0 */
/* First byte: which format. Rest: a file. Every row is a reading, a reject or passed over, and what
 * is read is finite and has a revision. */
#include "formats/readings.h"
#include "fuzz/fuzz.h"
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(readings_fini) struct readings r = {0};
    struct readings_query q = {.revision = n % 2 ? "v1" : NULL};
    struct err e = {0};
    size_t n_rejected = 0;

    if (n == 0)
        return 0;
    q.format = (enum readings_format)((uint8_t)(bytes[0] - '0') % (READINGS_RESULTS + 1));
    if (bytes[0] & 64)
        pairs_add(&q.where, "metric", "ts");
    char *text = fuzz_exact(bytes + 1, n - 1);
    enum err_code code = readings_parse(text, n - 1, &q, &r, &e);
    mem_free(text);
    pairs_fini(&q.where);
    assert(code == ERR_OK || e.text[0]);
    for (size_t i = 0; i < r.n; i++) {
        assert(isfinite(r.items[i].value) && r.items[i].revision[0] && r.items[i].line > 0);
        assert(r.items[i].metric == readings_name(&r, r.items[i].metric));
        assert(!r.items[i].has_time || r.items[i].at.ns >= 0);
    }
    for (size_t i = 0; i < r.n_rejects; i++)
        n_rejected += r.rejects[i].n;
    /* A row may hold a value for each of many metrics. */
    assert(r.n + n_rejected + r.n_passed_over > 0 || r.n_rows == 0 || bytes[0] & 64);
    return 0;
}
