/* SPDX-License-Identifier: Apache-2.0 */
/** The server on a real socket, turn by turn; the other end is bytes written by hand. */
#include "api/listen.h"
#include "api/server.h"
#include "fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct place {
    struct desk *desk;
    struct server *server;
    char *path;
};

static struct place place_new(void)
{
    struct place p = {.desk = desk_new()};
    int fd;

    p.path = path_join(p.desk->dir, "socket");
    OK(server_new(&p.desk->service, &p.server, e));
    OK(listen_unix(p.path, &fd, e));
    OK(server_listen(p.server, fd, LISTENER_PRIVATE, e));
    return p;
}

static void place_fini(struct place *p)
{
    server_free(p->server);
    desk_free(p->desk);
    mem_free(p->path);
}
DEFINE_AUTO_FINI(struct place, place_fini)

static int dial(const struct place *p)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->path);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* One turn, as the daemon takes it. */
static void turn(struct place *p, bool is_committed, struct mono now)
{
    struct pollfd f = {.fd = server_fd(p->server), .events = POLLIN};

    (void)poll(&f, 1, 5);
    server_receive(p->server);
    server_handle(p->server, now);
    server_release(p->server, is_committed, now);
}

static void turns(struct place *p, int n)
{
    for (int i = 0; i < n; i++)
        turn(p, true, mono_now());
}

/* What has come so far; -1 in *ended_by: the line is still open. */
static void take(int fd, struct buf *out, bool *has_ended)
{
    for (;;) {
        ssize_t n = recv(fd, buf_room(out, 65536), 65536, 0);
        if (n > 0) {
            out->len += (size_t)n;
            continue;
        }
        *has_ended = n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        return;
    }
}

#define GET(path)        "GET " path " HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST(path, body) "POST " path " HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n" body
#define TAKER            "{\"worker\":\"w\",\"host\":\"h\",\"platform\":\"p\",\"tags\":[]}"

static void expect(int fd, struct place *p, const char *text)
{
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended = false;

    for (int i = 0; i < 50 && !strstr(buf_str(&got), text); i++) {
        turns(p, 1);
        take(fd, &got, &has_ended);
    }
    ck_assert_msg(strstr(buf_str(&got), text), "no \"%s\" in \"%s\"", text, buf_str(&got));
}

START_TEST(a_request_is_answered_after_the_commit)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);

    put(fd, GET("/healthz"));
    expect(fd, &p, "\"status\":\"ok\"");
}
END_TEST

START_TEST(nobody_is_told_of_what_was_not_committed)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended;

    put(fd, "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
    for (int i = 0; i < 20; i++)
        turn(&p, false, mono_now());
    take(fd, &got, &has_ended);
    ck_assert_int_eq(p.desk->n_created, 1);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), " 503 "));
    ck_assert_ptr_nonnull(strstr(buf_str(&got), "nothing was changed"));
}
END_TEST

START_TEST(requests_sent_at_once_are_answered_in_order)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended = false;

    put(fd, GET("/healthz") GET("/api/v1/nope") GET("/api/v1/projects"));
    for (int i = 0; i < 40; i++) {
        turns(&p, 1);
        take(fd, &got, &has_ended);
    }
    const char *one = strstr(buf_str(&got), " 200 ");
    const char *two = strstr(buf_str(&got), " 404 ");
    ck_assert(one && two && one < two && strstr(two, "\"items\":[]"));
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *bytes;
    bool ends; /* the line is closed, or an error is answered */
} rubbish[] = {
    {"no HTTP",            "hello\r\n\r\n", true},
    {"half a request line","GET /heal", false},
    {"half a head",        "GET /healthz HTTP/1.1\r\nHost: x\r\nA: ", false},
    {"half a body",        "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{", false},
    {"a length of words",  "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n{}", true},
    {"a broken chunk",     "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", true},
    {"bytes",              "\x01\x02\xff\xfe\r\n\r\n", true},
    {"nothing",            "", false},
};
/* clang-format on */

