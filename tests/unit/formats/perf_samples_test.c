/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "formats/perf_samples.h"
#include "unit/run.h"
#include <inttypes.h>
#include <string.h>

static void note(void *self, const struct perf_sample *s)
{
    buf_printf(self, "%" PRIu64 " %.*s %.*s;", s->n, (int)s->object_bytes, s->object,
               (int)s->symbol_bytes, s->symbol);
}

static const struct {
    const char *name, *text, *want;
} rows[] = {
    {"nothing has nothing", "", ""},
    {"as perf 6.1 writes it",
     " 40         |notes               |[.] words_index\n"
     " 2          |ld-linux-x86-64.so.2|[.] handle_amd\n\n\n",
     "40 notes words_index;2 ld-linux-x86-64.so.2 handle_amd;"},
    {"the last line may lack its end", "7|a|[k] f", "7 a f;"},
    {"a C++ name has spaces and signs", "1|a|[.] std::map<int, char*>::at(int const&) const\n",
     "1 a std::map<int, char*>::at(int const&) const;"},
    {"a name may hold the separator", "1|a|[.] f|g\n", "1 a f|g;"},
    {"without a mark", "1|a|0x000055d0\n", "1 a 0x000055d0;"},
    {"what is no sample is passed over",
     "# Samples: 3\nx|a|f\n|a|f\n0|a|f\n-1|a|f\n1|a\n1||f\n1|a|\n1|a|  \n3|a|f\n", "3 a f;"},
    {"a number that is no number of samples is passed over", "99999999999999999999|a|f\n", ""},
};

START_TEST(samples_are_read)
{
    AUTO(buf_fini) struct buf got = {0};

    perf_samples_read(rows[_i].text, strlen(rows[_i].text), note, &got);
    ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s: %s", rows[_i].name,
                  buf_str(&got));
}
END_TEST

START_TEST(long_names_are_cut)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(buf_fini) struct buf got = {0};

    buf_adds(&text, "1|a|");
    for (int i = 0; i < 1000; i++)
        buf_addc(&text, 'f');
    perf_samples_read(buf_str(&text), text.len, note, &got);
    ck_assert_uint_eq(got.len, strlen("1 a ;") + PERF_NAME_BYTES);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{samples_are_read, LEN(rows)}, {long_names_are_cut, 1}};

    return unit_run("perf_samples", tests, LEN(tests));
}
