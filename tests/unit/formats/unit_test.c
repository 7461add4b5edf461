/* SPDX-License-Identifier: Apache-2.0 */
#include "base/auto.h"
#include "formats/unit.h"
#include "unit/run.h"
#include <math.h>

static const struct {
    const char *from, *to;
    double want; /* NAN: they do not convert */
} rows[] = {
    {"s", "ms", 1000},         {"ns", "s", 1e-9},
    {"msec", "ms", 1},         {"us", "\xC2\xB5s", 1},
    {"\xCE\xBCs", "ns", 1000}, {"min", "s", 60},
    {"MB", "kB", 1000},        {"KiB", "B", 1024},
    {"MiB", "KiB", 1024},      {"percent", "%", 1},
    {"ms/op", "us/op", 1000},  {"ops/ms", "ops/s", 1000},
    {"MB/s", "B/s", 1e6},      {"ops/s", "op/s", 1},
    {"widgets", "widgets", 1}, {"widgets/s", "widgets/ms", .001},
    {"score", "score", 1},     {"", "", 1},
    {"ms", "KiB", NAN},        {"ms", "ms/op", NAN},
    {"ms/op", "ms", NAN},      {"widgets", "gadgets", NAN},
    {"ms", "", NAN},           {"Ms", "ms", NAN},
    {"ms/op/x", "ms/op", NAN},
};

START_TEST(units_convert)
{
    double factor = 0;
    bool is_known = unit_factor(rows[_i].from, rows[_i].to, &factor);

    ck_assert_msg(is_known == !isnan(rows[_i].want), "%s to %s", rows[_i].from, rows[_i].to);
    if (is_known)
        ck_assert_double_eq_tol(factor, rows[_i].want, rows[_i].want * 1e-12);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {{units_convert, LEN(rows)}};

    return unit_run("unit", tests, LEN(tests));
}