START_TEST(rubbish_ends_its_own_line_alone)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int bad = dial(&p);
    AUTO(fd_close) int good = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended = false;

    put(bad, rubbish[_i].bytes);
    turns(&p, 10);
    take(bad, &got, &has_ended);
    ck_assert_msg((has_ended || strstr(buf_str(&got), " 400 ")) == rubbish[_i].ends, "%s: %s",
                  rubbish[_i].name, buf_str(&got));
    put(good, GET("/healthz"));
    expect(good, &p, "\"status\":\"ok\"");
    ck_assert_int_eq(p.desk->n_created, 0);
}
END_TEST

START_TEST(a_large_body_is_refused_and_the_refusal_seen)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    AUTO(mem_free) char *block = mem_array(1, 65536);
    bool has_ended = false;
    size_t left = 2000000;

    put(fd, "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    for (int i = 0; i < 500 && left; i++) {
        ssize_t n = send(fd, block, left < 65536 ? left : 65536, MSG_NOSIGNAL);
        left -= n > 0 ? (size_t)n : 0;
        turns(&p, 1);
    }
    turns(&p, 10);
    take(fd, &got, &has_ended);
    ck_assert_uint_eq(left, 0);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), " 413 "));
}
END_TEST

START_TEST(who_asks_first_need_not_send_a_body_in_vain)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);

    put(fd, "POST /api/v1/bisections HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n"
            "Expect: 100-continue\r\n\r\n");
    expect(fd, &p, " 413 ");
}
END_TEST

START_TEST(a_waiting_worker_gets_the_next_task)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    struct mono at;

    put(fd, POST("/api/v1/leases?wait=20", TAKER));
    turns(&p, 5);
    ck_assert(!server_is_busy(p.server, mono_now()));
    ck_assert(server_deadline(p.server, mono_now(), &at));
    p.desk->has_task = true;
    server_wake_workers(p.server);
    expect(fd, &p, "{\"worker\":\"w\"}");
    ck_assert_uint_eq(server_n_clients(p.server), 0);
}
END_TEST

START_TEST(a_worker_that_left_gets_none)
{
    AUTO(place_fini) struct place p = place_new();
    int gone = dial(&p);

    put(gone, POST("/api/v1/leases?wait=20", TAKER));
    turns(&p, 5);
    fd_close(gone);
    turns(&p, 5);
    p.desk->has_task = true;
    server_wake_workers(p.server);
    turns(&p, 5);
    ck_assert(p.desk->has_task);
}
END_TEST

START_TEST(a_wait_has_an_end)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended;

    put(fd, POST("/api/v1/leases?wait=20", TAKER));
    turns(&p, 5);
    struct mono later = {mono_now().ns + 21 * NS_PER_S};
    ck_assert(server_is_busy(p.server, later));
    turn(&p, true, later);
    turns(&p, 3);
    take(fd, &got, &has_ended);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), " 204 "));
}
END_TEST

START_TEST(a_follower_is_told_until_the_end)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended;

    put(fd, GET("/api/v1/bisections/b1/events"));
    expect(fd, &p, "event: progress\ndata: {\"id\":\"b1\",\"state\":\"running\"}\n\n");
    server_publish(p.server, "b2");
    turns(&p, 5);
    take(fd, &got, &has_ended);
    ck_assert_uint_eq(got.len, 0);

    struct mono now = {mono_now().ns + 16 * NS_PER_S};
    turn(&p, true, now);
    turns(&p, 3);
    take(fd, &got, &has_ended);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), ":\n\n"));

    p.desk->is_over = true;
    server_publish(p.server, "b1");
    now.ns += NS_PER_S;
    turn(&p, true, now);
    turns(&p, 3);
    buf_clear(&got);
    take(fd, &got, &has_ended);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&got), "event: done\ndata: {\"id\":\"b1\",\"state\":\"done\"}"));
    ck_assert_ptr_nonnull(strstr(buf_str(&got), "0\r\n\r\n")); /* the last chunk */
}
END_TEST

