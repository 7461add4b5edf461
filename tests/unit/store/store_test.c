/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "store/schema.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

START_TEST(keeps_what_was_committed)
{
    AUTO(place_fini) struct place p = place_new();
    struct id kept = bisection_in(&p, "kept");
    OK(store_begin(p.store, e));
    struct id lost = bisection_in(&p, "lost");
    store_rollback(p.store);
    OK(store_begin(p.store, e));
    struct id forgotten = bisection_in(&p, "forgotten"); /* closed without a commit */
    place_reopen(&p);

    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    OK(store_bisection_load(p.store, kept.text, &b, e));
    ck_assert_str_eq(b->project, "kept");
    FAILS(store_bisection_load(p.store, lost.text, &b, e), ERR_NOT_FOUND, lost.text);
    FAILS(store_bisection_load(p.store, forgotten.text, &b, e), ERR_NOT_FOUND, forgotten.text);
}
END_TEST

START_TEST(one_failure_does_not_spoil_the_turn)
{
    AUTO(place_fini) struct place p = place_new();
    OK(store_begin(p.store, e));
    struct id id = bisection_in(&p, "demo");
    AUTO(request_free) struct request *same = request_of("demo");
    struct id other;
    FAILS(store_bisection_create(p.store, same, noon, &other, e), ERR_CONFLICT, "same question");
    FAILS(store_event_append(p.store, "nosuch", "started", NULL, noon, NULL, e), ERR_NOT_FOUND,
          "nosuch");
    OK(store_event_append(p.store, id.text, "started", NULL, noon, NULL, e));
    OK(store_commit(p.store, e));
    place_reopen(&p);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), 1);
}
END_TEST

START_TEST(settings_are_those_of_a_durable_store)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(query_end) struct query q = {0};
    OK(db_first(p.store, &q, "PRAGMA journal_mode", NO_CELLS, e));
    ck_assert_str_eq(query_text(&q, 0), "wal");
    ck_assert_int_eq(place_count(&p, "PRAGMA synchronous"), 2);
    ck_assert_int_eq(place_count(&p, "PRAGMA foreign_keys"), 1);
    ck_assert_int_eq(place_count(&p, "PRAGMA user_version"), schema_version());
    struct stat st;
    ck_assert_int_eq(stat(p.dir, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0700);
}
END_TEST

START_TEST(makes_its_folder)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *deep = path_join(p.dir, "a/b/c");
    AUTO(store_close) struct store *s = NULL;
    OK(store_open(deep, &s, e));
    ck_assert_str_eq(store_data_dir(s), deep);
}
END_TEST

/* ---- files that cannot be used ---- */

static char *file_in(const struct place *p)
{
    return path_join(p->dir, "bisectd.db");
}

