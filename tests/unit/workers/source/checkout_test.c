/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/git_fixture.h"
#include "unit/run.h"
#include "workers/source/checkout.h"
#include <sys/stat.h>

/* Every tree of ours is compared with what the git program checks out. */

static struct source source_of(const char *repository)
{
    return (struct source){.repository = repository, .cache_dir = "cache", .tree_dir = "tree"};
}

static struct revision revision_of(const char *repository, const char *name)
{
    AUTO(mem_free) char *hex = sh_out("git -C '%s' rev-parse '%s^{commit}'", repository, name);
    struct revision r;

    ck_assert(!revision_parse(hex, &r, NULL));
    return r;
}

static struct checkout_count check_out(const struct source *s, const char *name)
{
    struct revision r =
        revision_of(strncmp(s->repository, "file://", 7) ? s->repository : s->repository + 7, name);
    struct checkout_count count = {0};
    struct err e = {0};

    ck_assert_msg(!source_checkout(s, &r, &count, &e), "%s: %s", name, e.text);
    ck_assert_msg(!source_verify(s, &e), "%s: %s", name, e.text);
    return count;
}

/** Names, kinds, modes, targets and bytes; .git of git's own left out. */
static char *picture(const char *folder)
{
    return sh_out("umask 022; cd '%s'; find . -mindepth 1 -name .git -prune -o -type f -printf 'f "
                  "%%m ' -print0"
                  " -exec sha1sum -z {} + -o -printf '%%y %%m %%p %%l\\0' | tr '\\0' '\\n' | sed "
                  "'s/^l 777/l/' |"
                  " LC_ALL=C sort",
                  folder);
}

static char *picture_of_git(const char *repository, const char *name)
{
    sh("rm -rf want; umask 022\n"
       "git -c protocol.file.allow=always clone -q --no-checkout '%s' want 2>/dev/null\n"
       "cd want; git -c advice.detachedHead=false checkout -q '%s'\n"
       "[ ! -e .gitmodules ] ||\n"
       "    git -c protocol.file.allow=always submodule --quiet update --init --recursive",
       repository, name);
    return picture("want");
}

static void must_look(const char *want, const char *what)
{
    AUTO(mem_free) char *ours = picture("tree");

    ck_assert_msg(!strcmp(ours, want), "%s: ours:\n%s\ngit's:\n%s", what, ours, want);
}

static void must_equal_git(const char *repository, const char *name)
{
    AUTO(mem_free) char *want = picture_of_git(repository, name);

    must_look(want, name);
}

/** There and back: a, b, a, b. */
static void go_to_and_fro(const char *repository)
{
    AUTO(mem_free) char *a = picture_of_git(repository, "a"), *b = picture_of_git(repository, "b");
    struct source s = source_of(repository);

    for (int i = 0; i < 2; i++) {
        check_out(&s, "a");
        must_look(a, "a");
        check_out(&s, "b");
        must_look(b, "b");
    }
}

/* From one revision to the next */

static const struct {
    const char *name, *before, *after;
} changes[] = {
    {"a file becomes a folder", "echo 1 >x", "rm x; mkdir -p x/y; echo 2 >x/y/z"},
    {"a file becomes a link", "echo 1 >x", "rm x; ln -s y x"},
    {"a folder becomes a link", "mkdir x; echo 1 >x/y; echo 1 >z", "rm -r x; ln -s z x"},
    {"a link's target changes", "ln -s a x", "ln -sf b x"},
    {"a link out of the tree, and one to nowhere", "ln -s /etc/passwd x", "ln -s ../../nowhere y"},
    {"only the executable bit changes", "echo 1 >x", "chmod +x x"},
    {"the executable bit and bytes change", "echo 1 >x", "echo 2 >x; chmod +x x"},
    {"an empty file fills", ": >x", "echo 1 >x"},
    {"a folder goes, deep down", "mkdir -p a/b/c/d; echo 1 >a/b/c/d/e; echo 1 >a/f", "rm -r a/b"},
    {"everything goes", "mkdir a; echo 1 >a/b; echo 1 >c", "rm -r a c"},
    {"names whose order is tricky",
     "mkdir a a.b; echo 1 >a/x; echo 1 >a.b/x; echo 1 >a-c; echo 1 >a0",
     "mkdir -p a/x.d; echo 2 >a/x.d/q; echo 2 >a-; rm a0"},
    {"names that are not nice",
     "echo 1 >' x'; echo 1 >\"$(printf 'new\\nline')\"; echo 1 >\"$(printf 'b\\377d')\"",
     "echo 2 >' x'; echo 2 >'*'; echo 2 >-rf; echo 2 >'a\"b'; mkdir ' '; echo 1 >' / '"},
    {"a name that begins with .git", "echo 1 >.gitx; echo 1 >.github",
     "echo 2 >.gitx; echo '*' >.gitignore"},
    {"bytes that are no text", "head -c 300000 /dev/zero >x", "head -c 300001 /dev/zero >x"},
    {"a long path",
     "mkdir -p $(printf '%0200d/' 1 2 3 4 5); echo 1 >$(printf '%0200d/' 1 2 3 4 5)x", "echo 2 >y"},
    {"nothing", "echo 1 >x", ":"},
};

