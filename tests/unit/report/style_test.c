/* SPDX-License-Identifier: Apache-2.0 */
#include "report/style.h"
#include "unit/run.h"
#include <string.h>

static const struct style ascii = {.width = 40};
static const struct style utf8 = {.is_utf8 = true, .width = 40};
static const struct style colour = {.has_colour = true};

/* clang-format off */
static const struct {
    const char *name;
    const struct style *style;
    double share;
    const char *want;
} bars[] = {
    {"nothing",              &ascii, 0,    "    "},
    {"everything",           &ascii, 1,    "####"},
    {"half",                 &ascii, .5,   "##  "},
    {"more than everything", &ascii, 7,    "####"},
    {"less than nothing",    &ascii, -1,   "    "},
    {"not a number",         &ascii, 0.0 / 0.0, "    "},
    {"a quarter of a column",&utf8,  1.0 / 16, "▎   "},
    {"full columns",         &utf8,  1,    "████"},
};

static const struct {
    const char *name;
    const char *text;
    const char *want;
} paragraphs[] = {
    {"short",                   "one two",   "  one two\n"},
    {"empty",                   "",          "\n"},
    {"blanks are one",          "a   b",     "  a b\n"},
    {"wrapped at the width",    "aaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbb c",
                                "  aaaaaaaaaaaaaaaaaaaa\n  bbbbbbbbbbbbbbbbbbbb c\n"},
    {"a word wider than a line","aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b",
                                "  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n  b\n"},
    {"an escape is shown",      "a\033[2Jb", "  a\xEF\xBF\xBD[2Jb\n"},
    {"a newline cannot forge a line", "a\nb", "  a\xEF\xBF\xBD" "b\n"},
};
/* clang-format on */

START_TEST(bars_have_one_width)
{
    AUTO(buf_fini) struct buf out = {0};

    style_bar(&out, bars[_i].style, bars[_i].share, 4);
    ck_assert_msg(strcmp(buf_str(&out), bars[_i].want) == 0, "%s: got \"%s\"", bars[_i].name,
                  buf_str(&out));
}
END_TEST

START_TEST(paragraphs_wrap)
{
    AUTO(buf_fini) struct buf out = {0};

    style_paragraph(&out, &ascii, 2, paragraphs[_i].text);
    ck_assert_msg(strcmp(buf_str(&out), paragraphs[_i].want) == 0, "%s: got \"%s\"",
                  paragraphs[_i].name, buf_str(&out));
}
END_TEST

START_TEST(colour_only_where_wanted)
{
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(buf_fini) struct buf coloured = {0};

    style_add(&plain, &ascii, INK_BAD, "culprit");
    style_add(&coloured, &colour, INK_BAD, "culprit");
    ck_assert_str_eq(buf_str(&plain), "culprit");
    ck_assert_str_eq(buf_str(&coloured), "\033[1;31mculprit\033[0m");
}
END_TEST

START_TEST(widths_are_within_reason)
{
    ck_assert_uint_eq(style_width(&(struct style){.width = 0}), 80);
    ck_assert_uint_eq(style_width(&(struct style){.width = 3}), 40);
    ck_assert_uint_eq(style_width(&(struct style){.width = 5000}), 100);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {bars_have_one_width, LEN(bars)},
        {paragraphs_wrap, LEN(paragraphs)},
        {colour_only_where_wanted, 1},
        {widths_are_within_reason, 1},
    };
    return unit_run("style", tests, LEN(tests));
}