static void spoil(const struct place *p, long offset, size_t n)
{
    AUTO(mem_free) char *path = file_in(p);
    AUTO(fd_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
    AUTO(mem_free) char *junk = mem_alloc(n);
    memset(junk, 0xa5, n);
    ck_assert_int_eq(pwrite(fd, junk, n, offset), (ssize_t)n);
}

/* clang-format off */
static const struct {
    const char *name;
    const char *sql;      /* done by another program to the file */
    long junk_at;         /* bytes written over the file; -1: none */
    size_t n_junk;
    enum err_code want;
    const char *says;
} bad_files[] = {
    {"newer schema",            "PRAGMA user_version = 999",  -1, 0, ERR_INVALID, "upgrade bisectd"},
    {"newer schema, versions",  "PRAGMA user_version = 999",  -1, 0, ERR_INVALID, "schema 999"},
    {"somebody else's",         "PRAGMA application_id = 77", -1, 0, ERR_INVALID, "another program"},
    {"header overwritten",      NULL,  0,    100,  ERR_IO, "restore a backup"},
    {"first page overwritten",  NULL,  100,  3000, ERR_IO, "restore a backup"},
    {"a later page overwritten", NULL, 4096, 4096, ERR_IO, ".recover"},
};
/* clang-format on */

START_TEST(a_bad_file_is_refused_with_advice)
{
    AUTO(place_fini) struct place p = place_new();
    bisection_in(&p, "demo");
    place_close(&p);
    if (bad_files[_i].sql)
        place_meddle(&p, bad_files[_i].sql);
    if (bad_files[_i].n_junk)
        spoil(&p, bad_files[_i].junk_at, bad_files[_i].n_junk);
    FAILS(store_open(p.dir, &p.store, e), bad_files[_i].want, bad_files[_i].says);
    FAILS(store_open(p.dir, &p.store, e), bad_files[_i].want, "bisectd.db");
}
END_TEST

START_TEST(a_text_file_is_no_database)
{
    AUTO(place_fini) struct place p = place_new();
    place_close(&p);
    AUTO(mem_free) char *path = file_in(&p);
    static const char text[] =
        "this is not a database, whatever its name says, and it is long enough "
        "to have a header of one hundred bytes\n";
    OK(file_write(path, text, sizeof(text) - 1, 0600, e));
    FAILS(store_open(p.dir, &p.store, e), ERR_IO, "not a database");
}
END_TEST

START_TEST(an_interrupted_first_start_is_no_harm)
{
    AUTO(place_fini) struct place p = place_new();
    place_close(&p);
    AUTO(mem_free) char *path = file_in(&p);
    OK(file_write(path, "", 0, 0600, e));
    OK(store_open(p.dir, &p.store, e));
    bisection_in(&p, "demo");
}
END_TEST

START_TEST(a_file_is_no_folder)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *path = file_in(&p);
    AUTO(store_close) struct store *s = NULL;
    FAILS(store_open(path, &s, e), ERR_IO, "not a folder");
    FAILS(store_open("/proc/nosuch", &s, e), ERR_IO, "data_dir");
}
END_TEST

/** Runs `body` in a child without privileges, and fails if it fails. */
static void as_nobody(void (*body)(struct place *), struct place *p)
{
    pid_t pid = fork();
    if (!pid) {
        if (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
            _exit(2);
        body(p);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", (unsigned)status);
}

/** Check's own asserts do not reach the parent from a second fork. */
static void expect_open(struct place *p, enum err_code want, const char *says)
{
    struct err e = {0};
    enum err_code code = store_open(p->dir, &p->store, &e);
    if (code == want && (strstr(e.text, says) || strstr(e.hint, says)) && *e.hint)
        return;
    fprintf(stderr, "code %d: %s (%s)\n", (int)code, e.text, e.hint);
    _exit(1);
}

static void expect_read_only_file(struct place *p)
{
    expect_open(p, ERR_IO, "writable");
}

static void expect_read_only_folder(struct place *p)
{
    expect_open(p, ERR_IO, "writable");
}

static void make_mode(const struct place *p, mode_t folder, mode_t file)
{
    AUTO(mem_free) char *path = file_in(p);
    AUTO(mem_free) char *lock = path_join(p->dir, "lock");
    if (!geteuid()) {
        ck_assert_int_eq(chown(p->dir, 65534, 65534), 0);
        ck_assert_int_eq(chown(path, 65534, 65534), 0);
        (void)!chown(lock, 65534, 65534); /* may not be there */
    }
    ck_assert_int_eq(chmod(path, file), 0);
    ck_assert_int_eq(chmod(p->dir, folder), 0);
}

START_TEST(a_read_only_file_is_refused_with_advice)
{
    AUTO(place_fini) struct place p = place_new();
    place_close(&p);
    make_mode(&p, 0700, 0400);
    as_nobody(expect_read_only_file, &p);
    make_mode(&p, 0700, 0000);
    as_nobody(expect_read_only_file, &p);
}
END_TEST

START_TEST(a_read_only_folder_is_refused_with_advice)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *lock = path_join(p.dir, "lock");
    place_close(&p);
    ck_assert_int_eq(unlink(lock), 0);
    ck_assert_int_eq(close(open(lock, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    make_mode(&p, 0500, 0600);
    as_nobody(expect_read_only_folder, &p); /* no place for the log beside the database */
    ck_assert_int_eq(unlink(lock), 0);
    as_nobody(expect_read_only_folder, &p); /* nor for the lock */
    make_mode(&p, 0700, 0600);
}
END_TEST

/* ---- a full disk ---- */

/** Fills the store in turns until one fails; returns how many bisections it was told it has. */
static int fill(struct place *p)
{
    AUTO(buf_fini) struct buf big = {0};
    memset(buf_room(&big, 20000), 'x', 20000);
    big.len = 20000;
    AUTO(json_free) json *payload = json_new_string(buf_str(&big));
    struct id id = bisection_in(p, "demo");
    int n = 0;

    for (; n < 10000; n++) {
        struct err e = {0};
        enum err_code code = store_begin(p->store, &e);
        ck_assert_msg(!code, "%s", e.text);
        code = store_event_append(p->store, id.text, "big", payload, noon, NULL, &e);
        if (!code)
            code = store_commit(p->store, &e);
        if (!code)
            continue;
        ck_assert_int_eq(code, ERR_IO);
        ck_assert_msg(strstr(e.hint, "free some space"), "%s (%s)", e.text, e.hint);
        store_rollback(p->store);
        break;
    }
    ck_assert_int_gt(n, 2);
    ck_assert_int_lt(n, 10000);
    return n;
}

START_TEST(a_full_database_says_so_and_keeps_the_rest)
{
    AUTO(place_fini) struct place p = place_new();
    place_count(&p, "PRAGMA max_page_count = 200");
    int n = fill(&p);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), n);
    place_reopen(&p);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), n);
}
END_TEST