START_TEST(each_revision_is_exact)
{
    fixture_start();
    sh("git init -q -b main r; cd r; %s\ngit add -Af .; commit one; git tag a\n"
       "%s\ngit add -Af .; commit two; git tag b",
       changes[_i].before, changes[_i].after);
    go_to_and_fro("r");
    fixture_end();
}
END_TEST

static void make_repository(void)
{
    sh("git init -q -b main r; cd r; mkdir -p src/deep doc; printf '*.o\\nbuild/\\n' >.gitignore\n"
       "for f in README src/main.c src/deep/a.c doc/a.txt tool; do echo \"$f\" >$f; done; chmod +x "
       "tool\n"
       "ln -s README link; git add .; commit one; echo two >src/main.c; git rm -q doc/a.txt; git "
       "add .\n"
       "commit two");
}

START_TEST(only_what_differs_is_written)
{
    static const char stamps[] =
        "cd tree; find . -type f -printf '%p %T@ %i\\n' | sort | grep -v src/main.c";
    fixture_start();
    make_repository();
    struct source s = source_of("r");
    struct checkout_count first = check_out(&s, "main");
    AUTO(mem_free) char *before = sh_out("%s", stamps);
    struct checkout_count second = check_out(&s, "main"), third = check_out(&s, "main~1");
    struct checkout_count fourth = check_out(&s, "main");
    AUTO(mem_free) char *after = sh_out("%s", stamps);

    ck_assert(first.n_files == 6 && first.n_written == 6 && first.n_removed == 0);
    ck_assert(second.n_files == 6 && second.n_written == 0 && second.n_removed == 0);
    ck_assert(third.n_files == 7 && third.n_written == 2 && third.n_removed == 0);
    ck_assert(fourth.n_files == 6 && fourth.n_written == 1 && fourth.n_removed == 1);
    ck_assert_str_eq(before, after);
    fixture_end();
}
END_TEST

/* What a build may leave */

static const struct {
    const char *name, *script; /* run in the tree */
} dirts[] = {
    {"a file", "echo x >new"},
    {"an ignored file", "echo x >main.o; mkdir build; echo x >build/out"},
    {"an empty folder", "mkdir -p empty/er"},
    {"a repository of its own", "git init -q src/sub; cd src/sub; commit x"},
    {"a repository over ours", "git init -q .; commit x"},
    {"other bytes of equal length", "echo tw0 >src/main.c"},
    {"other bytes with the old time",
     "cp -p src/main.c ../keep; echo tw0 >src/main.c; touch -r ../keep src/main.c"},
    {"more bytes", "echo more >>README"},
    {"a truncated file", ": >README"},
    {"a file gone", "rm README"},
    {"a folder gone", "rm -r src"},
    {"a bit gone", "chmod -x tool"},
    {"a bit too many", "chmod a+x README; chmod g+w src"},
    {"a file nobody can read", "chmod 0 README"},
    {"a file for everybody", "chmod 4777 README"},
    {"a folder where a file was", "rm README; mkdir -p README/x; echo 1 >README/x/y"},
    {"a link where a file was", "rm README; ln -s ../outside README"},
    {"a link where a folder was", "mv src src2; ln -s ../outsiders src"},
    {"another target", "ln -sf /etc link"},
    {"a file where a link was", "rm link; echo README >link"},
    {"a second name of a file, written through", "ln README ../second; echo evil >>../second"},
    {"a second name of a file", "ln -f README ../second"},
    {"a pipe where a file was", "rm README; mkfifo README"},
    {"a pipe", "mkfifo pipe"},
    {"folders without rights",
     "mkdir -p shut/in; echo x >shut/in/x; chmod 0 shut/in shut; chmod 0500 src"},
    {"folders four hundred deep",
     "mkdir deep; i=0; while [ $i -lt 400 ]; do i=$((i+1)); mkdir n; mv deep n/ddddddddddddddd;"
     "mv n deep; done"},
    {"names that are not nice",
     "echo x >\"$(printf 'a\\nb')\"; mkdir -- '-rf'; echo x >\"$(printf '\\377')\""},
    {"many files", "mkdir many; cd many; seq 3000 | xargs touch"},
};

