/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/mem.h"
#include "formats/trace.h"
#include "formats/trace_files.h"
#include "unit/run.h"
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/** "call path count errors ms" of each row, sorted, with "; " between. */
static void show(const struct trace_table *t, struct buf *out)
{
    size_t n = trace_table_size(t);
    char **lines = mem_array(n + 1, sizeof(*lines));

    for (size_t i = 0; i < n; i++) {
        const struct trace_row *r = trace_table_at(t, i);
        struct buf line = {0};
        buf_printf(&line, "%s %s%s %u", r->call, r->path, r->is_directory ? "/" : "",
                   (unsigned)r->count);
        if (r->errors)
            buf_printf(&line, " -%u", (unsigned)r->errors);
        if (r->n_timed)
            buf_printf(&line, " %gms", (double)r->total_ns / 1e6);
        lines[i] = buf_take(&line);
    }
    qsort(lines, n, sizeof(*lines), by_text);
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%s%s", i ? "; " : "", lines[i]);
        mem_free(lines[i]);
    }
    mem_free(lines);
}

/* clang-format off */
static const char *const syncs[] = {"fsync", "fdatasync", NULL};
static const char *const renames[] = {"rename", "renameat", "link", NULL};

static const struct {
    const char *name;
    const char *const *calls;
    const char *path;
    const char *log;
    const char *want;
} rows[] = {
    {"files of -y", NULL, NULL,
     "openat(AT_FDCWD</p>, \"x.db\", O_RDWR) = 3</p/x.db> <0.001>\nfsync(3</p/x.db>) = 0 <0.002>\nfsync(3</p/x.db>) = -1 EIO (x) <0.003>\n",
     "fsync /p/x.db 2 -1 5ms; openat /p/x.db 1 1ms"},
    {"restarts and calls without end do not count", NULL, NULL,
     "read(3) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\nread(3) = 4\nexit_group(0) = ?\n", "read  1"},
    {"wanted calls alone", syncs, NULL, "fsync(3</a>) = 0\nread(3</a>) = 0\nfdatasync(3</a>) = 0\nfsyncs(3</a>) = 0\n", "fdatasync /a 1; fsync /a 1"},
    {"wanted paths alone", syncs, "*places.sqlite*", "fsync(3</p/places.sqlite-wal>) = 0\nfsync(4</p/x>) = 0\nfsync(5) = 0\n", "fsync /p/places.sqlite-wal 1"},
    {"escapes are undone", syncs, "/w/<... *) = 0 (x).db", "fsync(5</w/\\74... fsync resumed\\76) = 0 (x).db>) = 0 <0.00044>\n",
     "fsync /w/<... fsync resumed>) = 0 (x).db 1 0.44ms"},
    {"paths as they were given", NULL, NULL,
     "stat(\"/a\", 0x7f) = 0\nunlink(\"b\") = 0\nunlinkat(AT_FDCWD</p>, \"c\", 0) = 0\nopenat(AT_FDCWD</p>, \"no\", O_RDONLY) = -1 ENOENT (x)\nnewfstatat(3</p/d>, \"\", 0x7f, AT_EMPTY_PATH) = 0\nexecve(\"/bin/x\", [\"y\"], 0x7f) = 0\n",
     "execve /bin/x 1; newfstatat /p/d 1; openat /p/no 1 -1; stat /a 1; unlink b 1; unlinkat /p/c 1"},
    {"a memory map has its file last", NULL, NULL, "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3</lib/x.so>, 0) = 0x7f00\nmmap(NULL, 4096, PROT_READ, MAP_ANONYMOUS, -1, 0) = 0x7f00\n",
     "mmap  1; mmap /lib/x.so 1"},
    {"calls nobody knows have the file they show", NULL, NULL, "newcall(7, 3</p/x>) = 0\nnewcall(7) = 0\n", "newcall  1; newcall /p/x 1"},
    {"a rename is of both names", renames, "*.db", "rename(\"/a\", \"/b.db\") = 0\nrename(\"/c.db\", \"/d\") = 0\nrename(\"/e\", \"/f\") = 0\nrenameat(AT_FDCWD</p>, \"g\", AT_FDCWD</q>, \"h.db\") = 0\nlink(\"/i\", \"/j.db\") = 0\n",
     "link /j.db 1; rename /b.db 1; rename /c.db 1; renameat /q/h.db 1"},
    {"folders are known as such", NULL, NULL, "openat(AT_FDCWD</>, \"p\", O_RDONLY|O_DIRECTORY) = 3</p>\ngetdents64(3</p>, 0x7f, 32768) = 48\nmkdir(\"/q\", 0777) = 0\n",
     "getdents64 /p/ 1; mkdir /q/ 1; openat /p/ 1"},
    {"a table of -c", syncs, NULL,
     "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n"
     " 75.41    0.229603        2834        81        40 fsync\n  2.61    0.007934           8       966           mmap\n"
     "------ ----------- ----------- --------- --------- ----------------\n100.00    0.237537         226      1047        40 total\n",
     "fsync  81 -40 229.603ms"},
    {"a table of -c has no paths", NULL, "*.db",
     "% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- --------- ----------------\n 75.41    0.229603        2834        81        40 fsync\n", ""},

    /* Without -y */
    {"an open tells the path", syncs, NULL, "openat(AT_FDCWD, \"/p/x\", O_RDWR) = 3\nopen(\"y\", O_RDWR) = 4\ncreat(\"z\", 0666) = 5\nfsync(3) = 0\nfsync(4) = 0\nfsync(5) = 0\nfsync(6) = 0\n",
     "fsync  1; fsync /p/x 1; fsync y 1; fsync z 1"},
    {"a close forgets it", syncs, NULL, "open(\"/p/x\", O_RDWR) = 3\nclose(3) = 0\nfsync(3) = -1 EBADF (x)\nopen(\"/p/y\", O_RDWR) = 3\nfsync(3) = 0\n", "fsync  1 -1; fsync /p/y 1"},
    {"a failed open opens nothing", syncs, NULL, "open(\"/p/x\", O_RDWR) = -1 ENOENT (x)\nfsync(3) = 0\n", "fsync  1"},
    {"copies of descriptors", syncs, NULL, "open(\"/p/x\", O_RDWR) = 3\ndup(3) = 4\ndup2(3, 7) = 7\ndup3(4, 8, O_CLOEXEC) = 8\nfcntl(3, F_DUPFD_CLOEXEC, 10) = 10\nclose(3) = 0\nfsync(4) = 0\nfsync(7) = 0\nfsync(8) = 0\nfsync(10) = 0\nfsync(3) = -1 EBADF (x)\n",
     "fsync  1 -1; fsync /p/x 4"},
    {"folders to start from", syncs, NULL, "openat(AT_FDCWD, \"/p\", O_RDONLY|O_DIRECTORY) = 3\nopenat(3, \"x\", O_RDWR) = 4\nfsync(4) = 0\nfsync(3) = 0\n", "fsync /p/ 1; fsync /p/x 1"},
    {"a range of closes", syncs, NULL, "open(\"/a\", 0) = 3\nopen(\"/b\", 0) = 4\nopen(\"/c\", 0) = 5\nclose_range(4, 4294967295, 0) = 0\nfsync(3) = 0\nfsync(4) = -1 EBADF (x)\nfsync(5) = -1 EBADF (x)\n",
     "fsync  2 -2; fsync /a 1"},
    {"what has no path has a kind", NULL, NULL, "pipe2([3, 4], O_CLOEXEC) = 0\nsocket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = 5\nread(3) = 0\nread(5) = 0\nread(4) = 0\n",
     "pipe2  1; read pipe 2; read socket 1; socket  1"},
    {"a child has its parent's files and its own", syncs, NULL,
     "1 open(\"/a\", O_RDWR) = 3\n1 fork() = 2\n2 fsync(3) = 0\n2 close(3) = 0\n2 open(\"/b\", O_RDWR) = 3\n1 fsync(3) = 0\n2 fsync(3) = 0\n",
     "fsync /a 2; fsync /b 1"},
    {"a thread shares them", syncs, NULL,
     "1 open(\"/a\", O_RDWR) = 3\n1 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, stack=0x7f} => {parent_tid=[2]}, 88) = 2\n2 close(3) = 0\n2 open(\"/b\", O_RDWR) = 3\n1 fsync(3) = 0\n",
     "fsync /b 1"},
    {"a child may show before its parent's call returns", syncs, NULL,
     "1 open(\"/a\", O_RDWR) = 3\n1 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>\n2 fsync(3) = 0\n1 <... clone resumed>, child_tidptr=0x7f) = 2\n2 fsync(3) = 0\n",
     "fsync /a 2"},
    {"of two that fork at once, the return tells", syncs, NULL,
     "1 open(\"/a\", 0) = 3\n9 open(\"/z\", 0) = 3\n1 vfork( <unfinished ...>\n9 vfork( <unfinished ...>\n2 open(\"/b\", 0) = 4\n1 <... vfork resumed>) = 2\n9 <... vfork resumed>) = 3\n2 fsync(3) = 0\n3 fsync(3) = 0\n2 fsync(4) = 0\n",
     "fsync /a 1; fsync /b 1; fsync /z 1"},
    {"exec closes what it is told to", syncs, NULL,
     "open(\"/a\", O_RDWR|O_CLOEXEC) = 3\nopen(\"/b\", O_RDWR) = 4\nopen(\"/c\", O_RDWR) = 5\nfcntl(5, F_SETFD, FD_CLOEXEC) = 0\nexecve(\"/x\", [\"x\"], 0x7f) = 0\nfsync(3) = -1 EBADF (x)\nfsync(4) = 0\nfsync(5) = -1 EBADF (x)\n",
     "fsync  2 -2; fsync /b 1"},
    {"a failed exec closes nothing", syncs, NULL, "open(\"/a\", O_RDWR|O_CLOEXEC) = 3\nexecve(\"/x\", [\"x\"], 0x7f) = -1 ENOENT (x)\nfsync(3) = 0\n", "fsync /a 1"},
    {"a number used again has none of it", syncs, NULL, "7 open(\"/a\", O_RDWR) = 3\n7 +++ exited with 0 +++\n7 fsync(3) = 0\n", "fsync  1"},
    {"an open in two parts", syncs, NULL, "1 open(\"/a\", O_RDWR <unfinished ...>\n1 <... open resumed>) = 3\n1 fsync(3) = 0\n", "fsync /a 1"},
    {"a lost beginning opens nothing known", syncs, NULL, "1 <... open resumed>) = 3\n1 fsync(3) = 0\n", "fsync  1"},
};
/* clang-format on */

