/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/sse.h"
#include <check.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *stream;
    const char *want; /* name=data, one event after another, in brackets */
} rows[] = {
    {"an event has a name and data",        "event: progress\ndata: {}\n\n", "[progress={}]"},
    {"no name is message",                  "data: a\n\n", "[message=a]"},
    {"lines of data are joined",            "data: a\ndata: b\n\n", "[message=a\nb]"},
    {"one blank after the colon goes",      "data:  a\n\ndata:b\n\n", "[message= a][message=b]"},
    {"comments are nothing",                ":\n: hello\n\ndata: a\n\n", "[message=a]"},
    {"CR LF and CR end lines",              "data: a\r\n\r\ndata: b\r\r", "[message=a][message=b]"},
    {"a name without data is an event",     "event: done\n\n", "[done=]"},
    {"empty data is an event",              "event: done\ndata:\n\n", "[done=]"},
    {"other fields are nothing",            "id: 7\nretry: 5\nfoo\n\ndata: a\n\n", "[message=a]"},
    {"an event without its end is none",    "data: a\n", ""},
    {"a byte order mark goes",              "\xEF\xBB\xBF" "data: a\n\n", "[message=a]"},
    {"names do not stick",                  "event: x\ndata: a\n\ndata: b\n\n", "[x=a][message=b]"},
    {"blank lines alone are nothing",       "\n\n\n", ""},
    {"a field without a colon is its name", "data\ndata: b\n\n", "[message=\nb]"},
};
/* clang-format on */

static bool note(void *context, const char *name, const char *data, size_t n)
{
    ck_assert_uint_eq(strlen(data), n);
    buf_printf(context, "[%s=%s]", name, data);
    return true;
}

START_TEST(events_come_whole_in_any_pieces)
{
    size_t n = strlen(rows[_i].stream);

    for (size_t piece = 1; piece <= n; piece++) {
        AUTO(sse_fini) struct sse s;
        AUTO(buf_fini) struct buf got = {0};
        struct err e = {0};
        bool stopped;
        sse_init(&s, 1000);
        for (size_t at = 0; at < n; at += piece) {
            size_t now = n - at < piece ? n - at : piece;
            ck_assert_int_eq(sse_feed(&s, rows[_i].stream + at, now, note, &got, &stopped, &e),
                             ERR_OK);
        }
        ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s in pieces of %zu: %s",
                      rows[_i].name, piece, buf_str(&got));
    }
}
END_TEST

START_TEST(limits_are_errors)
{
    static const char *const streams[] = {"data: 0123456789012345678901234567890\n\n",
                                          "data: 01234567890\ndata: 01234567890\n\n"};
    struct err e = {0};
    AUTO(sse_fini) struct sse s;
    AUTO(buf_fini) struct buf got = {0};
    bool stopped;

    sse_init(&s, 20);
    ck_assert_int_eq(sse_feed(&s, streams[_i], strlen(streams[_i]), note, &got, &stopped, &e),
                     ERR_LIMIT);
    ck_assert_str_eq(buf_str(&got), "");
}
END_TEST

static bool stop(void *context, const char *name, const char *data, size_t n)
{
    note(context, name, data, n);
    return false;
}

START_TEST(a_stop_is_heeded_at_once)
{
    static const char stream[] = "data: a\n\ndata: b\n\n";
    struct err e = {0};
    AUTO(sse_fini) struct sse s;
    AUTO(buf_fini) struct buf got = {0};
    bool stopped = false;

    sse_init(&s, 100);
    ck_assert_int_eq(sse_feed(&s, stream, strlen(stream), stop, &got, &stopped, &e), ERR_OK);
    ck_assert(stopped);
    ck_assert_str_eq(buf_str(&got), "[message=a]");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("sse");
    TCase *tc = tcase_create("sse");

    tcase_add_loop_test(tc, events_come_whole_in_any_pieces, 0, LEN(rows));
    tcase_add_loop_test(tc, limits_are_errors, 0, 2);
    tcase_add_test(tc, a_stop_is_heeded_at_once);
    suite_add_tcase(s, tc);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
