/* SPDX-License-Identifier: Apache-2.0 */
/** Who may ask what, how much of it, and how often it counts. */
#include "api/dispatch.h"
#include "api/route.h"
#include "base/stream.h"
#include "fixture.h"
#include "store/db.h"
#include "store/tokens.h"

static struct exchange *ask(struct desk *d, const char *method, const char *path,
                            const struct head *h, const char *body)
{
    struct exchange *x = exchange_new(method, path);

    exchange_admit(x, h, &d->service);
    if (!x->status && body)
        ck_assert(exchange_body(x, body, strlen(body)));
    if (!x->status) {
        x->stage = EXCHANGE_READY;
        exchange_run(x, &d->service);
    }
    return x;
}

static const struct head from_socket = {.is_private = true, .content_bytes = -1};

/* clang-format off */
static const struct {
    const char *name, *method, *path, *body;
    int status;
    const char *says;
} answers[] = {
    {"an unknown path",             "GET",    "/api/v1/nope",         NULL, 404, "openapi.json"},
    {"the root",                    "GET",    "/",                    NULL, 404, "no such path"},
    {"another method",              "PATCH",  "/api/v1/bisections",   NULL, 405, "POST, GET"},
    {"a bisection that is there",   "GET",    "/api/v1/bisections/b1", NULL, 200, "running"},
    {"one that is not",             "GET",    "/api/v1/bisections/b9", NULL, 404, "no bisection b9"},
    {"a new one",                   "POST",   "/api/v1/bisections",   "{}", 201, "\"joined\":false"},
    {"a new one without a body",    "POST",   "/api/v1/bisections",   NULL, 400, "needs a JSON body"},
    {"a list as its body",          "POST",   "/api/v1/bisections",   "[]", 400, "object"},
    {"half a body",                 "POST",   "/api/v1/bisections",   "{\"a\":", 400, "line 1"},
    {"bytes as a body",             "POST",   "/api/v1/bisections",   "\x01\xff", 400, "JSON"},
    {"deep nesting",                "POST",   "/api/v1/bisections",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 400, "deeper"},
    {"no task",                     "POST",   "/api/v1/leases", "{\"worker\":\"w\",\"host\":\"h\",\"platform\":\"p\"}", 204, ""},
    {"a worker without a host",     "POST",   "/api/v1/leases", "{\"worker\":\"w\",\"platform\":\"p\"}", 400, "host"},
    {"a worker without a name",     "POST",   "/api/v1/leases", "{\"worker\":\"\",\"host\":\"h\",\"platform\":\"p\"}", 400, "worker"},
    {"tags that are none",          "POST",   "/api/v1/leases", "{\"worker\":\"w\",\"host\":\"h\",\"platform\":\"p\",\"tags\":[1]}", 400, "tags"},
    {"a lease kept",                "PUT",    "/api/v1/leases/x", "{\"fence\":7}", 200, "\"expires_s\":60"},
    {"a lease lost",                "PUT",    "/api/v1/leases/x", "{\"fence\":8}", 409, "stale"},
    {"a lease without a fence",     "PUT",    "/api/v1/leases/x", "{}", 400, "fence"},
    {"a lease without a body",      "PUT",    "/api/v1/leases/x", NULL, 400, "fence"},
    {"a log without a fence",       "PUT",    "/api/v1/leases/x/log", "text", 400, "fence"},
    {"a result that is none",       "POST",   "/api/v1/leases/x/result", "{}", 400, "fence"},
    {"a result without a body",     "POST",   "/api/v1/leases/x/result", NULL, 400, ""},
    {"an artifact of no name",      "GET",    "/api/v1/artifacts/xyz", NULL, 400, "64 hexadecimal"},
    {"an artifact that climbs",     "PUT",    "/api/v1/artifacts/..",  "x", 400, "64 hexadecimal"},
    {"an artifact that is not",     "GET",    "/api/v1/artifacts/0000000000000000000000000000000000000000000000000000000000000000", NULL, 404, "no artifact"},
    {"a task that is not",          "GET",    "/api/v1/tasks/x",       NULL, 404, "no task"},
    {"a log that is not",           "GET",    "/api/v1/tasks/x/log",   NULL, 404, ""},
    {"samples",                     "GET",    "/api/v1/samples",       NULL, 200, "\"items\":[]"},
    {"samples of no bisection",     "GET",    "/api/v1/bisections/b9/samples", NULL, 404, "no bisection"},
    {"workers",                     "GET",    "/api/v1/workers",       NULL, 200, "\"items\":[]"},
    {"projects",                    "GET",    "/api/v1/projects",      NULL, 200, "\"items\":[]"},
    {"a point",                     "POST",   "/api/v1/points", "{\"project\":\"p\",\"metric\":\"m\",\"platform\":\"x\",\"host\":\"ci\",\"points\":[{\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"at\":\"2026-11-30\",\"value\":7}]}", 200, "{\"added\":1,\"known\":0}"},
    {"a point of no time",          "POST",   "/api/v1/points", "{\"project\":\"p\",\"metric\":\"m\",\"platform\":\"x\",\"host\":\"ci\",\"points\":[{\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"value\":7}]}", 400, "points[0].at"},
    {"points without a body",       "POST",   "/api/v1/points",        NULL, 400, "object"},
    {"health",                      "GET",    "/healthz",              NULL, 200, "ok"},
    {"health, its head alone",      "HEAD",   "/healthz",              NULL, 200, ""},
    {"counters",                    "GET",    "/metrics",              NULL, 200, "desk 1"},
    {"the description",             "GET",    "/api/v1/openapi.json",  NULL, 200, "\"openapi\""},
};
/* clang-format on */