START_TEST(calls_are_summed_by_file)
{
    const struct trace_filter filter = {.calls = rows[_i].calls, .path = rows[_i].path};
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    AUTO(trace_free) struct trace *t = trace_new(&filter, table);
    AUTO(buf_fini) struct buf got = {0};

    trace_begin(t, 0);
    trace_feed(t, rows[_i].log, strlen(rows[_i].log));
    trace_end(t);
    (void)trace_finish(t);
    show(table, &got);
    ck_assert_msg(strcmp(buf_str(&got), rows[_i].want) == 0, "%s:\n%s", rows[_i].name,
                  buf_str(&got));
}
END_TEST

START_TEST(children_of_ff_have_their_parents_files)
{
    static const char parent[] =
        "open(\"/a\", O_RDWR) = 3\nfork() = 101\nopen(\"/b\", O_RDWR) = 4\n"
        "fsync(4) = 0\n+++ exited with 0 +++\n";
    static const char child[] = "fsync(3) = 0\nfsync(4) = -1 EBADF (x)\n+++ exited with 0 +++\n";
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    const struct trace_filter filter = {.calls = syncs};
    AUTO(trace_free) struct trace *t = trace_new(&filter, table);
    AUTO(buf_fini) struct buf got = {0};

    trace_begin(t, 100);
    trace_feed(t, parent, strlen(parent));
    trace_end(t);
    trace_begin(t, 101);
    trace_feed(t, child, strlen(child));
    trace_end(t);
    ck_assert_uint_eq(trace_finish(t)->calls, 6);
    show(table, &got);
    ck_assert_str_eq(buf_str(&got), "fsync  1 -1; fsync /a 1; fsync /b 1");
}
END_TEST

