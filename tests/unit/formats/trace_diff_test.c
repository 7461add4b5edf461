/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/syscall.h"
#include "formats/trace_diff.h"
#include "unit/run.h"
#include <math.h>
#include <string.h>

/** Rows "call path count ms"; ms < 0: no times. */
struct given {
    const char *call, *path;
    unsigned count;
    int ms;
};

static struct trace_table *table_of(const struct given *rows, size_t n)
{
    struct trace_table *t = trace_table_new();

    for (size_t i = 0; i < n && rows[i].call; i++)
        trace_table_add(
            t, &(struct trace_row){.call = rows[i].call,
                                   .path = rows[i].path,
                                   .count = rows[i].count,
                                   .n_timed = rows[i].ms < 0 ? 0 : rows[i].count,
                                   .total_ns = rows[i].ms < 0 ? 0 : rows[i].ms * INT64_C(1000000)});
    return t;
}

/* clang-format off */
static const struct {
    const char *name;
    struct given before[5], after[5];
    double metric_delta_s; /* 0: none */
    const char *want;      /* call path group count seconds share, by hand */
} rows[] = {
    {"the larger time stands first, shares are of all that changed",
     {{"fsync", "/p/x.db", 2, 10}, {"read", "/p/x.db", 5, 40}},
     {{"fsync", "/p/x.db", 32, 310}, {"read", "/p/x.db", 5, 140}}, 0,
     "fsync /p/x.db database 2>32 0.01>0.31 0.75; read /p/x.db database 5>5 0.04>0.14 0.25"},
    {"shares are of the metric's change where that is known",
     {{"fsync", "/p/x.db", 2, 10}}, {{"fsync", "/p/x.db", 32, 310}}, 0.4,
     "fsync /p/x.db database 2>32 0.01>0.31 0.75"},
    {"a time that went down has a share below nothing",
     {{"fsync", "/p/x.db", 2, 310}, {"read", "a", 1, 0}}, {{"fsync", "/p/x.db", 2, 10}, {"read", "a", 1, 100}}, 0,
     "fsync /p/x.db database 2>2 0.31>0.01 -0.75; read a other 1>1 0>0.1 0.25"},
    {"what did not change is left out",
     {{"fsync", "/p/x.db", 2, 10}, {"read", "a", 1, 5}}, {{"fsync", "/p/x.db", 2, 10}, {"read", "a", 2, 5}}, 0,
     "read a other 1>2 0.005>0.005 -"},
    {"without times counts are what is shared",
     {{"fsync", "/p/x.db", 2, -1}, {"open", "a", 1, -1}}, {{"fsync", "/p/x.db", 5, -1}}, 0,
     "fsync /p/x.db database 2>5 -- 0.75; open a other 1>0 -- -0.25"},
    {"an empty side has no calls and no time",
     {{0}}, {{"fsync", "/p/x.db", 5, 50}}, 0, "fsync /p/x.db database 0>5 0>0.05 1"},
    {"names that vary are one row",
     {{"open", "/tmp/x.aB3dE9", 1, 1}, {"open", "/tmp/x.Zy3dE9", 1, 1}, {"open", "/proc/12/stat", 1, 0}},
     {{"open", "/tmp/x.00fGhI", 5, 11}, {"open", "/proc/13/stat", 1, 0}}, 0,
     "open /tmp/x.# other 2>5 0.002>0.011 1"},
    {"the same name is the same file, whatever else looks like it",
     {{"open", "/p/1.db", 1, 0}, {"open", "/p/2.db", 2, 0}},
     {{"open", "/p/1.db", 1, 0}, {"open", "/p/2.db", 3, 0}, {"open", "/p/3.db", 1, 7}}, 0,
     "open /p/3.db database 0>1 0>0.007 1; open /p/2.db database 2>3 0>0 0"},
    {"groups of SQLite's files",
     {{0}}, {{"fsync", "/p/x.sqlite3-journal", 4, 4}, {"fsync", "/p/x.sqlite3", 3, 3}, {"fsync", "/p", 2, 2}, {"fsync", "/p/x.sqlite3-wal", 1, 1}}, 0,
     "fsync /p/x.sqlite3-journal journal 0>4 0>0.004 0.4; fsync /p/x.sqlite3 database 0>3 0>0.003 0.3; "
     "fsync /p directory 0>2 0>0.002 0.2; fsync /p/x.sqlite3-wal wal 0>1 0>0.001 0.1"},
    {"what has a journal is a database, whatever its name",
     {{0}}, {{"fsync", "/p/Cookies", 3, 3}, {"unlink", "/p/Cookies-journal", 1, 1}}, 0,
     "fsync /p/Cookies database 0>3 0>0.003 0.75; unlink /p/Cookies-journal journal 0>1 0>0.001 0.25"},
    {"a super-journal is a journal",
     {{0}}, {{"fsync", "/p/x.db-mj0A1B2C3D", 1, 1}}, 0, "fsync /p/x.db-mj0A1B2C3D journal 0>1 0>0.001 1"},
    {"a journal's end alone is no journal of anything",
     {{0}}, {{"fsync", "-journal", 1, 1}, {"fsync", "", 1, 0}}, 0, "fsync -journal other 0>1 0>0.001 1; fsync  other 0>1 0>0 0"},
    {"more calls that took less by chance stand before a call that took longer by chance",
     {{"fsync", "/p/x.db", 10, 100}, {"execve", "/x", 2, 60}}, {{"fsync", "/p/x.db", 30, 80}, {"execve", "/x", 2, 90}}, 0,
     "fsync /p/x.db database 10>30 0.1>0.08 -0.4; execve /x other 2>2 0.06>0.09 0.6"},
    {"a relative path is the other side's one absolute path that ends in it",
     {{"fsync", "d/x.db", 2, 10}, {"read", "./a", 1, 0}, {"read", "y", 1, 1}},
     {{"fsync", "/p/d/x.db", 4, 30}, {"fsync", "/p/dd/x.db", 1, 0}, {"read", "/q/a", 1, 0}, {"read", "/q/y", 1, 0}, {"read", "/p/y", 1, 0}}, 0,
     "fsync /p/d/x.db database 2>4 0.01>0.03 0.952381; read y other 1>0 0.001>0 -0.047619; fsync /p/dd/x.db database 0>1 0>0 0; read /p/y other 0>1 0>0 0; read /q/y other 0>1 0>0 0"},
    {"so it is on the second side",
     {{"fsync", "/p/d/x.db", 2, 10}}, {{"fsync", "x.db", 4, 30}}, 0, "fsync /p/d/x.db database 2>4 0.01>0.03 1"},
    {"where one side has no files both go by call",
     {{"fsync", "", 2, 10}}, {{"fsync", "/p/x.db", 3, 20}, {"fsync", "/p", 1, 10}}, 0, "fsync  other 2>4 0.01>0.03 1"},
    {"a side without files, and without the other's calls, hides no file",
     {{"brk", "", 2, 0}}, {{"brk", "", 2, 0}, {"fsync", "/p/x.db", 3, 20}}, 0, "fsync /p/x.db database 0>3 0>0.02 1"},
    {"waiting explains nothing and stands last",
     {{"wait4", "", 1, 100}, {"read", "pipe:[1]", 1, 100}}, {{"wait4", "", 1, 900}, {"read", "pipe:[2]", 1, 500}, {"fsync", "a", 1, 5}}, 0,
     "fsync a other 0>1 0>0.005 1; wait4  other 1>1 0.1>0.9 -; read pipe:[#] other 1>1 0.1>0.5 -"},
};
/* clang-format on */