START_TEST(a_request_has_its_answer)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(exchange_free)
    struct exchange *x =
        ask(d, answers[_i].method, answers[_i].path, &from_socket, answers[_i].body);

    ck_assert_msg(x->status == answers[_i].status, "%s: %d %s", answers[_i].name, x->status,
                  buf_str(&x->answer));
    ck_assert_msg(strstr(buf_str(&x->answer), answers[_i].says), "%s: %s", answers[_i].name,
                  buf_str(&x->answer));
    if (x->status >= 400) {
        AUTO(json_free) json *v = NULL;
        OK(json_parse(buf_str(&x->answer), x->answer.len, &v, e));
        ck_assert_msg(json_is_string(json_pointer(v, "/error/code")), "%s", answers[_i].name);
        ck_assert_msg(json_is_string(json_pointer(v, "/error/message")), "%s", answers[_i].name);
    }
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *method, *path, *header;
    int status;
} callers[] = {
    {"health needs no token",              "GET",  "/healthz",             NULL,            200},
    {"the description neither",            "GET",  "/api/v1/openapi.json", NULL,            200},
    {"a list does",                        "GET",  "/api/v1/bisections",   NULL,            401},
    {"a lease does",                       "POST", "/api/v1/leases",       NULL,            401},
    {"an unknown token is none",           "GET",  "/api/v1/bisections",   "Bearer wrong",  401},
    {"an empty token is none",             "GET",  "/api/v1/bisections",   "Bearer ",       401},
    {"another scheme is none",             "GET",  "/api/v1/bisections",   "Basic YTpi",    401},
    {"nor looks at one that is wrong",     "GET",  "/healthz",             "Bearer wrong",  200},
    {"the admin's token opens all",        "GET",  "/api/v1/bisections",   "Bearer ADMIN",  200},
    {"in any case of the scheme's word",   "GET",  "/api/v1/bisections",   "bearer ADMIN",  200},
};
/* clang-format on */

