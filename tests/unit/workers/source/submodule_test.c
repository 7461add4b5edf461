/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/git_fixture.h"
#include "unit/run.h"
#include "workers/source/checkout.h"

/* Layout of every test: `lib` and `deep` are repositories, `super` has them as submodules. */

/* clang-format off */
static const char words[] =
    "add() { git -c protocol.file.allow=always submodule --quiet add \"$@\"; }\n"
    "update() { git -c protocol.file.allow=always submodule --quiet update --init --recursive; }\n"
    "repository() { git init -q -b main $1; cd $1; echo \"$1 1\" >$1.txt; git add .; commit one; cd ..; }\n"
    "advance() { cd $1; echo more >>$1.txt; git add .; commit more; cd ..; }\n"
    "take() { git -C $1 -c protocol.file.allow=always fetch -q; git -C $1 checkout -q origin/main; git add $1; }\n";
static const char super[] =
    "repository deep; repository lib; repository super\n"
    "cd lib; add ../deep inner; commit 'with deep'; cd ..\n"
    "cd super; add ../lib vendor/lib; commit 'with lib'; git tag a; cd ..\n";
/* clang-format on */

static struct source source_of(const char *repository)
{
    return (struct source){.repository = repository, .cache_dir = "cache", .tree_dir = "tree"};
}

static struct revision revision_of(const char *name)
{
    AUTO(mem_free) char *hex = sh_out("git -C super rev-parse '%s^{commit}'", name);
    struct revision r;

    ck_assert(!revision_parse(hex, &r, NULL));
    return r;
}

static enum err_code try_check_out(const struct source *s, const char *name, struct err *e)
{
    struct revision r = revision_of(name);
    enum err_code rc = source_checkout(s, &r, NULL, e);

    return rc ? rc : source_verify(s, e);
}

static char *picture(const char *folder)
{
    return sh_out("cd %s; find . -name .git -prune -o -mindepth 1 -printf '%%y %%m %%p\\n' | sort;"
                  "find . -name .git -prune -o -type f -exec sha1sum {} + | sort",
                  folder);
}

static void must_equal_git(const char *name)
{
    sh("%srm -rf want; umask 022; git clone -q --no-checkout super want; cd want\n"
       "git -c advice.detachedHead=false checkout -q '%s'; [ ! -e .gitmodules ] || update",
       words, name);
    AUTO(mem_free) char *ours = picture("tree");
    AUTO(mem_free) char *theirs = picture("want");
    ck_assert_msg(!strcmp(ours, theirs), "%s: ours:\n%s\ngit's:\n%s", name, ours, theirs);
}

/* clang-format off */
static const struct {
    const char *name, *script; /* makes tag b, from tag a */
} changes[] = {
    {"the recorded commit moves", "advance lib; cd super; take vendor/lib; commit two; git tag b"},
    {"the inner one moves", "advance deep; cd lib; take inner; commit two; cd ../super; take vendor/lib; commit two; git tag b"},
    {"it goes", "cd super; git rm -q vendor/lib; commit two; git tag b"},
    {"it moves", "cd super; git mv vendor/lib lib; commit two; git tag b"},
    {"it becomes a folder of files", "cd super; git rm -q vendor/lib; mkdir -p vendor/lib/inner; echo 1 >vendor/lib/inner/x;"
     "git add .; commit two; git tag b"},
    {"it becomes a file", "cd super; git rm -q vendor/lib; mkdir -p vendor; echo 1 >vendor/lib; git add .; commit two; git tag b"},
    {"another of the same place", "repository other; cd super; git rm -q vendor/lib; rm -rf .git/modules; add ../other vendor/lib;"
     "commit two; git tag b"},
    {"a second one of the same repository", "cd super; add --name again ../lib lib2; commit two; git tag b"},
    {"a commit no branch has", "cd lib; git checkout -q --detach; commit lost; git tag kept; c=$(git rev-parse HEAD);"
     "git checkout -q main; cd ../super; git update-index --cacheinfo 160000,$c,vendor/lib; commit two; git tag b"},
    {"an empty one", "git init -q -b main void; cd void; commit nothing; cd ../super; add ../void void; commit two; git tag b"},
    {"line ends of its own", "cd lib; echo '*.txt eol=crlf' >.gitattributes; git add .; commit crlf; cd ../super;"
     "take vendor/lib; commit two; git tag b"},
};
/* clang-format on */

