/* SPDX-License-Identifier: Apache-2.0 */
#include "commits/mirror.h"
#include "unit/git_fixture.h"
#include "unit/run.h"

/** main: 1..6 with a merge of `side`; tags on the way; a reflog; an upstream. */
static void make_repository(void)
{
    sh("git init -q -b main r; cd r\n"
       "for i in 1 2 3; do commit \"change $i\"; done\n"
       "git tag light; git tag -a -m words v1.0 HEAD~1; git tag -a -m nested v1.0-again v1.0\n"
       "git checkout -q -b side; commit 'on side'; git checkout -q main\n"
       "commit 'change 4'; merge side; commit 'fix the parser'\n"
       "git tag of-tree HEAD^{tree}\n"
       "git clone -q . ../upstream; git remote add origin ../upstream; git fetch -q\n"
       "git branch -q -u origin/main; git remote set-head origin main; git checkout -q -b "
       "feature/x; git checkout -q main\n");
}

static struct mirror *open_mirror(const char *repository)
{
    struct mirror_place place = {"data", "m", repository};
    struct mirror *m = NULL;
    struct err e = {0};

    ck_assert_msg(!mirror_open(&place, NULL, &m, &e), "%s", e.text);
    return m;
}

/* clang-format off */
static const char *const known[] = {
    "HEAD", "@", "@~2", "main", "HEAD~3", "HEAD^", "HEAD~1^2", "main^0", "light",
    "v1.0", "v1.0^{}", "v1.0^{commit}", "v1.0-again", "v1.0-again~1", "refs/tags/v1.0", "tags/v1.0",
    "heads/main", "feature/x", "origin/main", "origin", "@{u}", "main@{upstream}",
    "main@{1}", "@{1}", "@{-1}", "HEAD@{0}", "HEAD@{2}", "HEAD@{2}~1", "@{-1}^{/change 3}",
    ":/change 4", "HEAD^{/change}", "HEAD^{/on side}", "side", "ORIG_HEAD", "FETCH_HEAD",
};
/* clang-format on */

START_TEST(names_mean_what_they_mean_to_git)
{
    fixture_start();
    make_repository();
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    AUTO(mem_free)
    char *want = sh_out("cd r; git rev-parse --verify \"$(git rev-parse --verify '%s')^{commit}\"",
                        known[_i]);
    struct revision got;
    struct err e = {0};

    ck_assert_msg(!mirror_resolve(m, known[_i], &got, &e), "%s: %s", known[_i], e.text);
    ck_assert_msg(!strcmp(got.hex, want), "%s: %s, not %s", known[_i], got.hex, want);
    fixture_end();
}
END_TEST

START_TEST(hashes_and_descriptions_are_names)
{
    static const char *const asks[] = {
        "rev-parse HEAD~2",
        "rev-parse --short HEAD~2",
        "describe HEAD~2",
        "rev-parse --short=12 v1.0",
    };
    fixture_start();
    make_repository();
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    AUTO(mem_free) char *name = sh_out("git -C r %s", asks[_i]);
    AUTO(mem_free) char *want = sh_out("git -C r rev-parse '%s^{commit}'", name);
    struct revision got;
    struct err e = {0};

    ck_assert_msg(!mirror_resolve(m, name, &got, &e), "%s: %s", name, e.text);
    ck_assert_str_eq(got.hex, want);
    fixture_end();
}
END_TEST

static const struct {
    const char *name;
    enum err_code code;
    const char *text, *hint; /* parts */
} unknown[] = {
    {"mian", ERR_NOT_FOUND, "no revision 'mian'", "did you mean 'main'?"},
    {"mian~2", ERR_NOT_FOUND, "no revision 'mian~2'", "did you mean 'main~2'?"},
    {"v1.1", ERR_NOT_FOUND, "no revision 'v1.1'", "did you mean 'v1.0'?"},
    {"feature/y", ERR_NOT_FOUND, "no revision", "did you mean 'feature/x'?"},
    {"nothing-like-it", ERR_NOT_FOUND, "no revision 'nothing-like-it'", "git log --all"},
    {"HEAD~99", ERR_NOT_FOUND, "though there is 'HEAD'", ""},
    {"0123456789012345678901234567890123456789", ERR_NOT_FOUND, "no revision", ""},
    {"", ERR_INVALID, "empty", ""},
    {"HEAD~2..main", ERR_INVALID, "range, not one revision", ""},
    {"HEAD...main", ERR_INVALID, "range, not one revision", ""},
    {"HEAD^{tree}", ERR_INVALID, "names a tree, not a commit", ""},
    {"of-tree", ERR_INVALID, "names a tree, not a commit", ""},
    {"HEAD^{nonsense}", ERR_INVALID, "HEAD^{nonsense}", ""},
    {"main@{", ERR_INVALID, "main@{", ""},
    {"HEAD@{99}", ERR_NOT_FOUND, "no revision 'HEAD@{99}'", ""},
    {"\033[31mred", ERR_INVALID, "revision '\xef\xbf\xbd[31mred'", ""},
};

START_TEST(unknown_names_say_what_is_near)
{
    fixture_start();
    make_repository();
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    struct revision got = {"untouched"};
    struct err e = {0};

    enum err_code rc = mirror_resolve(m, unknown[_i].name, &got, &e);
    ck_assert_msg(rc == unknown[_i].code, "%s: %s, %s", unknown[_i].name, err_name(rc), e.text);
    ck_assert_msg(strstr(e.text, unknown[_i].text) != NULL, "%s: %s", unknown[_i].name, e.text);
    ck_assert_msg(strstr(e.hint, unknown[_i].hint) != NULL, "%s: %s", unknown[_i].name, e.hint);
    ck_assert_msg(!strchr(e.text, '\033'), "%s", e.text);
    ck_assert_str_eq(got.hex, "untouched");
    fixture_end();
}
END_TEST

START_TEST(ambiguous_hashes_are_said_to_be)
{
    fixture_start();
    /* Enough objects that two of them share four digits; ask git which. */
    sh("git init -q -b main r; cd r\n"
       "i=0; while [ $i -lt 600 ]; do i=$((i+1)); printf 'blob\\ndata 4\\n%%04d\\n' $i; done |\n"
       "    git fast-import --quiet; commit one");
    AUTO(mem_free)
    char *twice = sh_out("cd r; git cat-file --batch-all-objects --batch-check='%%(objectname)' |"
                         " cut -c1-4 | sort | uniq -d | head -n 1");
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    struct revision got;
    struct err e = {0};

    ck_assert_uint_eq(strlen(twice), 4);
    ck_assert_int_eq(mirror_resolve(m, twice, &got, &e), ERR_INVALID);
    ck_assert_msg(strstr(e.text, "ambiguous") != NULL, "%s", e.text);
    ck_assert_str_ne(e.hint, "");
    fixture_end();
}
END_TEST

START_TEST(too_long_a_name_is_refused)
{
    static char name[5000];
    fixture_start();
    make_repository();
    AUTO(mirror_free) struct mirror *m = open_mirror("r");
    struct revision got;
    struct err e = {0};

    memset(name, 'a', sizeof(name) - 1);
    ck_assert_int_eq(mirror_resolve(m, name, &got, &e), ERR_LIMIT);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {names_mean_what_they_mean_to_git, LEN(known)},
        {hashes_and_descriptions_are_names, 4},
        {unknown_names_say_what_is_near, LEN(unknown)},
        {ambiguous_hashes_are_said_to_be, 1},
        {too_long_a_name_is_refused, 1},
    };
    return unit_run("names", tests, LEN(tests));
}