START_TEST(a_caller_is_known_by_a_token)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(buf_fini) struct buf token = {0};
    AUTO(buf_fini) struct buf header = {0};
    bool was_made;

    OK(store_token_admin(d->store, utc_now(), &was_made, e));
    AUTO(mem_free) char *path = path_join(d->dir, "admin.token");
    OK(file_read(path, 1000, &token, e));
    if (callers[_i].header)
        buf_add(&header, callers[_i].header, strcspn(callers[_i].header, "A"));
    if (callers[_i].header && strstr(callers[_i].header, "ADMIN"))
        buf_add(&header, buf_str(&token), strcspn(buf_str(&token), "\n"));
    struct head h = {.authorization = callers[_i].header ? buf_str(&header) : NULL,
                     .content_bytes = -1};
    AUTO(exchange_free) struct exchange *x = ask(d, callers[_i].method, callers[_i].path, &h, NULL);
    ck_assert_msg(x->status == callers[_i].status, "%s: %d %s", callers[_i].name, x->status,
                  buf_str(&x->answer));
}
END_TEST

static const char point_of_one[] =
    "{\"project\":\"demo\",\"metric\":\"startup\",\"platform\":\"x\",\"host\":\"ci\",\"points\":[{"
    "\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"at\":\"2026-11-30\",\"value\":7}]"
    "}";
static const char point_of_no_metric[] =
    "{\"project\":\"demo\",\"metric\":\"other\",\"platform\":\"x\",\"host\":\"ci\",\"points\":[{"
    "\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"at\":\"2026-11-30\",\"value\":7}]"
    "}";
static const char point_of_no_project[] =
    "{\"project\":\"nope\",\"metric\":\"startup\",\"platform\":\"x\",\"host\":\"ci\",\"points\":[{"
    "\"revision\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"at\":\"2026-11-30\",\"value\":7}]"
    "}";

/* clang-format off */
static const struct {
    const char *name, *role, *method, *path, *body;
    int status;
    const char *says;
} roles[] = {
    {"CI adds points of a configured metric", "ci",  "POST", "/api/v1/points",     point_of_one, 200, "\"added\":1"},
    {"and of no other metric",             "ci",     "POST", "/api/v1/points",     point_of_no_metric, 400, "metric: project demo has none"},
    {"nor of an unknown project",          "ci",     "POST", "/api/v1/points",     point_of_no_project, 400, "project: none is called"},
    {"and reads nothing",                  "ci",     "GET",  "/api/v1/samples",    NULL, 403, "role"},
    {"nor starts anything",                "ci",     "POST", "/api/v1/bisections", "{}", 403, "role"},
    {"developers and sheriffs may as well", "sheriff", "POST", "/api/v1/points",   point_of_one, 200, "\"added\":1"},
    {"and still not invent projects",      "developer", "POST", "/api/v1/points",  point_of_no_project, 400, "project"},
    {"readers and workers may not",        "reader", "POST", "/api/v1/points",     point_of_one, 403, "role"},
    {"nor workers",                        "worker", "POST", "/api/v1/points",     point_of_one, 403, "role"},
    {"an administrator adds what there is no project for", "admin", "POST", "/api/v1/points", point_of_no_project, 200, "\"added\":1"},
};
/* clang-format on */

static json *one_project(void *self)
{
    static const char text[] = "[{\"id\":\"demo\",\"metrics\":[{\"name\":\"startup\"}]}]";
    json *list = NULL;

    (void)self;
    OK(json_parse(text, strlen(text), &list, e));
    return list;
}

START_TEST(a_role_may_do_what_it_is_for)
{
    AUTO(desk_free) struct desk *d = desk_new();
    struct digest hash = hash_of("secret", 6);
    struct head h = {.authorization = "Bearer secret", .content_bytes = -1};

    d->service.project_list = one_project;
    OK(db_run(d->store,
              "INSERT INTO tokens (id, hash, role, name, created_ns) VALUES ('t', ?1, ?2, 't', 1)",
              CELLS(cell_text(hash.hex), cell_text(roles[_i].role)), NULL, e));
    AUTO(exchange_free)
    struct exchange *x = ask(d, roles[_i].method, roles[_i].path, &h, roles[_i].body);
    ck_assert_msg(x->status == roles[_i].status && strstr(buf_str(&x->answer), roles[_i].says),
                  "%s: %d %s", roles[_i].name, x->status, buf_str(&x->answer));
}
END_TEST

