/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/formats/rows.h"

#define KIND METRIC_PLAIN
/* clang-format off */
static const struct format_row rows[] = {
    {"one number",         "plain", "4.5\n", 4.5, NULL},
    {"the median of many", "plain:unit=ms", "3\n\n 1 \r\n2", 2, NULL},
    {"their sum",          "plain:reduce=sum", "3\n1\n2\n", 6, NULL},

    {"two on a line",  "plain", "1 2\n", NAN, "line 1 is \"1 2\", which is not a number"},
    {"a word",         "plain", "1\nfast\n", NAN, "line 2 is \"fast\", which is not a number"},
    {"nan",            "plain", "1\nnan\n", NAN, "the value is nan"},
    {"inf",            "plain", "-inf\n", NAN, "the value is inf"},
    {"nothing",        "plain", "\n", NAN, "no number: the output is empty"},
};
static const char *const like[] = {"1\n2\n", " -1.5e3"};
/* clang-format on */

START_TEST(reads)
{
    format_row_check(&rows[_i]);
}
END_TEST

START_TEST(looks)
{
    format_looks_check(like[_i], KIND);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {reads, LEN(rows)},
        {looks, LEN(like)},
    };

    return unit_run("plain", tests, LEN(tests));
}
