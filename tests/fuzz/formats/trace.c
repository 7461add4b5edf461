/* SPDX-License-Identifier: Apache-2.0 */
/* First line: how to read (a digit for the size of pieces, f for a -ff log, then a path's glob).
 * Rest: a log of strace, read at once and in pieces, which have to tell the same. */
#include "formats/trace.h"
#include "formats/trace_diff.h"
#include "fuzz/fuzz.h"
#include <math.h>

static struct strace_tally read_log(const char *log, size_t n, size_t piece, int64_t pid,
                                    const struct trace_filter *filter, struct trace_table *table)
{
    AUTO(trace_free) struct trace *t = trace_new(filter, table);

    trace_begin(t, pid);
    for (size_t at = 0; at < n; at += piece) {
        size_t now = n - at < piece ? n - at : piece;
        AUTO(mem_free) char *part = fuzz_exact((const uint8_t *)log + at, now);
        trace_feed(t, part, now);
    }
    trace_end(t);
    return *trace_finish(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    AUTO(mem_free) char *how = fuzz_line(&bytes, &n);
    AUTO(trace_table_free) struct trace_table *whole = trace_table_new();
    AUTO(trace_table_free) struct trace_table *pieces = trace_table_new();
    AUTO(trace_table_free) struct trace_table *some = trace_table_new();
    size_t piece = how[0] ? 1 + (unsigned char)how[0] % 10 : 1;
    int64_t pid = how[0] && how[1] == 'f' ? 77 : 0;
    struct trace_filter filter = {.path = how[0] && how[1] ? how + 2 : ""};

    const struct strace_tally a = read_log((const char *)bytes, n, n + 1, pid, NULL, whole);
    const struct strace_tally b = read_log((const char *)bytes, n, piece, pid, NULL, pieces);
    assert(memcmp(a.rejects, b.rejects, sizeof(a.rejects)) == 0);
    assert(a.lines == b.lines && a.calls == b.calls && a.never == b.never && a.summed == b.summed);
    const struct trace_row sum = trace_table_sum(whole), again = trace_table_sum(pieces);
    assert(sum.count == again.count && sum.total_ns == again.total_ns && sum.total_ns >= 0);
    assert(sum.count == a.calls + a.summed);
    assert(trace_table_size(whole) == trace_table_size(pieces));

    AUTO(trace_diff_free) struct trace_diff *none = trace_diff_new(whole, pieces, NAN);
    assert(none->n == 0);
    (void)read_log((const char *)bytes, n, n + 1, pid, &filter, some);
    assert(trace_table_sum(some).count <= sum.count);
    AUTO(trace_diff_free) struct trace_diff *d = trace_diff_new(some, whole, NAN);
    AUTO(json_free) json *list = trace_diff_to_json(d, 10);
    assert(json_len(list) <= 10);
    return 0;
}
