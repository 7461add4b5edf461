/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "commits/mirror.h"
#include "unit/git_fixture.h"
#include "unit/run.h"
#include <signal.h>
#include <sys/wait.h>

static enum err_code try_open(const char *name, const char *repository,
                              const struct fetch_watch *watch, struct mirror **out, struct err *e)
{
    struct mirror_place place = {"data", name, repository};

    *out = NULL;
    return mirror_open(&place, watch, out, e);
}

static struct mirror *open_mirror(const char *repository)
{
    struct mirror *m;
    struct err e = {0};

    ck_assert_msg(!try_open("m", repository, NULL, &m, &e), "%s", e.text);
    return m;
}

static bool resolves_to(const struct mirror *m, const char *name, const char *want)
{
    struct revision got = {""};

    return !mirror_resolve(m, name, &got, NULL) && !strcmp(got.hex, want);
}

/* Local repositories */

static const struct {
    const char *name, *make, *path, *head;
} kinds[] = {
    {"a repository", "", "r", "git -C r rev-parse HEAD"},
    {"a folder inside", "mkdir -p r/a/b", "r/a/b", "git -C r rev-parse HEAD"},
    {"its .git", "", "r/.git", "git -C r rev-parse HEAD"},
    {"a bare one", "git clone -q --bare r b", "b", "git -C b rev-parse HEAD"},
    {"a work tree beside, whose HEAD is its own", "git -C r worktree add -q ../w side", "w",
     "git -C r rev-parse side"},
    {"a detached HEAD", "git -C r checkout -q --detach side~1", "r", "git -C r rev-parse side~1"},
    {"a submodule's folder",
     "git init -q s; git -C s -c protocol.file.allow=always submodule --quiet add \"$TOP/r\" lib;"
     "git -C s/lib checkout -q origin/side",
     "s/lib", "git -C r rev-parse side"},
    {"one that borrows objects itself", "git clone -q --shared r b", "b",
     "git -C b rev-parse HEAD"},
    {"a sparse one", "git -C r sparse-checkout set docs", "r", "git -C r rev-parse HEAD"},
    {"one with everything packed", "git -C r gc -q; git -C r pack-refs --all", "r",
     "git -C r rev-parse HEAD"},
    {"a path with odd letters", "cp -r r \"r # \\\"x\\\" y\"", "r # \"x\" y",
     "git -C r rev-parse HEAD"},
};

static void make_repository(void)
{
    sh("git init -q -b main r; cd r; echo 1 >f; git add f; commit one; commit two\n"
       "git checkout -q -b side; commit three; commit four; git checkout -q main; commit five");
}

START_TEST(local_repositories_of_any_kind_open)
{
    fixture_start();
    make_repository();
    sh("%s", kinds[_i].make);
    AUTO(mirror_free) struct mirror *m = open_mirror(kinds[_i].path);
    AUTO(mem_free) char *head = sh_out("%s", kinds[_i].head);

    ck_assert_msg(resolves_to(m, "HEAD", head), "%s", kinds[_i].name);
    /* git itself can read what we made, and takes HEAD for the same. */
    AUTO(mem_free)
    char *ours = sh_out("cd '%s'; git rev-parse HEAD; git log --oneline | wc -l", mirror_path(m));
    ck_assert_msg(!strncmp(ours, head, 40), "%s: %s, not %s", kinds[_i].name, ours, head);
    fixture_end();
}
END_TEST

START_TEST(the_users_repository_is_only_read)
{
    static const char look[] = "cd r; echo dirty >>f; find . -printf '%p %T@ %C@ %s %m\n' | sort";
    static const char again[] = "cd r; find . -printf '%p %T@ %C@ %s %m\n' | sort";
    fixture_start();
    make_repository();
    AUTO(mem_free) char *before = sh_out("%s", look);
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    struct revision side, head;
    struct err e = {0};

    ck_assert(!mirror_resolve(m, "side", &side, &e) && !mirror_resolve(m, "HEAD", &head, &e));
    ck_assert_msg(!mirror_pin(m, "b1", &side, &head, &e), "%s", e.text);
    AUTO(mem_free) char *after = sh_out("%s", again);
    ck_assert_str_eq(before, after);
    AUTO(mem_free) char *objects = sh_out("find '%s/objects' -type f", mirror_path(m));
    ck_assert_msg(strstr(objects, "info/alternates") && !strchr(objects, '\n'), "%s", objects);
    fixture_end();
}
END_TEST