static void mend(const struct source *s, const char *want, size_t i)
{
    struct err e = {0};

    sh("cd tree; %s", dirts[i].script);
    ck_assert_msg(source_verify(s, &e) == ERR_CONFLICT, "%s: %s", dirts[i].name, e.text);
    ck_assert_msg(strstr(e.text, "not as it was checked out") != NULL, "%s", e.text);
    check_out(s, "main");
    must_look(want, dirts[i].name);
}

static void mend_all(void)
{
    make_repository();
    sh("echo precious >outside; mkdir -p outsiders/deep; echo precious >outsiders/main.c");
    AUTO(mem_free) char *want = picture_of_git("r", "main");
    struct source s = source_of("r");
    check_out(&s, "main");
    for (size_t i = 0; i < LEN(dirts); i++)
        mend(&s, want, i);
    AUTO(mem_free) char *outside = sh_out("cat outside outsiders/main.c; ls outsiders");
    ck_assert_str_eq(outside, "precious\nprecious\ndeep\nmain.c");
}

START_TEST(nothing_is_left_over)
{
    fixture_start();
    mend_all();
    fixture_end();
}
END_TEST

START_TEST(nothing_is_left_over_for_an_ordinary_user)
{
    fixture_start();
    /* Root may do anything, so rights show only to others. */
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(fixture_top, 65534, 65534), 0);
        ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
        ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
    }
    mend_all();
    fixture_end();
}
END_TEST

START_TEST(a_lost_or_damaged_memory_costs_time_only)
{
    static const char *const damages[] = {
        "rm tree.state/manifest",
        ": >tree.state/manifest",
        "echo x >>tree.state/manifest",
        "head -c 100 tree.state/manifest >m; mv m tree.state/manifest",
        "sed -i 's/manifest-1 [^ ]*/manifest-1 another-boot/' tree.state/manifest",
        "rm -r tree.state",
    };
    fixture_start();
    make_repository();
    struct source s = source_of("r");
    struct err e = {0};
    check_out(&s, "main");
    sh("cd tree; cp -p src/main.c ../k; echo tw0 >src/main.c; touch -r ../k src/main.c; cd ..; %s",
       damages[_i]);
    ck_assert_int_ne(source_verify(&s, &e), ERR_OK);
    struct checkout_count count = check_out(&s, "main");
    ck_assert_uint_eq(count.n_written, 1);
    must_equal_git("r", "main");
    fixture_end();
}
END_TEST

START_TEST(a_killed_checkout_is_mended_by_the_next)
{
    fixture_start();
    sh("git init -q -b main r; cd r; for d in $(seq 40); do mkdir $d; for f in $(seq 40); do\n"
       "echo $d $f >$d/$f; done; done; git add .; commit one; git tag a\n"
       "for d in $(seq 40); do for f in $(seq 1 2 40); do echo x $f >$d/$f; done; rm -r $d/2*; "
       "done\n"
       "git add -A; commit two; git tag b");
    struct source s = source_of("r");
    struct revision a = revision_of("r", "a"), b = revision_of("r", "b");
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(source_checkout(&s, i % 2 ? &a : &b, NULL, NULL));
        usleep(1000 + 5000 * (useconds_t)i);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    check_out(&s, "b");
    must_equal_git("r", "b");
    fixture_end();
}
END_TEST

/* Attributes */

