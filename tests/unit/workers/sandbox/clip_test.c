/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/clip.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    size_t max_bytes;
    const char *pieces[4];
    const char *want;
} rows[] = {
    {"nothing stays nothing",            8, {NULL},                     ""},
    {"what fits is kept whole",          8, {"ab", "cd", "efgh"},       "abcdefgh"},
    {"one byte too many is cut",         8, {"abcdefghi"},              "abcd\n[... 1 bytes left out ...]\nfghi"},
    {"halves are kept over many pieces", 8, {"abc", "defg", "hij", "k"}, "abcd\n[... 3 bytes left out ...]\nhijk"},
    {"a long piece keeps its end",       4, {"a", "bcdefghijklmnop"},   "ab\n[... 12 bytes left out ...]\nop"},
    {"a limit of none keeps none",       0, {"abc"},                    "\n[... 3 bytes left out ...]\n"},
};
/* clang-format on */

START_TEST(clip_keeps_both_ends)
{
    AUTO(clip_fini) struct clip c;
    AUTO(buf_fini) struct buf got = {0};
    AUTO(clip_fini) struct clip second;
    AUTO(buf_fini) struct buf poured = {0};

    clip_init(&c, rows[_i].max_bytes);
    for (size_t i = 0; i < LEN(rows[_i].pieces) && rows[_i].pieces[i]; i++)
        clip_add(&c, rows[_i].pieces[i], strlen(rows[_i].pieces[i]));
    clip_render(&c, &got);
    ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s: %s", rows[_i].name,
                  buf_str(&got));
    ck_assert_msg(clip_is_cut(&c) == (strstr(rows[_i].want, "left out") != NULL), "%s",
                  rows[_i].name);

    clip_init(&second, 1024);
    clip_pour(&c, &second);
    clip_render(&second, &poured);
    ck_assert_str_eq(buf_str(&poured), rows[_i].want);
}
END_TEST

START_TEST(memory_is_bounded)
{
    AUTO(clip_fini) struct clip c;
    static char piece[65536];
    enum { LIMIT = 1 << 20 };

    clip_init(&c, LIMIT);
    for (int i = 0; i < 1600; i++) /* 100 MiB */
        clip_add(&c, piece, sizeof(piece));
    ck_assert_uint_eq(c.n_seen, 1600 * sizeof(piece));
    ck_assert_uint_le(c.head.cap + c.tail.cap, 3 * LIMIT);
}
END_TEST

START_TEST(a_cut_within_a_cut_counts_once_and_whole)
{
    AUTO(clip_fini) struct clip inner;
    AUTO(clip_fini) struct clip outer;
    AUTO(buf_fini) struct buf got = {0};

    clip_init(&inner, 8);
    clip_add(&inner, "abcdefghijklmnopqrst", 20); /* abcd, 12 left out, qrst */
    clip_init(&outer, 8);
    clip_add(&outer, "12", 2);
    clip_pour(&inner, &outer);
    clip_add(&outer, "3", 1);
    clip_render(&outer, &got);
    ck_assert_str_eq(buf_str(&got), "12ab\n[... 15 bytes left out ...]\nrst3");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("clip");
    TCase *tc = tcase_create("clip");

    tcase_add_loop_test(tc, clip_keeps_both_ends, 0, LEN(rows));
    tcase_add_test(tc, memory_is_bounded);
    tcase_add_test(tc, a_cut_within_a_cut_counts_once_and_whole);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