START_TEST(a_local_mirror_follows_the_refs)
{
    fixture_start();
    make_repository();
    mirror_free(open_mirror("r"));
    sh("cd r; git branch new side; git branch -q -D side; git tag -a -m x v1; commit six");
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    AUTO(mem_free) char *ours = sh_out("git -C '%s' for-each-ref", mirror_path(m));
    AUTO(mem_free) char *theirs = sh_out("git -C r for-each-ref");

    ck_assert_str_eq(ours, theirs);
    fixture_end();
}
END_TEST

START_TEST(a_second_repository_of_one_name_gets_its_own_mirror)
{
    fixture_start();
    make_repository();
    sh("git init -q -b main other; cd other; commit 'of the other'");
    AUTO(mirror_free)
    struct mirror *a = open_mirror("r"), *b = open_mirror("other"), *c = open_mirror("r"),
                  *d = open_mirror("other");

    ck_assert_str_ne(mirror_path(a), mirror_path(b));
    ck_assert_str_eq(mirror_path(a), mirror_path(c));
    ck_assert_str_eq(mirror_path(b), mirror_path(d));
    fixture_end();
}
END_TEST

/* Refusals */

static const struct {
    const char *make, *name, *repository;
    enum err_code code;
    const char *text, *hint;
} refused[] = {
    {"mkdir d", "m", "d", ERR_INVALID, "d: not a git repository", "bare repository"},
    {"", "m", "absent", ERR_INVALID, "absent: not a git repository", "bare repository"},
    {"echo x >file", "m", "file", ERR_INVALID, "file: not a git repository", "bare repository"},
    {"mkdir d; echo 'gitdir: nowhere' >d/.git", "m", "d", ERR_INVALID, "not a git repository", ""},
    {"git init -q --object-format=sha256 d", "m", "d", ERR_INVALID, "cannot read",
     "git -C d status"},
    {"", "../m", "r", ERR_INVALID, "name of a mirror '../m'", ""},
    {"", "", "r", ERR_INVALID, "name of a mirror", ""},
    {"", ".m", "r", ERR_INVALID, "name of a mirror", ""},
    {"", "a b", "r", ERR_INVALID, "name of a mirror", ""},
    {"", "m", "ext::sh -c touch% /tmp/x", ERR_INVALID, "", ""},
    {"", "m", "gopher://host/x", ERR_INVALID, "not a kind of URL", "https"},
    {"", "m", "file:///absent/x", ERR_PEER, "fetch file:///absent/x", ""},
    {"", "m", "http://127.0.0.1:1/x", ERR_PEER, "fetch http://127.0.0.1:1/x", ""},
    {"", "m", "git://127.0.0.1:1/x", ERR_PEER, "fetch git://127.0.0.1:1/x", ""},
    {"", "m", "http://me:secret@127.0.0.1:1/x", ERR_PEER, "http://me:***@127.0.0.1:1/x", ""},
    {"echo in-the-way >data", "m", "r", ERR_IO, "data", ""},
};

START_TEST(what_cannot_be_opened_says_why)
{
    AUTO(mirror_free) struct mirror *m = NULL;
    struct err e = {0};

    fixture_start();
    make_repository();
    sh("%s", refused[_i].make);
    enum err_code rc = try_open(refused[_i].name, refused[_i].repository, NULL, &m, &e);
    ck_assert_msg(rc == refused[_i].code && e.code == rc, "%s: %s: %s", refused[_i].repository,
                  err_name(rc), e.text);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "%s", e.text);
    ck_assert_msg(strstr(e.hint, refused[_i].hint) != NULL, "%s", e.hint);
    ck_assert_ptr_null(m);
    ck_assert_ptr_null(strstr(e.text, "secret"));
    fixture_end();
}
END_TEST

START_TEST(an_empty_repository_opens_and_has_no_revisions)
{
    fixture_start();
    sh("git init -q -b main r");
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    struct revision got;
    struct err e = {0};

    ck_assert_int_eq(mirror_resolve(m, "HEAD", &got, &e), ERR_NOT_FOUND);
    fixture_end();
}
END_TEST