START_TEST(who_brings_commands_is_told_apart)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(buf_fini) struct buf token = {0};
    bool was_made;

    struct head in_person = {.is_private = true, .content_bytes = -1};
    AUTO(exchange_free) struct exchange *x = ask(d, "POST", "/api/v1/bisections", &in_person, "{}");
    ck_assert_int_eq(x->status, 201);
    ck_assert_int_eq(d->sender, SENDER_SELF);

    OK(store_token_admin(d->store, utc_now(), &was_made, e));
    AUTO(mem_free) char *path = path_join(d->dir, "admin.token");
    OK(file_read(path, 1000, &token, e));
    AUTO(mem_free)
    char *header = mem_printf("Bearer %.*s", (int)strcspn(buf_str(&token), "\n"), buf_str(&token));
    struct head by_token = {.authorization = header, .content_bytes = -1};
    AUTO(exchange_free) struct exchange *y = ask(d, "POST", "/api/v1/bisections", &by_token, "{}");
    ck_assert_int_eq(y->status, 201);
    ck_assert_int_eq(d->sender, SENDER_OF_COMMANDS);
}
END_TEST

START_TEST(an_unknown_query_parameter_is_an_error)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(exchange_free) struct exchange *x = exchange_new("GET", "/api/v1/bisections");

    pairs_add(&x->query, "limt", "3");
    exchange_admit(x, &from_socket, &d->service);
    ck_assert_int_eq(x->status, 400);
    ck_assert_ptr_nonnull(strstr(buf_str(&x->answer), "known here: limit after"));
}
END_TEST

/* clang-format off */
static const struct {
    const char *limit;
    int status;
} limits[] = {
    {"1", 200}, {"10", 200}, {"1000000", 200}, {"0", 400}, {"-1", 400}, {"x", 400}, {"", 400},
    {"99999999999999999999", 400}, {"1.5", 400},
};
/* clang-format on */

START_TEST(a_page_has_a_size)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(exchange_free) struct exchange *x = exchange_new("GET", "/api/v1/bisections");

    pairs_add(&x->query, "limit", limits[_i].limit);
    exchange_admit(x, &from_socket, &d->service);
    x->stage = EXCHANGE_READY;
    exchange_run(x, &d->service);
    ck_assert_msg(x->status == limits[_i].status, "%s: %d", limits[_i].limit, x->status);
}
END_TEST

/* clang-format off */
static const struct {
    const char *revision;
    int status;
} revisions[] = {
    {"abcd", 200}, {"ABCDEF12", 200}, {"0123456789012345678901234567890123456789", 200},
    {"abc", 400}, {"", 400}, {"abcx", 400}, {"main", 400}, {"01234567890123456789012345678901234567890", 400},
};
/* clang-format on */

START_TEST(samples_of_a_revision_are_found_by_part_of_its_hash)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(exchange_free) struct exchange *x = exchange_new("GET", "/api/v1/samples");

    pairs_add(&x->query, "revision", revisions[_i].revision);
    exchange_admit(x, &from_socket, &d->service);
    x->stage = EXCHANGE_READY;
    exchange_run(x, &d->service);
    ck_assert_msg(x->status == revisions[_i].status, "%s: %d", revisions[_i].revision, x->status);
}
END_TEST

START_TEST(an_announced_body_over_the_limit_is_refused_at_once)
{
    AUTO(desk_free) struct desk *d = desk_new();
    struct head h = {.is_private = true, .content_bytes = 1025};
    AUTO(exchange_free) struct exchange *x = ask(d, "POST", "/api/v1/bisections", &h, NULL);

    ck_assert_int_eq(x->status, 413);
    ck_assert_int_eq(d->n_created, 0);
}
END_TEST

