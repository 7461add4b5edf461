/* SPDX-License-Identifier: Apache-2.0 */
/* Against a server that answers each connection with the next of a list of scripted answers. */
#include "base/file.h"
#include "base/mem.h"
#include "wire/http.h"
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OK_HEAD "HTTP/1.1 200 OK\r\nConnection: close\r\n"

/** One connection: what is sent, then after a pause the rest, then it closes. */
struct answer {
    const char *first;
    int pause_ms;
    const char *rest;
    size_t n_filler; /* bytes of 'x' behind it */
};

struct seen {
    int n_requests;
    char last[8192]; /* the last request, head and body */
};

static struct seen *seen; /* shared with the server's process */
static pid_t server;
static char base[128], folder[64];

static void read_request(int fd, char *text, size_t size)
{
    size_t n = 0, want = 0;

    while (n < size - 1) {
        ssize_t got = read(fd, text + n, size - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        text[n] = '\0';
        char *end = strstr(text, "\r\n\r\n");
        char *length = strstr(text, "Content-Length: ");
        if (end && length)
            want = strtoul(length + 16, NULL, 10);
        if (end && n >= (size_t)(end + 4 - text) + want)
            break;
    }
    text[n] = '\0';
}

static void say(int fd, const char *s)
{
    if (s && write(fd, s, strlen(s)) < 0)
        return;
}

_Noreturn static void serve(int listener, const struct answer *answers, size_t n_answers)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0;; i++) {
        int fd = accept(listener, NULL, NULL);
        const struct answer *a = &answers[i < n_answers ? i : n_answers - 1];
        read_request(fd, seen->last, sizeof(seen->last));
        seen->n_requests++;
        say(fd, a->first);
        usleep((useconds_t)a->pause_ms * 1000);
        say(fd, a->rest);
        for (size_t n = 0; n < a->n_filler; n++)
            say(fd, "x");
        close(fd);
    }
}

enum way { BY_TCP, BY_UNIX };

static void start(const struct answer *answers, size_t n, enum way way)
{
    int listener = socket(way == BY_UNIX ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

    if (way == BY_UNIX) {
        struct sockaddr_un u = {.sun_family = AF_UNIX};
        snprintf(u.sun_path, sizeof(u.sun_path), "%s/socket", folder);
        snprintf(base, sizeof(base), "unix:%s/socket", folder);
        ck_assert_int_eq(bind(listener, (struct sockaddr *)&u, sizeof(u)), 0);
    } else {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof(in);
        ck_assert_int_eq(bind(listener, (struct sockaddr *)&in, sizeof(in)), 0);
        getsockname(listener, (struct sockaddr *)&in, &size);
        snprintf(base, sizeof(base), "http://127.0.0.1:%u", ntohs(in.sin_port));
    }
    ck_assert_int_eq(listen(listener, 16), 0);
    server = fork();
    if (server == 0)
        serve(listener, answers, n);
    close(listener);
}

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/http-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* must not matter for the loopback */
}

static void teardown(void)
{
    struct err e;

    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    munmap(seen, sizeof(*seen));
    ck_assert_int_eq(file_remove_tree(folder, &e), ERR_OK);
}

static struct http *client(int64_t retry_ns)
{
    struct http *h = NULL;
    struct err e = {0};
    struct http_options o = {
        .base = base, .token = "secret", .retry_ns = retry_ns, .timeout_ns = NS_PER_S};

    ck_assert_msg(http_new(&o, &h, &e) == ERR_OK, "%s", e.text);
    return h;
}