/* URLs */

static void count_reports(void *context, const struct fetch_progress *p)
{
    uint32_t *most = context;

    *most = p->n_received > *most ? p->n_received : *most;
}

START_TEST(a_url_is_fetched_with_heads_tags_and_head)
{
    AUTO(mirror_free) struct mirror *m = NULL;
    uint32_t most = 0;
    struct fetch_watch watch = {.report = count_reports, .context = &most};
    struct err e = {0};

    fixture_start();
    make_repository();
    sh("git -C r tag -a -m x v1 side; git -C r checkout -q side");
    AUTO(mem_free) char *url = fixture_url("r");
    ck_assert_msg(!try_open("m", url, &watch, &m, &e), "%s", e.text);
    static const char *const names[] = {"main", "side", "v1", "HEAD", "origin/main", "side~2"};
    for (size_t i = 0; i < LEN(names); i++) {
        AUTO(mem_free)
        char *name = mem_dup(!strncmp(names[i], "origin/", 7) ? names[i] + 7 : names[i]);
        AUTO(mem_free) char *want = sh_out("git -C r rev-parse '%s^{commit}'", name);
        ck_assert_msg(resolves_to(m, names[i], want), "%s", names[i]);
    }
    sh("git -C '%s' fsck --strict", mirror_path(m));
    fixture_end();
}
END_TEST

START_TEST(a_second_fetch_follows_forced_deleted_and_renamed_branches)
{
    fixture_start();
    make_repository();
    AUTO(mem_free) char *url = fixture_url("r");
    mirror_free(open_mirror(url));
    sh("cd r; git branch -q -D side; git branch side/deeper main; git reset -q --hard HEAD~1\n"
       "commit other");
    AUTO(mirror_free) struct mirror *m = open_mirror(url);
    AUTO(mem_free)
    char *ours = sh_out("git -C '%s' for-each-ref refs/heads refs/tags", mirror_path(m));
    AUTO(mem_free) char *theirs = sh_out("git -C r for-each-ref");

    ck_assert_str_eq(ours, theirs);
    fixture_end();
}
END_TEST

START_TEST(what_a_killed_fetch_left_is_cleared)
{
    fixture_start();
    make_repository();
    AUTO(mem_free) char *url = fixture_url("r");
    AUTO(mirror_free) struct mirror *first = open_mirror(url);
    sh("cd '%s'; : >HEAD.lock; : >packed-refs.lock; : >refs/heads/main.lock; : >config.lock\n"
       ": >objects/pack/pack_git2_a1b2c3",
       mirror_path(first));
    sh("cd r; commit six; git checkout -q -b elsewhere");
    AUTO(mirror_free) struct mirror *m = open_mirror(url);
    AUTO(mem_free) char *want = sh_out("git -C r rev-parse main");
    AUTO(mem_free)
    char *left = sh_out("cd '%s'; find . -name '*.lock' -o -name 'pack_git2*'", mirror_path(m));

    ck_assert(resolves_to(m, "main", want));
    ck_assert_str_eq(left, "");
    fixture_end();
}
END_TEST

static const struct {
    const char *scheme;
    struct fetch_watch watch;
    const char *text;
} silences[] = {
    {"git", {.stall_ns = 300 * NS_PER_MS}, "no answer for"},
    {"http", {.stall_ns = 300 * NS_PER_MS}, "no answer for"},
    {"http", {.timeout_ns = 300 * NS_PER_MS}, "took longer than"},
};

START_TEST(a_silent_server_is_not_waited_for)
{
    AUTO(mirror_free) struct mirror *m = NULL;
    struct mono begun = mono_now();
    struct err e = {0};
    int port, fd = fixture_listen(&port);

    fixture_start();
    AUTO(mem_free) char *url = mem_printf("%s://127.0.0.1:%d/r.git", silences[_i].scheme, port);
    ck_assert_int_eq(try_open("m", url, &silences[_i].watch, &m, &e), ERR_TIMEOUT);
    ck_assert_msg(strstr(e.text, silences[_i].text) && strstr(e.text, url), "%s", e.text);
    ck_assert(mono_now().ns - begun.ns < 10 * NS_PER_S);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
    close(fd);
    fixture_end();
}
END_TEST

