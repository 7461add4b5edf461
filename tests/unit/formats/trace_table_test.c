/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "formats/trace_table.h"
#include "unit/run.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
    const char *name;
    const char *pattern, *path;
    bool want;
} globs[] = {
    {"a star passes slashes",         "*places.sqlite*", "/home/a/.mozilla/places.sqlite-wal", true},
    {"the whole path has to match",   "places.sqlite",   "/p/places.sqlite", false},
    {"a plain path is itself",        "/p/x.db",         "/p/x.db", true},
    {"nothing matches a star",        "*",               "", true},
    {"a pattern wants something",     "?*",              "", false},
    {"one character",                 "/p/?.db",         "/p/x.db", true},
    {"a slash is one character",      "a?b",             "a/b", true},
    {"a set",                         "/p/[xy].db",      "/p/y.db", true},
    {"not of a set",                  "/p/[!xy].db",     "/p/y.db", false},
    {"a range",                       "log.[0-9]",       "log.7", true},
    {"an escape",                     "a\\*b",           "a*b", true},
    {"an escaped star is no star",    "a\\*b",           "axb", false},
    {"an open bracket is itself",     "a[b",             "a[b", true},
    {"stars go back",                 "*a*b*c",          "xaxbxbxc", true},
    {"stars do not go back for ever", "*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
};

static const struct {
    const char *name;
    const char *path, *want;
} normals[] = {
    {"no digits, no change",         "/p/places.sqlite-wal", "/p/places.sqlite-wal"},
    {"a process number",             "/proc/4711/stat",      "/proc/#/stat"},
    {"digits within a word",         "/p/page12b",           "/p/page#b"},
    {"an inode",                     "pipe:[47528]",         "pipe:[#]"},
    {"both ends of a socket",        "TCP:[127.0.0.1:58136->127.0.0.1:39797]", "TCP:[#.#.#.#:#->#.#.#.#:#]"},
    {"a hash",                       "/c/0a1b2c3d4e5f/x.o",  "/c/#/x.o"},
    {"a word that looks like hex",   "/c/defaced/x",         "/c/defaced/x"},
    {"hex letters without a digit",  "/c/deadbeefdead/x",    "/c/deadbeefdead/x"},
    {"a UUID",                       "/c/01234567-89ab-cdef-0123-456789abcdef.tmp", "/c/#.tmp"},
    {"mkstemp",                      "/tmp/x.aB3dE9",        "/tmp/x.#"},
    {"mkdtemp, two letter cases",    "/tmp/schedule-test-XyzAbc/page-12", "/tmp/schedule-test-#/page-#"},
    {"an end of letters is a name",  "/p/my-profile",        "/p/my-profile"},
    {"a random end ends its name",   "/p/my-aB3dE9.txt",     "/p/my-aB#dE#.txt"},
    {"nothing",                      "",                     ""},
};
/* clang-format on */

START_TEST(globs_match_whole_paths)
{
    ck_assert_msg(trace_glob(globs[_i].pattern, globs[_i].path) == globs[_i].want, "%s",
                  globs[_i].name);
}
END_TEST

START_TEST(normal_forms_lose_what_varies)
{
    char got[TRACE_PATH_BYTES];

    trace_path_normal(normals[_i].path, got, sizeof(got));
    ck_assert_msg(strcmp(got, normals[_i].want) == 0, "%s: %s", normals[_i].name, got);
    trace_path_normal(got, got, sizeof(got)); /* what is normal stays so */
    ck_assert_msg(strcmp(got, normals[_i].want) == 0, "%s, twice: %s", normals[_i].name, got);
}
END_TEST

START_TEST(a_normal_form_fits_its_room)
{
    char got[4] = "xxx";

    trace_path_normal("/abcdef", got, sizeof(got));
    ck_assert_str_eq(got, "/ab");
}
END_TEST

static void add(struct trace_table *t, const char *call, const char *path, int64_t ns)
{
    trace_table_add(t, &(struct trace_row){.call = call,
                                           .path = path,
                                           .count = 1,
                                           .errors = ns < 0,
                                           .n_timed = ns >= 0,
                                           .total_ns = ns >= 0 ? ns : 0});
}

START_TEST(rows_are_summed_by_call_and_path)
{
    AUTO(trace_table_free) struct trace_table *t = trace_table_new();
    AUTO(trace_table_free) struct trace_table *u = trace_table_new();

    add(t, "fsync", "/p/a", 5);
    add(t, "fsync", "/p/b", 7);
    add(u, "fsync", "/p/a", 11);
    add(u, "fdatasync", "/p/a", -1);
    trace_table_merge(t, u);
    ck_assert_uint_eq(trace_table_size(t), 3);
    const struct trace_row *a = trace_table_find(t, "fsync", "/p/a");
    ck_assert(a && a->count == 2 && a->total_ns == 16 && a->n_timed == 2 && a->errors == 0);
    const struct trace_row *d = trace_table_find(t, "fdatasync", "/p/a");
    ck_assert(d && d->count == 1 && d->n_timed == 0 && d->errors == 1);
    ck_assert_ptr_null(trace_table_find(t, "fdatasync", "/p/b"));
    const struct trace_row sum = trace_table_sum(t);
    ck_assert(sum.count == 4 && sum.total_ns == 23 && sum.n_timed == 3 && sum.errors == 1);
}
END_TEST

START_TEST(times_saturate)
{
    AUTO(trace_table_free) struct trace_table *t = trace_table_new();

    add(t, "read", "", INT64_MAX);
    add(t, "read", "", INT64_MAX);
    ck_assert(trace_table_at(t, 0)->total_ns == INT64_MAX);
}
END_TEST

/* Numbered names have one normal form; names of letters have none in common. */
START_TEST(rows_have_a_limit_and_no_call_is_lost)
{
    AUTO(trace_table_free) struct trace_table *t = trace_table_new();
    const size_t n = TRACE_ROWS_MOST + 2 * (size_t)TRACE_FOLDED_ROWS;
    char path[64];

    for (size_t i = 0; i < TRACE_ROWS_MOST + 1000; i++) {
        snprintf(path, sizeof(path), "/n/%zu", i);
        add(t, "open", path, 1);
    }
    ck_assert_uint_eq(trace_table_size(t), TRACE_ROWS_MOST + 1);
    ck_assert_uint_eq(trace_table_find(t, "open", "/n/#")->count, 1000);
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "/l/%c%c%c%c", (char)('a' + i % 26), (char)('a' + i / 26 % 26),
                 (char)('a' + i / 676 % 26), (char)('a' + i / 17576 % 26));
        add(t, "open", path, 1);
    }
    ck_assert_uint_le(trace_table_size(t), TRACE_ROWS_MOST + TRACE_FOLDED_ROWS + 1);
    ck_assert_uint_gt(trace_table_find(t, "open", TRACE_PATH_REST)->count, 0);
    ck_assert_uint_eq(trace_table_sum(t).count, TRACE_ROWS_MOST + 1000 + n);
    ck_assert_uint_eq(trace_table_folded(t), 1000 + n);
    add(t, "open", "/n/7", 1); /* what has a row keeps it */
    ck_assert_uint_eq(trace_table_find(t, "open", "/n/7")->count, 2);
}
END_TEST

START_TEST(filters_want_what_they_name)
{
    static const char *const calls[] = {"fsync", "fdatasync", NULL};
    const struct trace_filter all = {0};
    const struct trace_filter some = {.calls = calls, .path = "*.db"};

    ck_assert(trace_filter_wants_call(NULL, "read", 4) && trace_filter_wants_call(&all, "read", 4));
    ck_assert(trace_filter_wants_path(NULL, "") && trace_filter_wants_path(&all, ""));
    ck_assert(trace_filter_wants_call(&some, "fsync", 5));
    ck_assert(!trace_filter_wants_call(&some, "fsyncs", 6));
    ck_assert(!trace_filter_wants_call(&some, "fsyn", 4));
    ck_assert(trace_filter_wants_path(&some, "/p/x.db") && !trace_filter_wants_path(&some, ""));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {globs_match_whole_paths, LEN(globs)},
        {normal_forms_lose_what_varies, LEN(normals)},
        {a_normal_form_fits_its_room, 1},
        {rows_are_summed_by_call_and_path, 1},
        {times_saturate, 1},
        {rows_have_a_limit_and_no_call_is_lost, 1},
        {filters_want_what_they_name, 1},
    };
    return unit_run("trace_table", tests, LEN(tests));
}