START_TEST(a_follower_that_reads_nothing_holds_nobody_up)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int deaf = dial(&p);
    AUTO(fd_close) int fd = dial(&p);
    struct mono now = mono_now();

    put(deaf, GET("/api/v1/bisections/b1/events"));
    turns(&p, 5);
    for (int i = 0; i < 20000; i++) {
        server_publish(p.server, "b1");
        now.ns += NS_PER_S;
        server_receive(p.server);
        server_release(p.server, true, now);
    }
    put(fd, GET("/healthz"));
    expect(fd, &p, "\"status\":\"ok\"");
}
END_TEST

START_TEST(followers_have_a_limit)
{
    AUTO(place_fini) struct place p = place_new();
    int fds[4];

    for (int i = 0; i < 4; i++) {
        fds[i] = dial(&p);
        put(fds[i], GET("/api/v1/bisections/b1/events"));
        expect(fds[i], &p, i < 3 ? "event: progress" : " 429 ");
    }
    for (int i = 0; i < 4; i++)
        fd_close(fds[i]);
}
END_TEST

START_TEST(followers_that_come_at_once_have_the_same_limit)
{
    AUTO(place_fini) struct place p = place_new();
    int fds[8];
    int n_refused = 0;

    for (int i = 0; i < 8; i++) {
        fds[i] = dial(&p);
        put(fds[i], GET("/api/v1/bisections/b1/events"));
    }
    turns(&p, 20);
    for (int i = 0; i < 8; i++) {
        AUTO(buf_fini) struct buf got = {0};
        bool has_ended;
        take(fds[i], &got, &has_ended);
        n_refused += strstr(buf_str(&got), " 429 ") != NULL;
        fd_close(fds[i]);
    }
    ck_assert_int_eq(n_refused, 5);
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *path, *says;
} escapes[] = {
    {"a letter",            GET("/api/v1/bisections/%62%31"),      " 200 "},
    {"a NUL hides nothing", GET("/api/v1/bisections/b1%00foo"),    " 404 "},
    {"nor at the end",      GET("/api/v1/bisections/b1%00"),       " 404 "},
    {"nor in a query",      GET("/api/v1/bisections?limit=1%00x"), " 400 "},
    {"half an escape",      GET("/api/v1/bisections/b1%6"),        " 404 "},
    {"no hex at all",       GET("/api/v1/bisections/b1%zz"),       " 404 "},
};
/* clang-format on */

START_TEST(escapes_are_read_whole)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);

    put(fd, escapes[_i].path);
    expect(fd, &p, escapes[_i].says);
}
END_TEST

START_TEST(half_an_upload_of_an_earlier_life_goes)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(mem_free) char *folder = path_join(d->dir, "artifacts");
    AUTO(mem_free) char *half = path_join(folder, ".upload-abc");
    AUTO(mem_free) char *other = path_join(folder, "ab");
    AUTO(server_free) struct server *s = NULL;

    OK(file_mkdirs(folder, 0700, e));
    OK(file_write(half, "x", 1, 0600, e));
    OK(file_write(other, "x", 1, 0600, e));
    OK(server_new(&d->service, &s, e));
    ck_assert(!file_exists(half));
    ck_assert(file_exists(other));
}
END_TEST

START_TEST(clients_are_counted_without_workers)
{
    AUTO(place_fini) struct place p = place_new();
    int client = dial(&p);
    AUTO(fd_close) int worker = dial(&p);

    put(worker, POST("/api/v1/leases?wait=20", TAKER));
    turns(&p, 5);
    ck_assert_uint_eq(server_n_clients(p.server), 1);
    ck_assert(!server_has_served(p.server));
    put(client, GET("/api/v1/bisections/b1/events"));
    turns(&p, 5);
    ck_assert_uint_eq(server_n_clients(p.server), 1);
    fd_close(client);
    turns(&p, 5);
    ck_assert_uint_eq(server_n_clients(p.server), 0);
    ck_assert(server_has_served(p.server));
}
END_TEST