START_TEST(a_commit_outside_heads_and_tags_is_fetched_by_its_hash)
{
    int port;

    fixture_start();
    make_repository();
    AUTO(mem_free)
    char *want =
        sh_out("cd r; git config uploadpack.allowAnySHA1InWant true; git checkout -q --detach\n"
               "commit hidden; git update-ref refs/pull/1/head HEAD; git rev-parse HEAD;"
               "git checkout -q main");
    pid_t server = fixture_serve(&port);
    AUTO(mem_free) char *url = mem_printf("git://127.0.0.1:%d/r", port);
    AUTO(mirror_free) struct mirror *m = open_mirror(url);
    AUTO(mem_free) char *main_is = sh_out("git -C r rev-parse main");

    ck_assert(resolves_to(m, "main", main_is));
    ck_assert(resolves_to(m, want, want));
    fixture_unserve(server);
    fixture_end();
}
END_TEST

/* Pins */

START_TEST(pins_keep_a_fetched_range)
{
    struct revision good, bad;
    struct err e = {0};

    fixture_start();
    make_repository();
    AUTO(mem_free) char *url = fixture_url("r");
    AUTO(mirror_free) struct mirror *m = open_mirror(url);
    ck_assert(!mirror_resolve(m, "main", &good, &e) && !mirror_resolve(m, "side", &bad, &e));
    ck_assert_msg(!mirror_pin(m, "b1", &good, &bad, &e), "%s", e.text);
    ck_assert_msg(!mirror_pin(m, "b1", &good, &bad, &e), "again: %s", e.text);
    sh("git -C r branch -q -D side");
    mirror_free(open_mirror(url));
    sh("cd '%s'; git gc -q --prune=now; git cat-file -e %s", mirror_path(m), bad.hex);
    ck_assert_msg(!mirror_unpin(m, "b1", &e), "%s", e.text);
    ck_assert_msg(!mirror_unpin(m, "b1", &e), "again: %s", e.text);
    AUTO(mem_free) char *refs = sh_out("cd '%s'; git for-each-ref refs/bisectd", mirror_path(m));
    ck_assert_str_eq(refs, "");
    sh("cd '%s'; git gc -q --prune=now; ! git cat-file -e %s 2>/dev/null", mirror_path(m), bad.hex);
    fixture_end();
}
END_TEST

START_TEST(packed_pins_of_a_local_mirror_outlive_its_next_opening)
{
    struct revision head;
    struct err e = {0};

    fixture_start();
    make_repository();
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    ck_assert(!mirror_resolve(m, "HEAD", &head, &e) && !mirror_pin(m, "b1", &head, &head, &e));
    sh("git -C '%s' pack-refs --all; git -C r branch another", mirror_path(m));
    mirror_free(open_mirror("r"));
    AUTO(mem_free) char *pin = sh_out("git -C '%s' rev-parse refs/bisectd/b1/bad", mirror_path(m));
    ck_assert_str_eq(pin, head.hex);
    ck_assert_int_eq(mirror_pin(m, "../x", &head, &head, &e), ERR_INVALID);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {local_repositories_of_any_kind_open, LEN(kinds)},
        {the_users_repository_is_only_read, 1},
        {a_local_mirror_follows_the_refs, 1},
        {a_second_repository_of_one_name_gets_its_own_mirror, 1},
        {what_cannot_be_opened_says_why, LEN(refused)},
        {an_empty_repository_opens_and_has_no_revisions, 1},
        {a_url_is_fetched_with_heads_tags_and_head, 1},
        {a_second_fetch_follows_forced_deleted_and_renamed_branches, 1},
        {what_a_killed_fetch_left_is_cleared, 1},
        {a_silent_server_is_not_waited_for, LEN(silences)},
        {a_commit_outside_heads_and_tags_is_fetched_by_its_hash, 1},
        {pins_keep_a_fetched_range, 1},
        {packed_pins_of_a_local_mirror_outlive_its_next_opening, 1},
    };
    return unit_run("mirror", tests, LEN(tests));
}
