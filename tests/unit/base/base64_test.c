/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"
#include "unit/run.h"
#include <string.h>

/* RFC 4648, section 10; and bytes that are no text. */
/* clang-format off */
static const struct {
    const char *bytes;
    size_t n;
    const char *text;
} rows[] = {
    {"", 0, ""}, {"f", 1, "Zg=="}, {"fo", 2, "Zm8="}, {"foo", 3, "Zm9v"},
    {"foob", 4, "Zm9vYg=="}, {"fooba", 5, "Zm9vYmE="}, {"foobar", 6, "Zm9vYmFy"},
    {"\0\xff\xfe", 3, "AP/+"},
};
static const char *const bad[] = {"Z", "Zg", "Zg=", "Zm9!", "Zm9v\nZ"};
/* clang-format on */

START_TEST(gives_published_text_and_takes_it_back)
{
    AUTO(buf_fini) struct buf text = {0};
    AUTO(buf_fini) struct buf bytes = {0};

    base64_add(&text, rows[_i].bytes, rows[_i].n);
    ck_assert_str_eq(buf_str(&text), rows[_i].text);
    ck_assert(base64_read(&bytes, rows[_i].text, NULL) == ERR_OK);
    ck_assert_uint_eq(bytes.len, rows[_i].n);
    ck_assert(memcmp(buf_str(&bytes), rows[_i].bytes, rows[_i].n) == 0);
    ck_assert_uint_eq(base64_size(rows[_i].text), rows[_i].n);
}
END_TEST

START_TEST(refuses_what_is_none)
{
    AUTO(buf_fini) struct buf bytes = {0};
    struct err e = {0};

    ck_assert_msg(base64_read(&bytes, bad[_i], &e) == ERR_INVALID, "%s", bad[_i]);
    ck_assert_uint_eq(bytes.len, 0);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {gives_published_text_and_takes_it_back, LEN(rows)},
        {refuses_what_is_none, LEN(bad)},
    };
    return unit_run("base64", tests, LEN(tests));
}