/** The super repository as a user has it: with clones of its submodules, or, fresh from a server,
 *  without. */
static const char *const states[] = {
    ":",
    "cd super; git submodule --quiet deinit -f --all; rm -rf .git/modules",
};

START_TEST(submodules_are_exact_and_leave_nothing_behind)
{
    int change = _i / (int)LEN(states), state = _i % (int)LEN(states);

    fixture_start();
    sh("%s%s", words, super);
    sh("%s%s", words, changes[change].script);
    sh("%s", states[state]);
    struct source s = source_of("super");
    static const char *const order[] = {"a", "b", "a"};
    for (size_t i = 0; i < LEN(order); i++) {
        struct err e = {0};
        enum err_code rc = try_check_out(&s, order[i], &e);
        ck_assert_msg(!rc, "%s: %s: %s", changes[change].name, order[i], e.text);
        must_equal_git(order[i]);
    }
    fixture_end();
}
END_TEST

START_TEST(a_url_has_submodules_too)
{
    fixture_start();
    sh("%s%s", words, super);
    AUTO(mem_free) char *url = fixture_url("super");
    struct source s = source_of(url);
    struct err e = {0};
    ck_assert_msg(!try_check_out(&s, "a", &e), "%s", e.text);
    must_equal_git("a");
    fixture_end();
}
END_TEST

START_TEST(none_means_empty_folders)
{
    fixture_start();
    sh("%s%s", words, super);
    struct source s = source_of("super");
    struct err e = {0};
    ck_assert_msg(!try_check_out(&s, "a", &e), "%s", e.text);
    s.submodules = SUBMODULES_NONE;
    ck_assert_msg(!try_check_out(&s, "a", &e), "%s", e.text);
    AUTO(mem_free) char *found = sh_out("cd tree; find . | sort");
    ck_assert_str_eq(found, ".\n./.gitmodules\n./super.txt\n./vendor\n./vendor/lib");
    sh("git -C super config -f .gitmodules submodule.vendor/lib.update none; cd super; git add .;"
       "commit 'update none'; git tag b");
    s.submodules = SUBMODULES_RECURSIVE;
    ck_assert_msg(!try_check_out(&s, "b", &e), "%s", e.text);
    AUTO(mem_free) char *again = sh_out("cd tree; find . | sort");
    ck_assert_str_eq(again, found);
    fixture_end();
}
END_TEST

START_TEST(an_override_is_asked_instead)
{
    AUTO(pairs_fini) struct pairs urls = {0};

    fixture_start();
    sh("%s%s", words, super);
    sh("mv lib moved; mv deep moved-too; rm -rf super/.git/modules super/vendor moved/.git/modules "
       "moved/inner");
    struct source s = source_of("super");
    struct err e = {0};
    ck_assert_int_eq(try_check_out(&s, "a", &e), ERR_IO);
    ck_assert_msg(strstr(e.text, "submodule vendor/lib: ") &&
                      strstr(e.text, "not a git repository"),
                  "%s", e.text);
    AUTO(mem_free) char *lib = fixture_path("moved");
    AUTO(mem_free) char *deep = fixture_url("moved-too");
    pairs_add(&urls, "vendor/lib", lib);
    s.submodule_urls = &urls;
    ck_assert_int_eq(try_check_out(&s, "a", &e), ERR_IO);
    ck_assert_msg(strstr(e.text, "submodule vendor/lib/inner: ") != NULL, "%s", e.text);
    pairs_add(&urls, "vendor/lib/inner", deep);
    ck_assert_msg(!try_check_out(&s, "a", &e), "%s", e.text);
    sh("mv moved lib; mv moved-too deep; git -C super checkout -q .");
    must_equal_git("a");
    fixture_end();
}
END_TEST