START_TEST(draining_answers_who_waits)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int worker = dial(&p);
    AUTO(fd_close) int follower = dial(&p);
    AUTO(buf_fini) struct buf told = {0};
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended;

    put(worker, POST("/api/v1/leases?wait=20", TAKER));
    put(follower, GET("/api/v1/bisections/b1/events"));
    turns(&p, 5);
    server_drain(p.server, NS_PER_S);
    take(worker, &told, &has_ended);
    ck_assert_ptr_nonnull(strstr(buf_str(&told), " 503 "));
    take(follower, &got, &has_ended);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), "0\r\n\r\n"));
}
END_TEST

START_TEST(a_refusing_server_still_answers)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(fd_close) int fd = dial(&p);
    AUTO(buf_fini) struct buf got = {0};
    bool has_ended;

    put(fd, GET("/healthz"));
    for (int i = 0; i < 10; i++) {
        struct pollfd f = {.fd = server_fd(p.server), .events = POLLIN};
        (void)poll(&f, 1, 5);
        server_receive(p.server);
        server_refuse(p.server);
        server_release(p.server, false, mono_now());
    }
    take(fd, &got, &has_ended);
    ck_assert_ptr_nonnull(strstr(buf_str(&got), " 503 "));
}
END_TEST

/* -- sockets -- */

START_TEST(the_private_socket_is_for_its_owner)
{
    AUTO(place_fini) struct place p = place_new();
    struct stat st;

    ck_assert_int_eq(stat(p.path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0600);
}
END_TEST

/* clang-format off */
static const struct {
    const char *address;
    enum err_code code;
} addresses[] = {
    {"127.0.0.1:0", ERR_OK},       {":0", ERR_OK},
    {"", ERR_INVALID},             {"127.0.0.1", ERR_INVALID},
    {"127.0.0.1:", ERR_INVALID},   {"127.0.0.1:x", ERR_INVALID},
    {"127.0.0.1:65536", ERR_INVALID}, {"127.0.0.1:-1", ERR_INVALID},
    {"::1:80", ERR_INVALID},       {"[::1:80", ERR_INVALID},
    {"no such host:80", ERR_INVALID}, {"192.0.2.1:0", ERR_IO},
};
/* clang-format on */

START_TEST(an_address_is_listened_on)
{
    struct err e = {0};
    int fd = -1;
    char *where = NULL;

    enum err_code code = listen_tcp(addresses[_i].address, &fd, &where, &e);
    ck_assert_msg(code == addresses[_i].code, "%s: %s", addresses[_i].address, e.text);
    fd_close(fd);
    mem_free(where);
}
END_TEST

START_TEST(a_port_in_use_is_told)
{
    struct err why = {0};
    AUTO(fd_close) int fd = -1;
    AUTO(mem_free) char *where = NULL;
    AUTO(mem_free) char *again = NULL;
    int other;

    OK(listen_tcp("127.0.0.1:0", &fd, &where, e));
    ck_assert_int_eq(listen_tcp(where, &other, &again, &why), ERR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(why.text, "in use"));
    ck_assert_ptr_nonnull(strstr(why.hint, "--listen"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_request_is_answered_after_the_commit, 1},
        {nobody_is_told_of_what_was_not_committed, 1},
        {requests_sent_at_once_are_answered_in_order, 1},
        {rubbish_ends_its_own_line_alone, LEN(rubbish)},
        {a_large_body_is_refused_and_the_refusal_seen, 1},
        {who_asks_first_need_not_send_a_body_in_vain, 1},
        {a_waiting_worker_gets_the_next_task, 1},
        {a_worker_that_left_gets_none, 1},
        {a_wait_has_an_end, 1},
        {a_follower_is_told_until_the_end, 1},
        {a_follower_that_reads_nothing_holds_nobody_up, 1},
        {followers_have_a_limit, 1},
        {followers_that_come_at_once_have_the_same_limit, 1},
        {escapes_are_read_whole, LEN(escapes)},
        {half_an_upload_of_an_earlier_life_goes, 1},
        {clients_are_counted_without_workers, 1},
        {draining_answers_who_waits, 1},
        {a_refusing_server_still_answers, 1},
        {the_private_socket_is_for_its_owner, 1},
        {an_address_is_listened_on, LEN(addresses)},
        {a_port_in_use_is_told, 1},
    };
    return unit_run("api/server", tests, LEN(tests));
}
