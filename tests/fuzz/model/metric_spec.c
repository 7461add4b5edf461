/* SPDX-License-Identifier: Apache-2.0 */
/* --metric KIND[:KEY=VALUE,…] is refused with a reason, or gives a metric that can be written out.
 */
#include "fuzz/fuzz.h"
#include "model/metric.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *spec = mem_dup_n((const char *)bytes, n);
    AUTO(metric_free) struct metric *m = NULL;
    struct err e = {0};

    if (metric_from_spec(spec, &m, &e)) {
        assert(!m && e.code != ERR_OK && e.text[0]);
        return 0;
    }
    AUTO(metric_free) struct metric *copy = metric_copy(m);
    AUTO(json_free) json *v = metric_to_json(copy);
    assert(json_is_object(v));
    assert(metric_check(m, &e) == ERR_OK || e.text[0]);
    return 0;
}