START_TEST(a_turn_that_failed_cannot_be_committed)
{
    AUTO(place_fini) struct place p = place_new();
    struct id id = bisection_in(&p, "demo");
    AUTO(buf_fini) struct buf big = {0};
    memset(buf_room(&big, 2000000), 'x', 2000000);
    big.len = 2000000;
    AUTO(json_free) json *payload = json_new_string(buf_str(&big));
    place_count(&p, "PRAGMA max_page_count = 100");

    OK(store_begin(p.store, e));
    OK(store_event_append(p.store, id.text, "small", NULL, noon, NULL, e));
    FAILS(store_event_append(p.store, id.text, "big", payload, noon, NULL, e), ERR_IO, "full");
    struct err e = {0};
    if (sqlite3_get_autocommit(p.store->db)) { /* SQLite undid the whole turn: nothing may follow */
        ck_assert_int_eq(store_event_append(p.store, id.text, "more", NULL, noon, NULL, &e),
                         ERR_IO);
        ck_assert_int_eq(store_commit(p.store, &e), ERR_IO);
        ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), 0);
    } else {
        ck_assert_int_eq(store_commit(p.store, &e), ERR_OK);
        ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), 1);
    }
}
END_TEST

/** True with a file system of 1 MiB over the folder, seen by this process alone. */
static bool mount_small(const char *dir)
{
    return !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
           !mount("small", dir, "tmpfs", 0, "size=1m,mode=700");
}

START_TEST(a_full_disk_says_so_and_keeps_the_rest)
{
    AUTO(place_fini) struct place outer = place_new();
    place_close(&outer);
    struct place p = outer;
    if (!mount_small(p.dir)) /* not root: the test of max_page_count has to do */
        return;
    OK(store_open(p.dir, &p.store, e));
    int n = fill(&p);
    ck_assert_int_eq(place_count(&p, "SELECT count(*) FROM events"), n);
    store_close(p.store);
    ck_assert_int_eq(umount(p.dir), 0);
}
END_TEST

/* ---- the lock ---- */

