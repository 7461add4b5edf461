/* SPDX-License-Identifier: Apache-2.0 */
/* A document is refused, or comes back the same from each way of writing it. */
#include "base/json.h"
#include "fuzz/fuzz.h"

static void check_layout(const json *v, enum json_layout layout, const struct buf *want)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(buf_fini) struct buf again = {0};
    AUTO(json_free) json *back = NULL;

    json_dump(v, layout, &text);
    assert(json_parse(buf_str(&text), text.len, &back, NULL) == ERR_OK);
    json_dump(back, JSON_SORTED, &again);
    assert(again.len == want->len && memcmp(buf_str(&again), buf_str(want), want->len) == 0);
}

static void check_members(const json *v)
{
    size_t n = 0;

    for (const char *k = json_first_key(v); k; k = json_next_key(v, k)) {
        assert(json_at(v, k) != NULL);
        n++;
    }
    assert(n == (json_is_object(v) ? json_len(v) : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(buf_fini) struct buf sorted = {0};
    AUTO(json_free) json *v = NULL;
    AUTO(json_free) json *foreign = NULL;
    struct err e = {0};
    enum err_code loose = json_parse_foreign(text, n, &foreign, NULL);

    if (json_parse(text, n, &v, &e)) {
        assert(v == NULL && e.code == ERR_INVALID && e.text[0]);
        return 0;
    }
    assert(loose == ERR_OK);
    json_dump(v, JSON_SORTED, &sorted);
    check_layout(v, JSON_COMPACT, &sorted);
    check_layout(v, JSON_PRETTY, &sorted);
    check_members(v);
    return 0;
}
