/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "unit/run.h"
#include <string.h>

START_TEST(an_empty_one_is_an_empty_string)
{
    struct buf b = {0};

    ck_assert_str_eq(buf_str(&b), "");
    AUTO(mem_free) char *s = buf_take(&b);
    ck_assert_str_eq(s, "");
    ck_assert_uint_eq(b.len, 0);
}
END_TEST

START_TEST(grows_and_stays_terminated)
{
    AUTO(buf_fini) struct buf b = {0};

    for (int i = 0; i < 10000; i++) {
        buf_addc(&b, 'x');
        ck_assert_int_eq(b.data[b.len], '\0');
    }
    buf_printf(&b, "%d-%s", 7, "y");
    ck_assert_uint_eq(b.len, 10003);
    ck_assert_str_eq(buf_str(&b) + 10000, "7-y");
    buf_drop(&b, 10001);
    ck_assert_str_eq(buf_str(&b), "-y");
    buf_clear(&b);
    ck_assert_str_eq(buf_str(&b), "");
}
END_TEST

START_TEST(room_may_be_used_in_part)
{
    AUTO(buf_fini) struct buf b = {0};

    memcpy(buf_room(&b, 100), "abcdef", 6);
    b.len += 3;
    ck_assert_str_eq(buf_str(&b), "abc");
    buf_adds(&b, "!");
    ck_assert_str_eq(buf_str(&b), "abc!");
}
END_TEST

START_TEST(holds_nul_bytes)
{
    AUTO(buf_fini) struct buf b = {0};

    buf_add(&b, "a\0b", 3);
    buf_add(&b, NULL, 0);
    ck_assert_uint_eq(b.len, 3);
    ck_assert_int_eq(memcmp(b.data, "a\0b", 4), 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {an_empty_one_is_an_empty_string, 1},
        {grows_and_stays_terminated, 1},
        {room_may_be_used_in_part, 1},
        {holds_nul_bytes, 1},
    };
    return unit_run("buf", tests, LEN(tests));
}
