/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "model/ready.h"
#include "unit/run.h"
#include <string.h>

#define ASK(target, host) "GET " target " HTTP/1.0\r\nHost: " host "\r\nConnection: close\r\n\r\n"

/* clang-format off */
static const struct {
    const char *text;
    enum ready_kind kind;
    unsigned port;
    const char *want; /* NULL: no text */
} rows[] = {
    {"exit",                             READY_EXIT, 0,    NULL},
    {"line:listening on: 80",            READY_LINE, 0,    "listening on: 80"},
    {"port:8080",                        READY_PORT, 8080, NULL},
    {"http:http://localhost",            READY_HTTP, 80,   ASK("/", "localhost")},
    {"http:http://localhost:8080/a?b#c", READY_HTTP, 8080, ASK("/a?b", "localhost:8080")},
    {"http:http://127.0.0.1:1?x=:7",     READY_HTTP, 1,    ASK("/?x=:7", "127.0.0.1:1")},
    {"http:http://[::1]:65535/",         READY_HTTP, 65535, ASK("/", "[::1]:65535")},
    {"file:run/pid",                     READY_FILE, 0,    "run/pid"},
    {"file:/tmp/.X11-unix/X9",           READY_FILE, 0,    "/tmp/.X11-unix/X9"},
    {"file:$BISECTD_OUT/up",             READY_FILE, 0,    "$BISECTD_OUT/up"},
};

static const struct {
    const char *text, *want;
} wrong[] = {
    {"",                          "expected exit, line:TEXT, port:N, http:URL or file:PATH"},
    {"ready",                     "expected exit, line:TEXT"},
    {"exit:0",                    "exit takes no value, got 0"},
    {"line:",                     "one line of 1 to 1000 bytes"},
    {"line",                      "one line of 1 to 1000 bytes"},
    {"line:a\nb",                 "one line of 1 to 1000 bytes"},
    {"port:0",                    "a port from 1 to 65535, got 0"},
    {"port:65536",                "a port from 1 to 65535"},
    {"port:",                     "a port from 1 to 65535, got nothing"},
    {"port:http",                 "a port from 1 to 65535"},
    {"http:https://localhost/",   "expected http:URL"},
    {"http:http://localhost/a b", "expected http:URL"},
    {"http:http://localhost/\r\nX: y", "expected http:URL"},
    {"http:http://example.org/",  "a URL of localhost, 127.0.0.1 or [::1]"},
    {"http:http://localhost.example.org/", "a URL of localhost"},
    {"http:http://me@localhost/", "a URL of localhost"},
    {"http:http://[::1",          "a URL of localhost"},
    {"http:http://[::1]x/",       "expected a port from 1 to 65535 in http://[::1]x/"},
    {"http:http://localhost:/",   "expected a port"},
    {"http:http://localhost:99999/", "expected a port"},
    {"http:",                     "expected http:URL"},
    {"file:",                     "expected file:PATH, without .., got nothing"},
    {"file:../up",                "expected file:PATH, without .."},
    {"file:/",                    "expected file:PATH"},
    {"file:$PATH/up",             "of variables, $BISECTD_OUT, $BISECTD_SOURCE, $HOME and $TMPDIR"},
};
/* clang-format on */

START_TEST(ways_are_read)
{
    AUTO(ready_fini) struct ready r = {0};
    struct err e = {0};

    ck_assert_msg(ready_parse(rows[_i].text, &r, &e) == ERR_OK, "%s: %s", rows[_i].text, e.text);
    ck_assert_int_eq(r.kind, rows[_i].kind);
    ck_assert_uint_eq(r.port, rows[_i].port);
    ck_assert_ptr_nonnull(r.words);
    ck_assert_int_eq(r.text != NULL, rows[_i].want != NULL);
    if (r.text)
        ck_assert_str_eq(r.text, rows[_i].want);
}
END_TEST

START_TEST(what_is_wrong_is_explained)
{
    AUTO(ready_fini) struct ready r = {0};
    struct err e = {0};

    ck_assert_msg(ready_parse(wrong[_i].text, &r, &e) == ERR_INVALID, "%s", wrong[_i].text);
    ck_assert_msg(strstr(e.text, wrong[_i].want), "%s: %s", wrong[_i].text, e.text);
    ck_assert_ptr_null(r.text);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {ways_are_read, LEN(rows)},
        {what_is_wrong_is_explained, LEN(wrong)},
    };

    return unit_run("ready", tests, LEN(tests));
}