START_TEST(a_call_goes_there_and_back)
{
    static const struct answer answers[] = {
        {.first = OK_HEAD "Content-Length: 8\r\n\r\n{\"a\":42}"}};
    AUTO(json_free) json *body = json_put(json_new_object(), "q", json_new_int(7));
    AUTO(json_free) json *got = NULL;
    struct err e = {0};

    start(answers, 1, _i ? BY_UNIX : BY_TCP);
    AUTO(http_free) struct http *h = client(0);
    ck_assert_msg(http_post(h, "/api/v1/x?y=1", body, &got, &e) == ERR_OK, "%s", e.text);
    ck_assert_int_eq(json_int(json_at(got, "a"), 0), 42);
    ck_assert_ptr_nonnull(strstr(seen->last, "POST /api/v1/x?y=1 HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(seen->last, "\r\nAuthorization: Bearer secret\r\n"));
    ck_assert_ptr_nonnull(strstr(seen->last, "\r\nContent-Type: application/json\r\n"));
    ck_assert_ptr_nonnull(strstr(seen->last, "\r\n\r\n{\"q\":7}"));
}
END_TEST

/* clang-format off */
#define STATUS(s) "HTTP/1.1 " s "\r\nConnection: close\r\n"
#define BODY(b)   "\r\n" b
static const struct {
    const char *name;
    struct answer answer;
    enum err_code code;
    int sys;
    const char *text, *hint; /* parts */
} bad_rows[] = {
    {"the error document speaks",
     {.first = STATUS("400 Bad Request") BODY("{\"error\":{\"code\":\"invalid\",\"message\":\"no \\u001b[31mgood\",\"hint\":\"give one\"}}")},
     ERR_INVALID, 400, "good", "give one"},
    {"a conflict is one",      {.first = STATUS("409 Conflict") BODY("{\"error\":{\"message\":\"stale fence\"}}")}, ERR_CONFLICT, 409, "stale fence", ""},
    {"denied is denied",       {.first = STATUS("401 Unauthorized") BODY("")}, ERR_DENIED, 401, "HTTP status 401", ""},
    {"not found is not found", {.first = STATUS("404 Not Found") BODY("<html>")}, ERR_NOT_FOUND, 404, "HTTP status 404", ""},
    {"too large is a limit",   {.first = STATUS("413 Too Large") BODY("")}, ERR_LIMIT, 413, "413", ""},
    {"a server's failure is the peer's", {.first = STATUS("500 Oops") BODY("{}")}, ERR_PEER, 500, "500", ""},
    {"a redirection is not followed", {.first = STATUS("302 Found") "Location: http://127.0.0.1:1/\r\n" BODY("")}, ERR_PEER, 302, "302", ""},
    {"an answer that is not JSON",    {.first = OK_HEAD "\r\n<html>"}, ERR_PEER, 200, "not JSON", ""},
    {"an answer cut short",    {.first = OK_HEAD "Content-Length: 50\r\n\r\n{\"a\":"}, ERR_PEER, 18, "broke off", ""},
    {"no answer at all",       {.first = ""}, ERR_PEER, 52, "broke off", ""},
    {"garbage for a head",     {.first = "\x16\x03\x01\x02 garbage\r\n\r\n"}, ERR_PEER, 1, "cannot talk to", ""},
    {"silence",                {.first = "", .pause_ms = 3000}, ERR_TIMEOUT, 28, "in time", ""},
    {"an answer that never ends", {.first = OK_HEAD "\r\n", .n_filler = 300000}, ERR_LIMIT, 0, "over its limit of 100000 bytes", ""},
};
/* clang-format on */

START_TEST(what_goes_wrong_is_told_apart)
{
    const char *name = bad_rows[_i].name;
    struct http_request r = {.path = "/x", .max_bytes = 100000};
    json *got = NULL;
    struct err e = {0};

    start(&bad_rows[_i].answer, 1, BY_TCP);
    AUTO(http_free) struct http *h = client(0);
    enum err_code code = http_call(h, &r, NULL, &got, &e);
    ck_assert_msg(code == bad_rows[_i].code && e.code == code, "%s: %s: %s", name, err_name(code),
                  e.text);
    ck_assert_msg(e.sys == bad_rows[_i].sys, "%s: %d %s", name, e.sys, e.text);
    ck_assert_msg(strstr(e.text, bad_rows[_i].text) != NULL, "%s: %s", name, e.text);
    ck_assert_msg(strstr(e.hint, bad_rows[_i].hint) != NULL, "%s: %s", name, e.hint);
    ck_assert_msg(strchr(e.text, '\x1b') == NULL, "%s", name);
    ck_assert_ptr_null(got);
}
END_TEST

START_TEST(what_is_idempotent_is_tried_again)
{
    static const struct answer answers[] = {
        {.first = ""},
        {.first = STATUS("503 Busy") BODY("")},
        {.first = OK_HEAD "Content-Length: 30\r\n\r\n{\"half\":"},
        {.first = OK_HEAD "\r\n{\"a\":1}"}};
    /* clang-format off */
    static const struct {
        struct http_request r;
        bool is_repeated;
    } calls[] = {
        {{.method = HTTP_GET, .path = "/x"}, true},
        {{.method = HTTP_PUT, .path = "/x"}, true},
        {{.method = HTTP_DELETE, .path = "/x"}, true},
        {{.method = HTTP_POST, .path = "/x"}, false},
        {{.method = HTTP_POST, .path = "/x", .repeat = HTTP_REPEAT_SAFE}, true},
        {{.method = HTTP_GET, .path = "/x", .repeat = HTTP_REPEAT_NEVER}, false},
    };
    /* clang-format on */
    AUTO(json_free) json *got = NULL;
    struct err e = {0};

    start(answers, LEN(answers), BY_TCP);
    AUTO(http_free) struct http *h = client(10 * NS_PER_S);
    enum err_code code = http_call(h, &calls[_i].r, NULL, &got, &e);
    ck_assert_int_eq(code, calls[_i].is_repeated ? ERR_OK : ERR_PEER);
    ck_assert_int_eq(seen->n_requests, calls[_i].is_repeated ? 4 : 1);
    ck_assert_int_eq(json_int(json_at(got, "a"), 0), calls[_i].is_repeated ? 1 : 0);
}
END_TEST

START_TEST(a_server_that_is_not_there_is_waited_for)
{
    struct err e = {0};
    int64_t begin = mono_now().ns;

    snprintf(base, sizeof(base), "unix:%s/nobody", folder);
    AUTO(http_free) struct http *h = client(NS_PER_S);
    ck_assert_int_eq(http_post(h, "/x", NULL, NULL, &e), ERR_PEER);
    ck_assert_msg(strstr(e.text, "cannot talk to unix:") != NULL, "%s", e.text);
    ck_assert_int_gt(mono_now().ns - begin, NS_PER_S / 4);
    ck_assert_int_lt(mono_now().ns - begin, 3 * NS_PER_S);
}
END_TEST

static enum http_go stop_third(void *context)
{
    return ++*(int *)context >= 3 ? HTTP_STOP : HTTP_GO_ON;
}

START_TEST(a_call_can_be_stopped)
{
    static const struct answer answers[] = {{.first = "", .pause_ms = 5000}};
    int n_ticks = 0;
    struct err e = {0};
    int64_t begin = mono_now().ns;

    start(answers, 1, BY_TCP);
    struct http_options o = {.base = base, .tick = stop_third, .context = &n_ticks};
    AUTO(http_free) struct http *h = NULL;
    ck_assert_int_eq(http_new(&o, &h, &e), ERR_OK);
    ck_assert_int_eq(http_get(h, "/x", NULL, &e), ERR_TIMEOUT);
    ck_assert_str_eq(e.text, "stopped");
    int64_t took = mono_now().ns - begin;
    ck_assert_int_ge(took, 200 * NS_PER_MS);
    ck_assert_int_le(took, 2000 * NS_PER_MS);
}
END_TEST

START_TEST(files_go_up_and_down)
{
    static const struct answer answers[] = {
        {.first = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"},
        {.first = STATUS("502 Bad") BODY("nothing")},
        {.first = OK_HEAD "Content-Length: 12\r\n\r\nhel"},
        {.first = OK_HEAD "Content-Length: 12\r\n\r\nhello", .pause_ms = 50, .rest = " world\n"},
        {.first = OK_HEAD "\r\n", .n_filler = 2000}};
    AUTO(mem_free) char *path = path_join(folder, "file");
    struct err e = {0};
    char text[32] = "";

    start(answers, LEN(answers), BY_TCP);
    AUTO(http_free) struct http *h = client(10 * NS_PER_S);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    ck_assert_int_eq(write(fd, "some bytes", 10), 10);
    ck_assert_msg(http_upload_fd(h, "/up", fd, &e) == ERR_OK, "%s", e.text);
    ck_assert_ptr_nonnull(strstr(seen->last, "PUT /up HTTP/1.1\r\n"));
    ck_assert_ptr_nonnull(strstr(seen->last, "\r\n\r\nsome bytes"));
    ck_assert_int_eq(ftruncate(fd, 0), 0);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_msg(http_download_fd(h, "/down", fd, 1000, &e) == ERR_OK, "%s", e.text);
    ck_assert_int_eq(pread(fd, text, sizeof(text), 0), 12);
    ck_assert_str_eq(text, "hello world\n");
    ck_assert_int_eq(http_download_fd(h, "/down", fd, 1000, &e), ERR_LIMIT);
    close(fd);
}
END_TEST

struct heard {
    struct buf text;
    int n_ticks;
};

static enum http_go hear(void *context, const char *name, const char *data, size_t n)
{
    struct heard *heard = context;

    (void)n;
    buf_printf(&heard->text, "[%s=%s]", name, data);
    return strcmp(name, "done") == 0 ? HTTP_STOP : HTTP_GO_ON;
}

static enum http_go count(void *context)
{
    ((struct heard *)context)->n_ticks++;
    return HTTP_GO_ON;
}

START_TEST(events_are_followed_to_the_end)
{
    static const struct answer answers[] = {
        {.first = OK_HEAD "Content-Type: text/event-stream\r\n\r\nevent: progress\nda",
         .pause_ms = 600,
         .rest = "ta: 1\n\n:\n\nevent: done\ndata: 2\n\nevent: late\ndata: 3\n\n"},
        {.first = OK_HEAD "\r\nevent: progress\ndata: 1\n\n"},
        {.first = STATUS("404 Not Found") BODY("{\"error\":{\"message\":\"no bisection x\"}}")}};
    struct heard heard = {0};
    struct http_listener l = {.event = hear, .tick = count, .context = &heard};
    struct err e = {0};

    start(answers, LEN(answers), BY_TCP);
    AUTO(http_free) struct http *h = client(10 * NS_PER_S);
    ck_assert_msg(http_events(h, "/e", &l, &e) == ERR_OK, "%s", e.text);
    ck_assert_str_eq(buf_str(&heard.text), "[progress=1][done=2]");
    ck_assert_int_ge(heard.n_ticks, 4);
    ck_assert_ptr_nonnull(strstr(seen->last, "\r\nAccept: text/event-stream\r\n"));
    ck_assert_int_eq(http_events(h, "/e", &l, &e), ERR_PEER);
    ck_assert_msg(strstr(e.text, "ended the stream") != NULL, "%s", e.text);
    ck_assert_int_eq(http_events(h, "/e", &l, &e), ERR_NOT_FOUND);
    ck_assert_str_eq(e.text, "no bisection x");
    buf_fini(&heard.text);
}
END_TEST

/* clang-format off */
static const struct {
    const char *base, *token;
    enum err_code code;
} address_rows[] = {
    {"http://127.0.0.1:8641", NULL, ERR_OK},
    {"https://example.org/", "t", ERR_OK},
    {"unix:/run/x/socket", NULL, ERR_OK},
    {"unix:/a b/'\"\\$()\t\x7f \xC3\xA9\xFF/socket", NULL, ERR_OK},
    {"unix:/a\nb", NULL, ERR_INVALID},
    {"", NULL, ERR_INVALID}, {"http://", NULL, ERR_INVALID}, {"http:///x", NULL, ERR_INVALID},
    {"unix:relative", NULL, ERR_INVALID}, {"ftp://x", NULL, ERR_INVALID}, {"localhost:8641", NULL, ERR_INVALID},
    {"http://a b", NULL, ERR_INVALID}, {"http://a\r\nX: y", NULL, ERR_INVALID},
    {"http://a", "", ERR_INVALID}, {"http://a", "x\r\nEvil: 1", ERR_INVALID},
};
/* clang-format on */

START_TEST(addresses_are_checked)
{
    struct http_options o = {.base = address_rows[_i].base, .token = address_rows[_i].token};
    AUTO(http_free) struct http *h = NULL;
    struct err e = {0};

    ck_assert_msg(http_new(&o, &h, &e) == address_rows[_i].code, "%s: %s", o.base, e.text);
    ck_assert(address_rows[_i].code == ERR_OK ? h != NULL : h == NULL && e.text[0]);
    if (!o.token)
        ck_assert_int_eq(http_base_check(o.base, &e), address_rows[_i].code);
}
END_TEST

START_TEST(paths_are_escaped)
{
    AUTO(buf_fini) struct buf b = {0};

    http_escape(&b, "a/b c?d&e=f%\xc3\xa9~._-9Z");
    ck_assert_str_eq(buf_str(&b), "a%2Fb%20c%3Fd%26e%3Df%25%C3%A9~._-9Z");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("http");
    TCase *tc = tcase_create("server");
    TCase *alone = tcase_create("alone");

    tcase_set_timeout(tc, 30);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_call_goes_there_and_back, 0, 2);
    tcase_add_loop_test(tc, what_goes_wrong_is_told_apart, 0, LEN(bad_rows));
    tcase_add_loop_test(tc, what_is_idempotent_is_tried_again, 0, 6);
    tcase_add_test(tc, a_call_can_be_stopped);
    tcase_add_test(tc, files_go_up_and_down);
    tcase_add_test(tc, events_are_followed_to_the_end);
    suite_add_tcase(s, tc);
    tcase_add_test(alone, a_server_that_is_not_there_is_waited_for);
    tcase_add_loop_test(alone, addresses_are_checked, 0, LEN(address_rows));
    tcase_add_test(alone, paths_are_escaped);
    suite_add_tcase(s, alone);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
