/* SPDX-License-Identifier: Apache-2.0 */
/* The body of POST /points: what is accepted is written out, and accepted again the same. */
#include "model/points.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(json_free) json *v = NULL;
    AUTO(points_free) struct points *p = NULL;
    AUTO(points_free) struct points *again = NULL;
    struct err e = {0};

    if (json_parse((const char *)bytes, n, &v, NULL))
        return 0;
    if (points_from_json(v, &p, &e)) {
        assert(e.code != ERR_OK && e.text[0]);
        return 0;
    }
    AUTO(json_free) json *written = points_to_json(p);
    assert(points_from_json(written, &again, &e) == ERR_OK);
    assert(again->n == p->n && strcmp(again->host, p->host) == 0);
    for (size_t i = 0; i < p->n; i++)
        assert(again->items[i].at.ns == p->items[i].at.ns &&
               again->items[i].nth == p->items[i].nth &&
               again->items[i].value == p->items[i].value);
    return 0;
}
