/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to reduce. Those that are refused are refused with words; the rest make a sheet. */
#include "formats/slowsql_fit.h"
#include "formats/slowsql_sheet.h"
#include "fuzz/fuzz.h"

static void ask(const char *text, size_t n)
{
    const struct slowsql_question q = {
        .build = stretch_all, .submitted = stretch_all, .db = "p*", .statement = "C", .threads = 1};
    struct slowsql_line line;
    enum group_kind kind = GROUPS_NONE;
    struct err e = {0};
    bool is_asked = false;

    if (!slowsql_line_parse(text, n, &line, &e) && slowsql_fit(&q, &line, &is_asked, &kind, &e))
        assert(e.code == ERR_INVALID && e.text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(tally_free) struct tally *t = tally_new();
    AUTO(slowsql_reduce_fini) struct slowsql_reduce r = {.tally = t};
    AUTO(sheet_free) struct sheet *s = NULL;
    struct err e = {0};

    while (n > 0) {
        const uint8_t *stop = memchr(bytes, '\n', n);
        size_t length = stop ? (size_t)(stop - bytes) : n, used = length + (stop != NULL);
        AUTO(mem_free) char *line = fuzz_exact(bytes, length);
        ask(line, length);
        if (slowsql_reduce_line(&r, line, length, &e))
            assert(e.code == ERR_INVALID && e.text[0]);
        bytes += used;
        n -= used;
    }
    if (sheet_of(t, SHEET_AS_FOUND, &s, &e)) {
        assert(e.code == ERR_INVALID || e.code == ERR_LIMIT);
        return 0;
    }
    AUTO(json_free) json *v = sheet_to_json(s, 0);
    assert(json_len(json_at(v, "rows")) == s->n_rows);
    return 0;
}
