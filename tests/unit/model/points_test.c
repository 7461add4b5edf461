/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/points.h"
#include "unit/run.h"
#include <string.h>

#define POINT(value)                                                                               \
    "{\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"at\":\"2026-11-01T00:00:00."     \
    "000Z\","                                                                                      \
    "\"value\":" value "}"

/* clang-format off */
static const struct {
    const char *points;
    const char *want; /* NULL: fine; else the beginning of the error */
} rows[] = {
    {POINT("1.5"),                      NULL},
    {POINT("1e100"),                    NULL},
    {POINT("-1e100"),                   NULL},
    {POINT("1") "," POINT("1e308"),     "points[1].value: 1e308 is over the limit of 1e100"},
    {POINT("-1.7e308"),                 "points[0].value: -1.7e308 is over the limit of 1e100"},
    {POINT("\"1\""),                    "points[0].value: expected a number"},
    {POINT("null"),                     "points[0].value"},
};
/* clang-format on */

START_TEST(reads_points)
{
    AUTO(mem_free)
    char *text = mem_printf("{\"project\":\"demo\",\"metric\":\"m\",\"platform\":\"p\","
                            "\"host\":\"ci\",\"points\":[%s]}",
                            rows[_i].points);
    AUTO(points_free) struct points *p = NULL;
    AUTO(json_free) json *v = NULL;
    struct err e = {0};

    ck_assert_int_eq(json_parse(text, strlen(text), &v, &e), ERR_OK);
    enum err_code code = points_from_json(v, &p, &e);
    if (rows[_i].want)
        ck_assert_msg(code == ERR_INVALID &&
                          strncmp(e.text, rows[_i].want, strlen(rows[_i].want)) == 0,
                      "%s: %s", rows[_i].points, e.text);
    else
        ck_assert_msg(code == ERR_OK && p->n == 1, "%s: %s", rows[_i].points, e.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{reads_points, LEN(rows)}};
    return unit_run("points", tests, LEN(tests));
}