static void show(const struct trace_diff *d, struct buf *out)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct trace_difference *x = &d->items[i];
        buf_printf(out, "%s%s %s %s %u>%u ", i ? "; " : "", x->call, x->path,
                   trace_group_name(x->group), (unsigned)x->count[0], (unsigned)x->count[1]);
        if (isnan(x->seconds[0]))
            buf_adds(out, "-");
        else
            buf_printf(out, "%.6g>", x->seconds[0]);
        if (isnan(x->seconds[1]))
            buf_adds(out, "-");
        else
            buf_printf(out, "%.6g", x->seconds[1]);
        if (isnan(x->share))
            buf_adds(out, " -");
        else
            buf_printf(out, " %.6g", x->share);
    }
}

START_TEST(differences_are_ranked)
{
    AUTO(trace_table_free) struct trace_table *before = table_of(rows[_i].before, 5);
    AUTO(trace_table_free) struct trace_table *after = table_of(rows[_i].after, 5);
    double delta = rows[_i].metric_delta_s;
    AUTO(trace_diff_free)
    struct trace_diff *d = trace_diff_new(before, after, delta ? delta : NAN);
    AUTO(buf_fini) struct buf got = {0};

    show(d, &got);
    ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s:\n%s", rows[_i].name,
                  buf_str(&got));
    ck_assert(isnan(d->explained) == (delta == 0));
}
END_TEST

