/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/counter.h"
#include "unit/run.h"
#include <string.h>

typedef enum err_code reads(const char *text, size_t n, double *out, struct err *e);

/* clang-format off */
static const struct {
    reads *read;
    const char *text;
    enum err_code code;
    double want;
    const char *words;
} rows[] = {
    {counter_read_perf, "# started on Mon Nov 30 16:33:51 2026\n\n64,,page-faults,514148,100.00,,\n", ERR_OK, 64, ""},
    {counter_read_perf, "1234567890123,,instructions:u,514148,37.50,,\n", ERR_OK, 1234567890123, ""},
    {counter_read_perf, "1.25,msec,task-clock,1250000,100.00,0.4,CPUs utilized", ERR_OK, 1.25, ""},
    {counter_read_perf, "0,,context-switches,514148,100.00,,\n", ERR_OK, 0, ""},
    {counter_read_perf, "<not supported>,,cycles,0,100.00,,\n", ERR_NOT_FOUND, 0, "no counter for it"},
    {counter_read_perf, "<not counted>,,cycles,0,0.00,,\n", ERR_INVALID, 0, "not counted"},
    {counter_read_perf, "nan,,cycles,0,0.00,,\n", ERR_INVALID, 0, "expected a number"},
    {counter_read_perf, "-1,,cycles,0,0.00,,\n", ERR_INVALID, 0, "expected a number"},
    {counter_read_perf, "", ERR_INVALID, 0, "no count"},
    {counter_read_perf, "# 1,2,3\n\n", ERR_INVALID, 0, "no count"},
    {counter_read_callgrind, "version: 1\nevents: Ir\nsummary: 193376\n\nfn=(2)\n5 10\n\ntotals: 193385\n", ERR_OK, 193385, ""},
    {counter_read_callgrind, "events: Ir\nsummary: 193376\n", ERR_OK, 193376, ""},
    {counter_read_callgrind, "totals: 5 7\n", ERR_INVALID, 0, "expected one number"},
    {counter_read_callgrind, "totals: \n", ERR_INVALID, 0, "expected one number"},
    {counter_read_callgrind, "fn=totals: 5\n", ERR_INVALID, 0, "no total"},
    {counter_read_callgrind, "", ERR_INVALID, 0, "no total"},
};
/* clang-format on */

START_TEST(counts_are_read)
{
    struct err e = {0};
    double got = 0;

    ck_assert_msg(rows[_i].read(rows[_i].text, strlen(rows[_i].text), &got, &e) == rows[_i].code,
                  "%s: %s", rows[_i].text, e.text);
    if (rows[_i].code == ERR_OK)
        ck_assert_double_eq(got, rows[_i].want);
    ck_assert_msg(strstr(e.text, rows[_i].words), "%s: %s", rows[_i].text, e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{counts_are_read, LEN(rows)}};

    return unit_run("counter", tests, LEN(tests));
}