static const struct {
    const char *name, *before, *after;
} attributes[] = {
    {"eol=crlf", "printf 'a\\nb\\n' >x.txt; echo '*.txt eol=crlf' >.gitattributes",
     "printf 'c\\n' >x.txt"},
    {"only the attributes change", "printf 'a\\nb\\n' >x.txt; printf 'a\\n' >y.c",
     "echo '*.txt eol=crlf' >.gitattributes"},
    {"attributes go away", "printf 'a\\n' >x.txt; echo '*.txt eol=crlf' >.gitattributes",
     "git rm -qf .gitattributes"},
    {"attributes of a folder",
     "mkdir -p d/e; for f in x d/x d/e/x; do printf 'a\\n' >$f.txt; done;"
     "echo '*.txt eol=crlf' >d/.gitattributes; echo '*.txt -text' >d/e/.gitattributes",
     "echo '*.txt eol=lf' >d/.gitattributes; echo 'x.txt eol=crlf' >.gitattributes"},
    {"ident", "printf '$Id$\\n' >x.c; echo '*.c ident' >.gitattributes", "printf '$Id$ 2\\n' >x.c"},
    {"binary and -text",
     "printf 'a\\nb\\n' >x.bin; printf 'a\\n' >y; printf '*.bin binary\\n* text eol=crlf\\n*.bin "
     "-text\\n' >.gitattributes",
     "printf 'b\\n' >y"},
    {"text=auto with nuls",
     "printf 'a\\n\\0b\\n' >x; printf 'a\\n' >y; echo '* text=auto eol=crlf' >.gitattributes", ":"},
    {"crlf in the blob",
     "printf 'a\\r\\nb\\r\\n' >x; git add x; echo 'x text=auto' >.gitattributes", ":"},
    {"a link is never changed", "ln -s a x.txt; echo '*.txt eol=crlf' >.gitattributes", ":"},
};

START_TEST(attributes_work_as_in_git)
{
    fixture_start();
    sh("git init -q -b main r; cd r; %s\ngit add -A .; commit one; git tag a\n"
       "%s\ngit add -A .; commit two; git tag b",
       attributes[_i].before, attributes[_i].after);
    /* Settings of the person who owns the repository change nothing. */
    sh("git -C r config core.autocrlf true; echo '* eol=crlf' >r/.git/info/attributes");
    go_to_and_fro("r");
    fixture_end();
}
END_TEST

/* URLs */

START_TEST(a_url_is_fetched_only_for_what_is_new)
{
    fixture_start();
    make_repository();
    AUTO(mem_free) char *url = fixture_url("r");
    struct source s = source_of(url);
    check_out(&s, "main");
    sh("mv r away");
    struct revision old = revision_of("away", "main~1");
    struct err e = {0};
    ck_assert_msg(!source_checkout(&s, &old, NULL, &e), "%s", e.text);
    sh("mv away r; cd r; commit three; echo 3 >new; git add .; commit four");
    check_out(&s, "main");
    must_equal_git("r", "main");
    fixture_end();
}
END_TEST

START_TEST(workers_may_share_a_cache)
{
    pid_t children[3];

    fixture_start();
    make_repository();
    AUTO(mem_free) char *url = fixture_url("r");
    struct revision head = revision_of("r", "main");
    for (size_t i = 0; i < LEN(children); i++) {
        if ((children[i] = fork()) != 0)
            continue;
        AUTO(mem_free) char *tree = mem_printf("tree%zu", i);
        struct source s = source_of(url);
        struct err e = {0};
        s.tree_dir = tree;
        enum err_code rc = source_checkout(&s, &head, NULL, &e);
        if (rc)
            fprintf(stderr, "%s\n", e.text);
        _exit(rc);
    }
    for (size_t i = 0; i < LEN(children); i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        ck_assert_int_eq(status, 0);
    }
    sh("diff -r tree0 tree1; diff -r tree1 tree2; diff -r -x .git r tree0");
    fixture_end();
}
END_TEST

/* Refusals */

/** A commit of a tree that git itself would not make, out of entries MODE NAME HASH. */
static const char literal_tree[] =
    "git init -q -b main r; cd r; echo good >ok; git add .; commit one\n"
    "blob=$(git rev-parse HEAD:ok); sub=$(git rev-parse HEAD^{tree})\n"
    "entry() { perl -e 'print \"$ARGV[0] $ARGV[1]\\0\", pack(\"H*\", $ARGV[2])' $1 \"$2\" $3; }\n"
    "save() { t=$(git hash-object -w -t tree --literally --stdin)\n"
    "    git update-ref refs/heads/bad $(echo bad | git commit-tree $t); }\n";

