/* SPDX-License-Identifier: Apache-2.0 */
/** Altered checkouts, each compared with what the git program makes of the same. */
#include "base/base64.h"
#include "unit/git_fixture.h"
#include "unit/run.h"
#include "workers/source/checkout.h"

enum deed { REVERT, PICK, PATCH };

/**
 * In r: `a` is the revision, `x` the commit to be moved, ../p the patch; ours is compared with what
 * `git` makes of a. An error is told in words instead.
 */
/* clang-format off */
static const struct {
    const char *name;
    enum deed deed;
    const char *make, *git;
    const char *says; /* NULL: it fits */
} rows[] = {
    {"a revert on top", REVERT, "write f 2; commit x; git tag x; write g 1; commit a", "git revert -n x", NULL},
    {"a revert of a deletion", REVERT, "git rm -q f; commit x; git tag x; write g 1; commit a", "git revert -n x", NULL},
    {"a revert of a merge takes out what it brought", REVERT,
     "git checkout -q -b side; write s 1; commit s; write s 2; commit s2; git checkout -q main; write g 1; commit g; merge side; git tag x; write g 2; commit a",
     "git revert -n -m 1 x", NULL},
    {"a revert of the revision itself", REVERT, "write f 2; commit a; git tag x", "git revert -n x", NULL},
    {"a revert beside another change of the file", REVERT,
     "seq 30 >f; git add f; commit n; sed -i '3s/.*/x/' f; git commit -q -am x; git tag x; sed -i '27s/.*/y/' f; git commit -q -am a",
     "git revert -n x", NULL},
    {"a revert of a rename under a later change", REVERT,
     "seq 30 >f; git add f; commit n; git mv f h; commit x; git tag x; sed -i '27s/.*/y/' h; git commit -q -am a",
     "git revert -n x", NULL},
    {"a revert that conflicts", REVERT, "write f 2; commit x; git tag x; write f 3; commit a", "", "reverting $x conflicts in f"},
    {"a revert of what was undone since", REVERT, "write f 2; commit x; git tag x; write f 1; commit a", "", "reverting $x changes nothing"},
    {"a commit picked", PICK, "git checkout -q -b side; write s 1; commit x; git tag x; git checkout -q main; write g 1; commit a", "git cherry-pick -n x", NULL},
    {"a pick that is there already", PICK, "write s 1; commit x; git tag x; write g 1; commit a", "git status -s", NULL},
    {"a pick that conflicts", PICK, "git checkout -q -b side; write f 2; commit x; git tag x; git checkout -q main; write f 3; commit a", "", "cherry-picking $x conflicts in f"},
    {"a patch", PATCH, "write f 2; git diff HEAD >../p; git checkout -q -f; commit a", "git apply --index ../p", NULL},
    {"a patch with an offset", PATCH,
     "seq 30 >f; git add f; commit n; sed -i '15s/.*/x/' f; git diff >../p; git checkout -q f; sed -i '1i one\\ntwo' f; git commit -q -am a",
     "git apply --index ../p", NULL},
    {"a patch that adds, removes, renames and changes a mode", PATCH,
     "mkdir d; seq 20 >d/r; seq 9 >m; git add .; commit n; git mv d/r d/s; chmod +x m; git rm -q f; write new 1; git add .; git diff -M HEAD >../p; git reset -q --hard; commit a",
     "git apply --index ../p", NULL},
    {"a patch of bytes that are no text", PATCH,
     "head -c 3000 /dev/urandom >b; git add b; commit n; head -c 3000 /dev/urandom >b; git diff --binary >../p; git checkout -q b; commit a",
     "git apply --index ../p", NULL},
    {"a patch with its message", PATCH, "write f 2; commit x; git format-patch -q -1 --stdout >../p; git reset -q --hard HEAD~1; commit a", "git apply --index ../p", NULL},
    {"a patch of diff -u", PATCH, "mkdir -p o/a o/b; cp f o/a/; echo 2 >o/b/f; (cd o; diff -u a/f b/f >../../p || :); rm -r o; commit a", "git apply --index ../p", NULL},
    {"a patch of Latin-1", PATCH, "printf 'caf\\351\\n1\\n' >f; git add f; commit n; printf 'caf\\351\\n2\\n' >f; git diff >../p; git checkout -q f; commit a", "git apply --index ../p", NULL},
    {"a patch that does not apply", PATCH, "write f 2; git diff HEAD >../p; git checkout -q -f; write f 3; commit a", "", "p does not apply: f:1"},
    {"a patch of a file that is not there", PATCH, "write f 2; git diff HEAD >../p; git checkout -q -f; git rm -q f; commit a", "", "p does not apply: f: does not exist"},
    {"a patch that leads out", PATCH, "printf -- '--- /dev/null\\n+++ b/../../out\\n@@ -0,0 +1 @@\\n+x\\n' >../p; commit a", "", "p does not apply: "},
    {"a patch into git's own folder", PATCH, "printf 'diff --git a/.git/config b/.git/config\\nnew file mode 100644\\n--- /dev/null\\n+++ b/.git/config\\n@@ -0,0 +1 @@\\n+x\\n' >../p; commit a", "", "p does not apply: "},
    {"what is no patch", PATCH, "echo hello >../p; commit a", "", "p does not apply: No valid patches"},
};
/* clang-format on */

