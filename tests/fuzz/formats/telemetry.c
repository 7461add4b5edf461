/* SPDX-License-Identifier: Apache-2.0 */
/* A document. What a strict JSON parser makes of it is what passing over it makes of it; and what
 * is mapped of it, reduced and taken off again leaves nothing. */
#include "formats/telemetry.h"
#include "base/json.h"
#include "formats/slowsql_line.h"
#include "fuzz/fuzz.h"

static bool is_whole(const json *v, int64_t *out)
{
    AUTO(buf_fini) struct buf text = {0};

    json_dump(v, JSON_COMPACT, &text);
    return json_is_number(v) && skim_int((struct span){buf_str(&text), text.len}, out);
}

/** Sums of what is fine, by the other parser. */
static void sum_thread(const json *thread, int64_t least, struct sums *out)
{
    for (const char *k = json_first_key(thread); k; k = json_next_key(thread, k)) {
        const json *v = json_at(thread, k);
        int64_t count = 0, total = 0;
        if (!json_is_array(v) || json_len(v) != 2 || !is_whole(json_item(v, 0), &count) ||
            !is_whole(json_item(v, 1), &total) || count <= 0 || count > INT32_MAX || total < 0 ||
            total > INT32_MAX || total < count * least)
            continue;
        out->count += count;
        out->total_ms += total;
    }
}

static void check_against(const json *v, const struct telemetry *t)
{
    const json *payload = json_at(v, "payload"), *slow = json_at(payload, "slowSQL");
    struct sums want = {0}, got = {0};

    assert(t->fault != REJECT_NOT_JSON);
    if (t->fault || !json_is_object(payload) || !json_is_object(slow))
        return;
    if (json_is_object(json_at(slow, "mainThread")))
        sum_thread(json_at(slow, "mainThread"), 50, &want);
    if (json_is_object(json_at(slow, "otherThreads")))
        sum_thread(json_at(slow, "otherThreads"), 100, &want);
    for (size_t i = 0; i < t->n; i++) {
        if (t->statements[i].fault)
            continue;
        got.count += t->statements[i].count;
        got.total_ms += t->statements[i].total_ms;
    }
    assert(got.count == want.count && got.total_ms == want.total_ms);
}

/** Every line is one of ours, and what a session's line takes off is all that was added. */
static void check_lines(const struct slowsql_mapped *m)
{
    AUTO(buf_fini) struct buf lines = {0};
    AUTO(tally_free) struct tally *tally = tally_new();
    bool has_session = false;

    slowsql_lines_of(m, &lines);
    for (const char *p = lines.data, *end = lines.data + lines.len; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct slowsql_line line;
        assert(stop && slowsql_line_parse(p, (size_t)(stop - p), &line, NULL) == ERR_OK);
        if (line.kind == LINE_ROW)
            tally_add(tally, tally_at(tally, line.key.s, line.key.n), &line.sums);
        if (line.kind == LINE_SESSION)
            assert(line.sums.reports == 1 && slowsql_take_off(&line, 1, tally, NULL) == ERR_OK);
        has_session |= line.kind == LINE_SESSION;
        p = stop + 1;
    }
    for (size_t i = 0; has_session && i < tally_n(tally); i++) {
        const struct tally_row *row = tally_row(tally, i);
        assert(row->sums.count == 0 && row->sums.total_ms == 0);
        assert(row->sums.reports == (strncmp(row->key, "[null", 5) == 0) && row->sums.used == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct slowsql_question q = {.build = stretch_all, .submitted = stretch_all};
    AUTO(mem_free) char *text = fuzz_exact(bytes, n);
    AUTO(telemetry_reader_free) struct telemetry_reader *r = telemetry_reader_new();
    AUTO(slowsql_mapped_fini) struct slowsql_mapped m = {0};
    AUTO(json_free) json *v = NULL;
    struct telemetry t;

    telemetry_read(r, text, n, &t);
    /* The other parser passes over a NUL after a fraction. */
    if (!memchr(text, '\0', n) && json_parse(text, n, &v, NULL) == ERR_OK && json_is_object(v))
        check_against(v, &t);
    slowsql_map(&q, &t, &m);
    assert(m.fate != FATE_FILTERED && (m.fate == FATE_COUNTED) == (m.n > 0));
    check_lines(&m);
    return 0;
}