/* clang-format off */
static const struct {
    const char *script; /* makes tag b */
    enum err_code code;
    const char *text, *hint;
} refused[] = {
    {"cd super; git update-index --cacheinfo 160000,0123456789012345678901234567890123456789,vendor/lib; commit two; git tag b",
     ERR_NOT_FOUND, "submodule vendor/lib: commit 0123456789012345678901234567890123456789 is not in", "submodule_urls"},
    {"cd super; git rm -q --cached .gitmodules; commit two; git tag b",
     ERR_INVALID, "submodule vendor/lib: .gitmodules of this revision has no URL for it", "submodules: none"},
    {"cd super; git config -f .gitmodules --unset submodule.vendor/lib.url; git add .gitmodules; commit two; git tag b;"
     "git config --unset submodule.vendor/lib.url; rm -rf .git/modules vendor",
     ERR_INVALID, "no URL", "submodule_urls"},
    {"cd super; git config -f .gitmodules submodule.vendor/lib.url ../../../../../../../../../x; git add .gitmodules; commit two;"
     "git tag b; git config --unset submodule.vendor/lib.url; rm -rf .git/modules vendor",
     ERR_INVALID, "cannot go up", ""},
    {"cd super; git config -f .gitmodules submodule.vendor/lib.url 'ext::sh -c \"touch pwned\"'; git add .gitmodules; commit two;"
     "git tag b; git config --unset submodule.vendor/lib.url; rm -rf .git/modules vendor",
     ERR_INVALID, "not a kind of URL", "https"},
    {"cd super; git config -f .gitmodules submodule.vendor/lib.url http://127.0.0.1:1/lib; git add .gitmodules; commit two;"
     "git tag b; git config --unset submodule.vendor/lib.url; rm -rf .git/modules vendor",
     ERR_PEER, "submodule vendor/lib: fetch http://127.0.0.1:1/lib", ""},
    {"cd super; printf '[include]\\n\\tpath = /etc/passwd\\n' >>.gitmodules; git add .gitmodules; commit two; git tag b",
     ERR_INVALID, "includes other files", ""},
    {"cd super; echo '[submodule \"x' >>.gitmodules; git add .gitmodules; commit two; git tag b", ERR_INVALID, ".gitmodules", ""},
    {"cd super; head -c 2000000 /dev/zero >.gitmodules; git add .gitmodules; commit two; git tag b", ERR_INVALID, ".gitmodules", ""},
    {"cd super; p=$(git rev-parse HEAD); git config -f .gitmodules submodule.self.path self;"
     "git config -f .gitmodules submodule.self.url \"$TOP/super\"; git add .gitmodules;"
     "git update-index --add --cacheinfo 160000,$p,self; commit two; git tag b", ERR_OK, "", ""},
};
/* clang-format on */

START_TEST(what_is_wrong_says_whose_fault_it_is)
{
    struct err e = {0};

    fixture_start();
    sh("%s%s", words, super);
    sh("%s%s", words, refused[_i].script);
    struct source s = source_of("super");
    enum err_code rc = try_check_out(&s, "b", &e);
    ck_assert_msg(rc == refused[_i].code, "row %d: %s: %s", _i, err_name(rc), e.text);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "row %d: %s", _i, e.text);
    ck_assert_msg(strstr(e.hint, refused[_i].hint) != NULL, "row %d: %s", _i, e.hint);
    sh("! ls pwned super/pwned 2>/dev/null");
    fixture_end();
}
END_TEST

START_TEST(a_stranger_may_not_name_paths_of_this_machine)
{
    int port;

    fixture_start();
    sh("%s%s", words, super);
    sh("mv super r; cd r; git config -f .gitmodules submodule.vendor/lib.url \"$TOP/lib\"; git add "
       ".;"
       "commit two");
    pid_t server = fixture_serve(&port);
    AUTO(mem_free) char *url = mem_printf("git://127.0.0.1:%d/r", port);
    AUTO(mem_free) char *hex = sh_out("git -C r rev-parse main; git -C r rev-parse a");
    struct source s = source_of(url);
    struct revision stranger, relative;
    struct err e = {0};
    hex[40] = '\0';
    ck_assert(!revision_parse(hex, &stranger, &e) && !revision_parse(hex + 41, &relative, &e));
    ck_assert_int_eq(source_checkout(&s, &stranger, NULL, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "names a path on this machine") != NULL, "%s", e.text);
    ck_assert_msg(!source_checkout(&s, &relative, NULL, &e), "%s", e.text);
    fixture_unserve(server);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {submodules_are_exact_and_leave_nothing_behind, LEN(changes) * LEN(states)},
        {a_url_has_submodules_too, 1},
        {none_means_empty_folders, 1},
        {an_override_is_asked_instead, 1},
        {what_is_wrong_says_whose_fault_it_is, LEN(refused)},
        {a_stranger_may_not_name_paths_of_this_machine, 1},
    };
    return unit_run("submodule", tests, LEN(tests));
}