static struct revision revision_of(const char *name)
{
    AUTO(mem_free) char *hex = sh_out("git -C r rev-parse '%s^{commit}'", name);
    struct revision r;

    ck_assert(!revision_parse(hex, &r, NULL));
    return r;
}

static char *picture(const char *folder)
{
    return sh_out(
        "cd '%s'; find . -mindepth 1 -name .git -prune -o -type f -printf 'f %%m ' -print0 "
        "-exec sha1sum -z {} + -o -printf '%%y %%m %%p %%l\\0' | tr '\\0' '\\n' |"
        " LC_ALL=C sort",
        folder);
}

static void make(size_t i)
{
    sh("write() { echo $2 >$1; git add $1; }\n"
       "umask 022; git init -q -b main r; cd r; write f 1; commit first\n%s; git tag a",
       rows[i].make);
}

static char *content_of(const char *path)
{
    AUTO(buf_fini) struct buf bytes = {0};
    struct buf text = {0};

    ck_assert(!file_read(path, MIB, &bytes, NULL));
    base64_add(&text, bytes.data, bytes.len);
    return buf_take(&text);
}

START_TEST(altered_checkouts_are_as_git_makes_them)
{
    fixture_start();
    make((size_t)_i);
    struct fixup fixup = {0};
    const struct fixup *fixups[] = {&fixup};
    struct alteration a = {.fixups = fixups, .n_fixups = rows[_i].deed != REVERT};
    struct source s = {
        .repository = "r", .cache_dir = "cache", .tree_dir = "tree", .alteration = &a};
    struct revision at = revision_of("a");
    struct checkout_count count;
    struct err e = {0};

    if (rows[_i].deed == REVERT)
        a.revert = revision_of("x");
    else if (rows[_i].deed == PICK)
        fixup.commit = revision_of("x");
    else
        fixup = (struct fixup){.patch = mem_dup("p"), .content = content_of("p")};
    enum err_code code = source_checkout(&s, &at, &count, &e);
    if (rows[_i].says) {
        AUTO(mem_free) char *want = NULL;
        const char *x = strstr(rows[_i].says, "$x");
        ck_assert_msg(code == ERR_INVALID, "%s: %d %s", rows[_i].name, code, e.text);
        if (x)
            want = mem_printf("%.*s%.10s%s", (int)(x - rows[_i].says), rows[_i].says,
                              revision_of("x").hex, x + 2);
        ck_assert_msg(strstr(e.text, want ? want : rows[_i].says) != NULL, "%s: %s", rows[_i].name,
                      e.text);
    } else {
        ck_assert_msg(code == ERR_OK, "%s: %s", rows[_i].name, e.text);
        sh("umask 022; git clone -q r want; cd want; git -c advice.detachedHead=false checkout -q "
           "a; %s",
           rows[_i].git);
        AUTO(mem_free) char *want = picture("want");
        AUTO(mem_free) char *have = picture("tree");
        ck_assert_msg(!strcmp(want, have), "%s: ours:\n%s\ngit's:\n%s", rows[_i].name, have, want);
        ck_assert(!source_verify(&s, &e));
    }
    sh("cd r; test -z \"$(git status --porcelain)\"; git fsck --no-dangling 2>&1 | grep -q . && "
       "exit 1 || :");
    mem_free(fixup.patch);
    mem_free(fixup.content);
    fixture_end();
}
END_TEST

START_TEST(the_next_checkout_is_the_revision_again)
{
    fixture_start();
    make(0);
    struct alteration a = {.revert = revision_of("x")};
    struct source altered = {
        .repository = "r", .cache_dir = "cache", .tree_dir = "tree", .alteration = &a};
    struct source plain = {.repository = "r", .cache_dir = "cache", .tree_dir = "tree"};
    struct revision at = revision_of("a");
    struct checkout_count count;
    struct err e = {0};

    for (int i = 0; i < 2; i++) {
        ck_assert_msg(!source_checkout(&altered, &at, &count, &e), "%s", e.text);
        sh("test $(cat tree/f) = 1");
        ck_assert_msg(!source_checkout(&plain, &at, &count, &e), "%s", e.text);
        ck_assert_uint_eq(count.n_written, 1);
        sh("test $(cat tree/f) = 2");
    }
    fixture_end();
}
END_TEST

START_TEST(a_commit_to_pick_is_fetched)
{
    fixture_start();
    make(8);
    AUTO(mem_free) char *url = fixture_url("r");
    struct fixup fixup = {.commit = revision_of("x")};
    const struct fixup *fixups[] = {&fixup};
    struct alteration a = {.fixups = fixups, .n_fixups = 1};
    struct source s = {
        .repository = url, .cache_dir = "cache", .tree_dir = "tree", .alteration = &a};
    struct revision at = revision_of("a");
    struct err e = {0};

    ck_assert_msg(!source_checkout(&s, &at, NULL, &e), "%s", e.text);
    sh("test $(cat tree/s) = 1; test $(cat tree/g) = 1");
    fixup.commit.hex[0] ^= 1;
    ck_assert_int_eq(source_checkout(&s, &at, NULL, &e), ERR_NOT_FOUND);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {altered_checkouts_are_as_git_makes_them, LEN(rows)},
        {the_next_checkout_is_the_revision_again, 1},
        {a_commit_to_pick_is_fetched, 1},
    };

    return unit_run("alter", tests, LEN(tests));
}