START_TEST(shares_of_a_metric_sum_up)
{
    static const struct given after[] = {{"fsync", "/p/x.db", 30, 600}, {"unlink", "j", 3, 90}};
    AUTO(trace_table_free) struct trace_table *none = trace_table_new();
    AUTO(trace_table_free) struct trace_table *some = table_of(after, LEN(after));
    AUTO(trace_diff_free) struct trace_diff *d = trace_diff_new(none, some, 0.92);

    ck_assert_double_eq_tol(d->explained, .75, 1e-12);
}
END_TEST

START_TEST(json_has_the_shape_of_explain)
{
    static const struct given before[] = {{"fsync", "/p/x.db", 2, 10}};
    static const struct given after[] = {{"fsync", "/p/x.db", 4, 30}, {"poll", "", 1, 7}};
    AUTO(trace_table_free) struct trace_table *b = table_of(before, LEN(before));
    AUTO(trace_table_free) struct trace_table *a = table_of(after, LEN(after));
    AUTO(trace_diff_free) struct trace_diff *d = trace_diff_new(b, a, NAN);
    AUTO(json_free) json *all = trace_diff_to_json(d, 100);
    AUTO(json_free) json *one = trace_diff_to_json(d, 1);
    AUTO(buf_fini) struct buf got = {0};

    ck_assert_uint_eq(json_len(one), 1);
    json_dump(all, JSON_COMPACT, &got);
    ck_assert_str_eq(buf_str(&got),
                     "[{\"call\":\"fsync\",\"path\":\"/p/x.db\",\"group\":\"database\","
                     "\"count\":[2,4],\"seconds\":[0.01,0.03],\"share\":1.0},"
                     "{\"call\":\"poll\",\"path\":\"\",\"group\":\"other\","
                     "\"count\":[0,1],\"seconds\":[0.0,0.007],\"share\":null}]");
}
END_TEST

START_TEST(system_calls_are_sorted_and_found)
{
    for (size_t i = 0; i < n_syscalls; i++) {
        const char *name = syscalls[i].name;
        ck_assert_msg(i == 0 || strcmp(syscalls[i - 1].name, name) < 0, "%s", name);
        ck_assert_ptr_eq(syscall_find(name, strlen(name)), &syscalls[i]);
        ck_assert(syscalls[i].at < 0 || syscalls[i].path >= 0);
    }
    ck_assert_ptr_null(syscall_find("fsyn", 4));
    ck_assert_ptr_null(syscall_find("", 0));
    ck_assert(syscall_waits("epoll_wait", "") && syscall_waits("read", "pipe:[7]"));
    ck_assert(!syscall_waits("read", "/p/x.db") && !syscall_waits("fsync", "pipe:[7]"));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {differences_are_ranked, LEN(rows)},
        {shares_of_a_metric_sum_up, 1},
        {json_has_the_shape_of_explain, 1},
        {system_calls_are_sorted_and_found, 1},
    };
    return unit_run("trace_diff", tests, LEN(tests));
}
