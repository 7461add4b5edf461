/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "unit/run.h"
#include <errno.h>
#include <string.h>

START_TEST(wraps_outermost_first)
{
    struct err e = {0};

    ck_assert_int_eq(err_sys(&e, ENOENT, "open %s", "repo"), ERR_NOT_FOUND);
    ck_assert_int_eq(e.sys, ENOENT);
    ck_assert_int_eq(err_wrap(&e, "bisection %d", 42), ERR_NOT_FOUND);
    ck_assert_str_eq(e.text, "bisection 42: open repo: No such file or directory");
    ck_assert_int_eq(err_hint(&e, "Clone %s first.", "it"), ERR_NOT_FOUND);
    ck_assert_str_eq(e.hint, "Clone it first.");
}
END_TEST

START_TEST(setting_forgets_what_was_there)
{
    struct err e = {0};

    err_sys(&e, EACCES, "open");
    err_hint(&e, "old");
    ck_assert_int_eq(err_set(&e, ERR_LIMIT, "full"), ERR_LIMIT);
    ck_assert_int_eq(e.sys, 0);
    ck_assert_str_eq(e.hint, "");
}
END_TEST

START_TEST(may_quote_itself)
{
    struct err e = {0};

    err_set(&e, ERR_IO, "inner");
    err_set(&e, ERR_PEER, "outer (%s)", e.text);
    ck_assert_str_eq(e.text, "outer (inner)");
    err_wrap(&e, "again %s", e.text);
    ck_assert_str_eq(e.text, "again outer (inner): outer (inner)");
}
END_TEST

START_TEST(cuts_between_characters)
{
    struct err e = {0};
    char text[1100] = {0};

    for (size_t i = 0; i + 3 < sizeof(text); i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    err_set(&e, ERR_INVALID, "%s", text); /* room for 1023 bytes: 341 whole signs */
    ck_assert_uint_eq(strlen(e.text), 1023);
    err_set(&e, ERR_INVALID, "x%s", text); /* the last sign would be cut after two bytes */
    ck_assert_uint_eq(strlen(e.text), 1021);
    err_wrap(&e, "y");
    ck_assert_uint_eq(strlen(e.text), 1 + 2 + 1 + 340 * 3 - 3);
}
END_TEST

START_TEST(works_without_a_struct)
{
    ck_assert_int_eq(err_set(NULL, ERR_DENIED, "no"), ERR_DENIED);
    ck_assert_int_eq(err_sys(NULL, EPERM, "no"), ERR_DENIED);
    ck_assert_int_ne(err_wrap(NULL, "no"), ERR_OK);
}
END_TEST

START_TEST(names_every_code)
{
    ck_assert_str_eq(err_name(ERR_NOT_FOUND), "not_found");
    for (int code = 0; code < ERR_COUNT; code++)
        ck_assert_ptr_nonnull(err_name((enum err_code)code));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {wraps_outermost_first, 1},   {setting_forgets_what_was_there, 1}, {may_quote_itself, 1},
        {cuts_between_characters, 1}, {works_without_a_struct, 1},         {names_every_code, 1},
    };
    return unit_run("err", tests, LEN(tests));
}