static const struct {
    const char *make;
    enum err_code code;
    const char *text;
} refused[] = {
    {"entry 40000 .. $sub | save", ERR_INVALID, "unsafe"},
    {"entry 100644 . $blob | save", ERR_INVALID, "unsafe"},
    {"entry 40000 .git $sub | save", ERR_INVALID, "unsafe"},
    {"entry 40000 .GiT $sub | save", ERR_INVALID, "unsafe"},
    {"entry 100644 a/b $blob | save", ERR_INVALID, "unsafe"},
    {"{ entry 100644 a $blob; entry 100644 a $blob; } | save", ERR_INVALID,
     "two files of one name: a"},
    {"{ entry 120000 a $blob; entry 40000 a $sub; } | save", ERR_INVALID,
     "two files of one name: a"},
    {"entry 120000 a $(: | git hash-object -w --stdin) | save", ERR_INVALID, "symbolic link"},
    {"entry 120000 a $(printf 'a\\0b' | git hash-object -w --stdin) | save", ERR_INVALID,
     "symbolic link"},
    {"entry 100644 $(printf %0300d 1) $blob | save", ERR_INVALID, "name of 300 bytes"},
    {"entry 100644 a 0123456789012345678901234567890123456789 | save", ERR_IO,
     "lacks the bytes of a"},
    {"entry 40000 a 0123456789012345678901234567890123456789 | save", ERR_IO, "lacks object 0123"},
};

START_TEST(hostile_and_damaged_trees_are_refused)
{
    struct err e = {0};

    fixture_start();
    sh("%s%s", literal_tree, refused[_i].make);
    struct source s = source_of("r");
    struct revision bad = revision_of("r", "bad");
    enum err_code rc = source_checkout(&s, &bad, NULL, &e);
    ck_assert_msg(rc == refused[_i].code && e.code == rc, "row %d: %s: %s", _i, err_name(rc),
                  e.text);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "row %d: %s", _i, e.text);
    ck_assert_int_eq(source_verify(&s, NULL), ERR_NOT_FOUND);
    sh("! ls a b 2>/dev/null");
    check_out(&s, "main");
    fixture_end();
}
END_TEST

static const struct {
    const char *repository, *hex;
    enum err_code code;
    const char *text;
} absent[] = {
    {"r", "0123456789012345678901234567890123456789", ERR_NOT_FOUND,
     "commit 0123456789012345678901234567890123456789 is not in r"},
    {"gone", "0123456789012345678901234567890123456789", ERR_IO, "gone: not a git repository"},
    {"file:///gone/x", "0123456789012345678901234567890123456789", ERR_PEER,
     "fetch file:///gone/x"},
};

START_TEST(what_is_not_there_says_whose_fault_it_is)
{
    struct source s = source_of(absent[_i].repository);
    struct revision r;
    struct err e = {0};

    fixture_start();
    make_repository();
    ck_assert(!revision_parse(absent[_i].hex, &r, &e));
    ck_assert_int_eq(source_checkout(&s, &r, NULL, &e), absent[_i].code);
    ck_assert_msg(strstr(e.text, absent[_i].text) != NULL, "%s", e.text);
    fixture_end();
}
END_TEST

START_TEST(a_tree_that_cannot_be_written_is_no_revisions_fault)
{
    struct err e = {0};

    fixture_start();
    make_repository();
    struct source s = source_of("r");
    struct revision head = revision_of("r", "main");
    sh("echo in the way >wall");
    s.tree_dir = "wall/tree";
    enum err_code rc = source_checkout(&s, &head, NULL, &e);
    ck_assert_msg(rc == ERR_IO, "%s: %s", err_name(rc), e.text);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {each_revision_is_exact, LEN(changes)},
        {only_what_differs_is_written, 1},
        {nothing_is_left_over, 1},
        {nothing_is_left_over_for_an_ordinary_user, 1},
        {a_lost_or_damaged_memory_costs_time_only, 6},
        {a_killed_checkout_is_mended_by_the_next, 1},
        {attributes_work_as_in_git, LEN(attributes)},
        {a_url_is_fetched_only_for_what_is_new, 1},
        {workers_may_share_a_cache, 1},
        {hostile_and_damaged_trees_are_refused, LEN(refused)},
        {what_is_not_there_says_whose_fault_it_is, LEN(absent)},
        {a_tree_that_cannot_be_written_is_no_revisions_fault, 1},
    };
    return unit_run("checkout", tests, LEN(tests));
}