/** A child that holds the store until it is killed. */
static pid_t start_holder(const char *dir)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    pid_t pid = fork();
    if (!pid) {
        struct store *s = NULL;
        struct err e = {0};
        close(ready[0]);
        if (store_open(dir, &s, &e))
            _exit(1);
        (void)!write(ready[1], "r", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

START_TEST(a_second_process_is_told_whose_it_is)
{
    AUTO(place_fini) struct place p = place_new();
    place_close(&p);
    pid_t holder = start_holder(p.dir);
    char want[64];
    snprintf(want, sizeof(want), "in use by process %d", (int)holder);
    FAILS(store_open(p.dir, &p.store, e), ERR_CONFLICT, want);

    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    OK(store_open(p.dir, &p.store, e)); /* no stale lock */
}
END_TEST

START_TEST(waits_for_a_shell_that_writes_and_then_says_so)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(mem_free) char *path = file_in(&p);
    sqlite3 *db = NULL;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_busy_timeout(p.store->db, 50);
    FAILS(store_begin(p.store, e), ERR_IO, "another program");
    FAILS(store_event_append(p.store, "x", "y", NULL, noon, NULL, e), ERR_IO, "another program");
    ck_assert_int_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    OK(store_begin(p.store, e));
    OK(store_commit(p.store, e));
}
END_TEST

/* ---- the rest ---- */

START_TEST(a_backup_is_a_whole_store)
{
    AUTO(place_fini) struct place p = place_new();
    AUTO(place_fini) struct place other = place_new();
    struct id id = bisection_in(&p, "demo");
    AUTO(mem_free) char *copy = path_join(p.dir, "copy.db");
    OK(store_backup(p.store, copy, e));
    FAILS(store_backup(p.store, copy, e), ERR_CONFLICT, "exists");

    place_close(&other);
    AUTO(mem_free) char *target = file_in(&other);
    ck_assert_int_eq(rename(copy, target), 0);
    OK(store_open(other.dir, &other.store, e));
    AUTO(bisection_row_free) struct bisection_row *b = NULL;
    OK(store_bisection_load(other.store, id.text, &b, e));
    OK(store_check(other.store, e));
}
END_TEST

START_TEST(counts_what_is_there)
{
    AUTO(place_fini) struct place p = place_new();
    struct id b = bisection_in(&p, "demo");
    struct store_counts c;
    task_in(&p, &b, 0);
    task_in(&p, &b, 1);
    task_in(&p, &b, 2);
    AUTO(lease_row_fini) struct lease_row first = lease_in(&p, "w1", 0);
    lease_away(&p, "w2", 0);
    accept_in(&p, &first);
    OK(store_count(p.store, &c, e));
    ck_assert_int_eq(c.bisections[BISECTION_QUEUED], 1);
    ck_assert_int_eq(c.tasks[TASK_QUEUED], 1);
    ck_assert_int_eq(c.tasks[TASK_LEASED], 1);
    ck_assert_int_eq(c.tasks[TASK_DONE], 1);
    ck_assert_int_eq(c.open_leases, 1);
    ck_assert_int_eq(c.samples, 3);
    ck_assert_int_eq(c.builds, 2);
    ck_assert_int_eq(c.workers, 2);
    ck_assert_int_gt(c.database_bytes, 4096);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {keeps_what_was_committed, 1},
        {one_failure_does_not_spoil_the_turn, 1},
        {settings_are_those_of_a_durable_store, 1},
        {makes_its_folder, 1},
        {a_bad_file_is_refused_with_advice, LEN(bad_files)},
        {a_text_file_is_no_database, 1},
        {an_interrupted_first_start_is_no_harm, 1},
        {a_file_is_no_folder, 1},
        {a_read_only_file_is_refused_with_advice, 1},
        {a_read_only_folder_is_refused_with_advice, 1},
        {a_full_database_says_so_and_keeps_the_rest, 1},
        {a_turn_that_failed_cannot_be_committed, 1},
        {a_full_disk_says_so_and_keeps_the_rest, 1},
        {a_second_process_is_told_whose_it_is, 1},
        {waits_for_a_shell_that_writes_and_then_says_so, 1},
        {a_backup_is_a_whole_store, 1},
        {counts_what_is_there, 1},
    };
    return unit_run("store", tests, LEN(tests));
}