static void add_event(void *self, const struct trace_event *e)
{
    buf_printf(self, "%s %s at %lld took %lld; ", e->call, e->path, (long long)e->start_ns,
               (long long)e->ns);
}

START_TEST(watchers_are_told_of_calls_with_times)
{
    static const char log[] = "1 1796023600.5 fsync(3</a>) = 0 <0.002>\n"
                              "1 1796023600.6 fsync(3</a>) = 0\n"
                              "1 1796023600.7 read(3</a>) = 0 <0.1>\n"
                              "1 1796023601.0 fdatasync(3</b> <unfinished ...>\n"
                              "1 1796023602.0 <... fdatasync resumed>) = 0 <1.000001>\n";
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    const struct trace_filter filter = {.calls = syncs};
    AUTO(trace_free) struct trace *t = trace_new(&filter, table);
    AUTO(buf_fini) struct buf got = {0};

    trace_watch(t, add_event, &got);
    trace_begin(t, 0);
    trace_feed(t, log, strlen(log));
    trace_end(t);
    ck_assert_str_eq(buf_str(&got), "fsync /a at 1796023600500000000 took 2000000; "
                                    "fdatasync /b at 1796023601000000000 took 1000001000; ");
}
END_TEST

/* Every process opens as much as there is room for, and none of it is lost in silence. */
START_TEST(open_files_have_a_limit)
{
    AUTO(trace_table_free) struct trace_table *table = trace_table_new();
    const struct trace_filter filter = {.calls = syncs};
    AUTO(trace_free) struct trace *t = trace_new(&filter, table);
    AUTO(buf_fini) struct buf log = {0};

    for (int pid = 1; pid <= 300; pid++) {
        for (int fd = 3; fd < 1003; fd++)
            buf_printf(&log, "%d open(\"/some/folder/of/it/%d/%d\", O_RDWR) = %d\n", pid, pid, fd,
                       fd);
        buf_printf(&log, "%d fsync(%d) = 0\n", pid, 1000);
    }
    trace_begin(t, 0);
    trace_feed(t, log.data, log.len);
    trace_end(t);
    const struct strace_tally *tally = trace_finish(t);
    ck_assert_uint_eq(tally->rejects[STRACE_NO_ROOM], 300 * 1000 - TRACE_DESCRIPTORS_MOST);
    ck_assert_uint_eq(trace_table_sum(table).count, 300);
    ck_assert_ptr_nonnull(trace_table_find(table, "fsync", "/some/folder/of/it/1/1000"));
    ck_assert_ptr_nonnull(trace_table_find(table, "fsync", ""));
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {calls_are_summed_by_file, LEN(rows)},
        {children_of_ff_have_their_parents_files, 1},
        {watchers_are_told_of_calls_with_times, 1},
        {open_files_have_a_limit, 1},
    };
    return unit_run("trace", tests, LEN(tests));
}
