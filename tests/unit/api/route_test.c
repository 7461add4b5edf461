/* SPDX-License-Identifier: Apache-2.0 */
/** The routes table: what holds for each row, and how paths find them. */
#include "api/route.h"
#include "base/mem.h"
#include "unit/run.h"
#include <ctype.h>
#include <string.h>

static const int64_t max_bytes[LIMIT_COUNT] = {1, 2, 3, 4, 5};

START_TEST(each_row_is_complete)
{
    for (size_t i = 0; i < n_routes; i++) {
        const struct route *r = &routes[i];
        ck_assert_msg(r->handle && r->help && *r->help && r->query, "%s", r->path);
        ck_assert_msg(strncmp(r->path, "/api/v1/", 8) == 0 || r->role == ROLE_NONE, "%s", r->path);
        ck_assert_msg(islower((unsigned char)r->help[0]), "%s: %s", r->path, r->help);
        ck_assert_msg((r->body == BODY_NONE) == (r->limit == LIMIT_NONE), "%s", r->path);
        ck_assert_msg(strcmp(r->method, "GET") != 0 || r->body == BODY_NONE, "%s", r->path);
    }
}
END_TEST

START_TEST(no_two_rows_answer_one_request)
{
    for (size_t i = 0; i < n_routes; i++)
        for (size_t j = i + 1; j < n_routes; j++)
            ck_assert_msg(strcmp(routes[i].method, routes[j].method) != 0 ||
                              !route_fits(routes[i].path, routes[j].path, NULL),
                          "%s %s", routes[i].path, routes[j].path);
}
END_TEST

START_TEST(each_row_is_found_by_its_own_path)
{
    for (size_t i = 0; i < n_routes; i++) {
        AUTO(exchange_free) struct exchange *x = exchange_new(routes[i].method, routes[i].path);
        ck_assert_int_eq(route_find(x), MATCH_ROUTE);
        ck_assert_ptr_eq(x->route, &routes[i]);
    }
}
END_TEST

/* clang-format off */
static const struct {
    const char *name, *pattern, *path;
    bool fits;
    const char *arg;
} fits[] = {
    {"the same",                       "/a/b",     "/a/b",     true,  NULL},
    {"an argument",                    "/a/:id",   "/a/x9",    true,  "x9"},
    {"an argument in the middle",      "/a/:id/b", "/a/x9/b",  true,  "x9"},
    {"an argument is not empty",       "/a/:id",   "/a/",      false, NULL},
    {"nor has it a slash",             "/a/:id",   "/a/x/y",   false, NULL},
    {"a longer path",                  "/a",       "/a/b",     false, NULL},
    {"a shorter path",                 "/a/b",     "/a",       false, NULL},
    {"a trailing slash",               "/a",       "/a/",      false, NULL},
    {"a prefix",                       "/abc",     "/ab",      false, NULL},
    {"nothing",                        "/a",       "",         false, NULL},
    {"the root",                       "/a",       "/",        false, NULL},
    {"double slashes",                 "/a/b",     "/a//b",    false, NULL},
};
/* clang-format on */

START_TEST(a_pattern_fits_a_path)
{
    char *args[EXCHANGE_MAX_ARGS] = {0};

    ck_assert_msg(route_fits(fits[_i].pattern, fits[_i].path, args) == fits[_i].fits, "%s",
                  fits[_i].name);
    if (fits[_i].arg)
        ck_assert_str_eq(args[0], fits[_i].arg);
    mem_free(args[0]);
}
END_TEST

START_TEST(a_long_argument_fits_nothing)
{
    AUTO(mem_free) char *path = mem_array(1, 4096);

    memset(path, 'x', 4095);
    path[0] = '/';
    ck_assert(!route_fits("/:id", path, NULL));
}
END_TEST

START_TEST(another_method_is_told_which_are_possible)
{
    AUTO(exchange_free) struct exchange *x = exchange_new("DELETE", "/api/v1/bisections");

    ck_assert_int_eq(route_find(x), MATCH_PATH);
    ck_assert_str_eq(x->allow_text, "POST, GET");
}
END_TEST

START_TEST(head_is_answered_as_get)
{
    AUTO(exchange_free) struct exchange *x = exchange_new("HEAD", "/healthz");

    ck_assert_int_eq(route_find(x), MATCH_ROUTE);
}
END_TEST

/* The description names every row, once. */
START_TEST(each_row_is_described)
{
    AUTO(json_free) json *d = routes_describe(routes, n_routes, max_bytes);
    size_t n = 0;

    json *paths = json_at(d, "paths");
    for (const char *p = json_first_key(paths); p; p = json_next_key(paths, p)) {
        ck_assert_msg(!strchr(p, ':'), "%s", p);
        n += json_len(json_at(paths, p));
    }
    ck_assert_uint_eq(n, n_routes);
    const json *put = json_pointer(d, "/paths/~1api~1v1~1leases~1{id}~1log/put");
    ck_assert_str_eq(json_str(json_at(put, "summary"), ""), "store a task's log");
    ck_assert_uint_eq(json_len(json_at(put, "parameters")), 2);
    ck_assert_int_eq(json_int(json_pointer(put, "/requestBody/x-max-bytes"), 0), 3);
}
END_TEST

START_TEST(operations_have_names_of_their_own)
{
    AUTO(json_free) json *d = routes_describe(routes, n_routes, max_bytes);
    AUTO(json_free) json *seen = json_new_object();
    json *paths = json_at(d, "paths");

    for (const char *p = json_first_key(paths); p; p = json_next_key(paths, p)) {
        json *methods = json_at(paths, p);
        for (const char *m = json_first_key(methods); m; m = json_next_key(methods, m)) {
            const char *id = json_str(json_at(json_at(methods, m), "operationId"), "");
            ck_assert_msg(*id && !json_at(seen, id), "%s", id);
            json_put(seen, id, json_new_bool(true));
        }
    }
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {each_row_is_complete, 1},
        {no_two_rows_answer_one_request, 1},
        {each_row_is_found_by_its_own_path, 1},
        {a_pattern_fits_a_path, LEN(fits)},
        {a_long_argument_fits_nothing, 1},
        {another_method_is_told_which_are_possible, 1},
        {head_is_answered_as_get, 1},
        {each_row_is_described, 1},
        {operations_have_names_of_their_own, 1},
    };
    return unit_run("api/route", tests, LEN(tests));
}
