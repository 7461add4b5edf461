/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "unit/run.h"
#include <string.h>

/* clang-format off */
static const struct {
    const char *text;
    const char *want; /* FIPS 180-4 examples */
} rows[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
};
/* clang-format on */

START_TEST(gives_published_digests)
{
    struct digest d = hash_of(rows[_i].text, strlen(rows[_i].text));

    ck_assert_str_eq(d.hex, rows[_i].want);
}
END_TEST

START_TEST(pieces_make_the_whole)
{
    struct hash *h = hash_new();

    hash_add(h, "a", 1);
    hash_add(h, NULL, 0);
    hash_add(h, "bc", 2);
    struct digest d = hash_end(h);
    ck_assert_str_eq(d.hex, rows[1].want);
}
END_TEST

START_TEST(random_hex_fills_exactly)
{
    char a[33], b[33];

    memset(a, 'x', sizeof(a));
    random_hex(a, 16);
    random_hex(b, 16);
    ck_assert_uint_eq(strlen(a), 32);
    ck_assert_uint_eq(strspn(a, "0123456789abcdef"), 32);
    ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(mix64_is_splitmix)
{
    /* First outputs of the reference generator (prng.di.unimi.it/splitmix64.c) from state 0: its
     * n-th output mixes n times the increment. */
    ck_assert_uint_eq(mix64(0), UINT64_C(0xe220a8397b1dcdaf));
    ck_assert_uint_eq(mix64(UINT64_C(0x9e3779b97f4a7c15)), UINT64_C(0x6e789e6aa1b965f4));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {gives_published_digests, LEN(rows)},
        {pieces_make_the_whole, 1},
        {random_hex_fills_exactly, 1},
        {mix64_is_splitmix, 1},
    };
    return unit_run("hash", tests, LEN(tests));
}