START_TEST(a_body_that_grows_over_the_limit_is_refused)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(exchange_free) struct exchange *x = exchange_new("POST", "/api/v1/bisections");
    char block[1024] = {0};

    exchange_admit(x, &from_socket, &d->service);
    ck_assert(exchange_body(x, block, sizeof(block)));
    ck_assert_int_eq(x->status, 0);
    ck_assert(exchange_body(x, block, 1));
    ck_assert_int_eq(x->status, 413);
    ck_assert_uint_eq(x->body.cap, 0);
    for (int i = 0; i < 60 * 1024; i++) /* what comes after costs nothing, for a while */
        ck_assert(exchange_body(x, block, sizeof(block)));
    bool goes_on = true;
    for (int i = 0; i < 10 * 1024 && goes_on; i++)
        goes_on = exchange_body(x, block, sizeof(block));
    ck_assert(!goes_on);
}
END_TEST

START_TEST(a_repeated_key_gets_the_first_answer)
{
    AUTO(desk_free) struct desk *d = desk_new();
    struct head h = {.is_private = true, .idempotency_key = "k", .content_bytes = -1};

    AUTO(exchange_free) struct exchange *one = ask(d, "POST", "/api/v1/bisections", &h, "{}");
    AUTO(exchange_free) struct exchange *two = ask(d, "POST", "/api/v1/bisections", &h, "{}");
    ck_assert_int_eq(d->n_created, 1);
    ck_assert_int_eq(two->status, 201);
    ck_assert_str_eq(buf_str(&one->answer), buf_str(&two->answer));

    AUTO(exchange_free) struct exchange *other = ask(d, "POST", "/api/v1/bisections", &h, "{ }");
    ck_assert_int_eq(other->status, 409);
    h.idempotency_key = "l";
    AUTO(exchange_free) struct exchange *three = ask(d, "POST", "/api/v1/bisections", &h, "{}");
    ck_assert_int_eq(three->status, 201);
    ck_assert_int_eq(d->n_created, 2);
}
END_TEST

START_TEST(a_worker_waits_and_is_answered_at_last)
{
    AUTO(desk_free) struct desk *d = desk_new();
    const char body[] = "{\"worker\":\"w\",\"host\":\"h\",\"platform\":\"p\"}";
    AUTO(exchange_free) struct exchange *x = exchange_new("POST", "/api/v1/leases");

    pairs_add(&x->query, "wait", "30");
    exchange_admit(x, &from_socket, &d->service);
    ck_assert(exchange_body(x, body, strlen(body)));
    x->stage = EXCHANGE_READY;
    exchange_run(x, &d->service);
    ck_assert_int_eq(x->stage, EXCHANGE_WAITING);
    int64_t deadline_ns = x->deadline.ns;
    exchange_run(x, &d->service);
    ck_assert_int_eq(x->stage, EXCHANGE_WAITING);
    ck_assert_int_eq(x->deadline.ns, deadline_ns);
    x->is_last_try = true;
    exchange_run(x, &d->service);
    ck_assert_int_eq(x->status, 204);
}
END_TEST

/* -- uploads -- */

static const char hello_sha256[] = /* of "hello" */
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

static struct exchange *upload(struct desk *d, const char *sha256, const struct buf *packed)
{
    AUTO(mem_free) char *path = mem_printf("/api/v1/artifacts/%s", sha256);
    struct exchange *x = exchange_new("PUT", path);

    exchange_admit(x, &from_socket, &d->service);
    ck_assert(exchange_body(x, packed->data, packed->len));
    x->stage = EXCHANGE_READY;
    exchange_run(x, &d->service);
    if (x->stage == EXCHANGE_WAITING) {
        x->work->run(x->work);
        ck_assert_ptr_eq(work_finish(x->work), x);
        exchange_run(x, &d->service);
    }
    return x;
}

