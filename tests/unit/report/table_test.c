/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"
#include "unit/run.h"

static const char *const heads[] = {"NAME", "N", "NOTE", NULL};
static const struct style plain = {0};

START_TEST(columns_line_up)
{
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf out = {0};

    table_align(t, 1, ALIGN_RIGHT);
    table_cell(t, "a", 0);
    table_cell(t, "7", 0);
    table_cell(t, "short", 0);
    table_cell(t, "Jürgen", 0);
    table_cell(t, "1234", 0);
    table_cell(t, "", 0);
    ck_assert_uint_eq(table_rows(t), 2);
    table_write(t, &plain, &out);
    ck_assert_str_eq(buf_str(&out), "NAME       N  NOTE\n"
                                    "a          7  short\n"
                                    "Jürgen  1234\n");
}
END_TEST

START_TEST(cells_cannot_break_out)
{
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf out = {0};

    table_cell(t, "x\ny", 0);
    table_cell(t, "\033[31m", 0);
    table_cell(t, NULL, 0);
    table_write(t, &plain, &out);
    ck_assert_str_eq(buf_str(&out), "NAME  N      NOTE\n"
                                    "x\xEF\xBF\xBDy   \xEF\xBF\xBD[31m\n");
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{columns_line_up, 1}, {cells_cannot_break_out, 1}};

    return unit_run("table", tests, LEN(tests));
}