START_TEST(an_artifact_is_kept_if_it_is_what_it_says)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(buf_fini) struct buf plain = {0};
    AUTO(mem_free) char *get = mem_printf("/api/v1/artifacts/%s", hello_sha256);
    char other[65];

    zstd_pack("hello", 5, &packed);
    memcpy(other, hello_sha256, sizeof(other));
    other[0] = '3';
    AUTO(exchange_free) struct exchange *wrong = upload(d, other, &packed);
    ck_assert_int_eq(wrong->status, 400);
    buf_addc(&plain, 'x');
    AUTO(exchange_free) struct exchange *junk = upload(d, hello_sha256, &plain);
    ck_assert_int_eq(junk->status, 400);
    AUTO(exchange_free) struct exchange *missing = ask(d, "GET", get, &from_socket, NULL);
    ck_assert_int_eq(missing->status, 404);

    AUTO(exchange_free) struct exchange *right = upload(d, hello_sha256, &packed);
    ck_assert_msg(right->status == 204, "%s", buf_str(&right->answer));
    AUTO(exchange_free) struct exchange *again = upload(d, hello_sha256, &packed);
    ck_assert_int_eq(again->status, 204);
    AUTO(exchange_free) struct exchange *got = ask(d, "GET", get, &from_socket, NULL);
    ck_assert_int_eq(got->status, 200);
    ck_assert_int_eq(got->download.bytes, (int64_t)packed.len);
}
END_TEST

START_TEST(nothing_is_left_of_an_upload_that_broke_off)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(mem_free) char *path = mem_printf("/api/v1/artifacts/%s", hello_sha256);
    struct exchange *x = exchange_new("PUT", path);

    exchange_admit(x, &from_socket, &d->service);
    ck_assert(exchange_body(x, "abc", 3));
    AUTO(mem_free) char *file = mem_dup(x->upload.path);
    ck_assert(file_exists(file));
    exchange_free(x);
    ck_assert(!file_exists(file));
}
END_TEST

START_TEST(work_outlives_who_waited_for_it)
{
    AUTO(desk_free) struct desk *d = desk_new();
    AUTO(buf_fini) struct buf packed = {0};
    AUTO(mem_free) char *path = mem_printf("/api/v1/artifacts/%s", hello_sha256);
    struct exchange *x = exchange_new("PUT", path);

    zstd_pack("hello", 5, &packed);
    exchange_admit(x, &from_socket, &d->service);
    ck_assert(exchange_body(x, packed.data, packed.len));
    x->stage = EXCHANGE_READY;
    exchange_run(x, &d->service);
    ck_assert_int_eq(x->stage, EXCHANGE_WAITING);
    exchange_free(x);
    d->started->run(d->started);
    ck_assert_ptr_null(work_finish(d->started));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_request_has_its_answer, LEN(answers)},
        {a_caller_is_known_by_a_token, LEN(callers)},
        {a_role_may_do_what_it_is_for, LEN(roles)},
        {an_unknown_query_parameter_is_an_error, 1},
        {a_page_has_a_size, LEN(limits)},
        {samples_of_a_revision_are_found_by_part_of_its_hash, LEN(revisions)},
        {an_announced_body_over_the_limit_is_refused_at_once, 1},
        {a_body_that_grows_over_the_limit_is_refused, 1},
        {who_brings_commands_is_told_apart, 1},
        {a_repeated_key_gets_the_first_answer, 1},
        {a_worker_waits_and_is_answered_at_last, 1},
        {an_artifact_is_kept_if_it_is_what_it_says, 1},
        {nothing_is_left_of_an_upload_that_broke_off, 1},
        {work_outlives_who_waited_for_it, 1},
    };
    return unit_run("api/dispatch", tests, LEN(tests));
}
