/* SPDX-License-Identifier: Apache-2.0 */
/** Stretches of fixups, each compared with what `git rev-list` lists. */
#include "base/base64.h"
#include "commits/range.h"
#include "commits/stretch.h"
#include "unit/git_fixture.h"
#include "unit/run.h"

/* clang-format off */
static const struct {
    const char *range;
    const char *list; /* of git rev-list */
} stretches[] = {
    {"v1..v2", "v1..v2"}, {"v1..main", "v1..main"}, {"v2", "v2"}, {"main~3", "main~3"},
    {"side..main", "side..main"}, {"main..side", "main..side"}, {"v1..side", "v1..side"},
    {"v1~1..v1", "v1~1..v1"}, {"main", "main"},
};

static const struct {
    const char *range, *commit, *content;
    enum err_code code;
    const char *says, *hint;
} refused[] = {
    {"v1..mian", "", NULL, ERR_NOT_FOUND, "fixups[1].range: no revision 'mian'", "did you mean 'main'"},
    {"mian", "", NULL, ERR_NOT_FOUND, "fixups[1].range: no revision 'mian'", ""},
    {"v2..v1", "", NULL, ERR_INVALID, "fixups[1].range: there are no commits in v2..v1", "A is to be the older"},
    {"v1...v2", "", NULL, ERR_INVALID, "fixups[1].range: expected A..B", ""},
    {"v2", "1111111111111111111111111111111111111111", NULL, ERR_NOT_FOUND, "fixups[1].commit: no revision", ""},
    {"v2", "", "aGVsbG8K", ERR_INVALID, "fixups[1].patch: p is no patch", "git diff"},
};
/* clang-format on */

/** Ten commits on main with a side branch merged in. */
static struct mirror *open_mirror(void)
{
    struct mirror_place place = {"data", "m", "r"};
    struct mirror *m = NULL;
    struct err e = {0};

    sh("git init -q -b main r; cd r; for i in 0 1 2; do commit $i; done; git tag v1\n"
       "git checkout -q -b side; commit s1; commit s2; git checkout -q main\n"
       "for i in 3 4 5; do commit $i; done; git tag v2; merge side~1; for i in 6 7; do commit $i; "
       "done\n");
    ck_assert_msg(!mirror_open(&place, NULL, &m, &e), "%s", e.text);
    return m;
}

static struct range *load(const struct mirror *m)
{
    const struct range_query q = {.good = "main~8", .bad = "main"};
    struct range *r = NULL;
    struct err e = {0};

    ck_assert_msg(!range_load(m, &q, &r, &e), "%s", e.text);
    return r;
}

START_TEST(a_stretch_is_what_git_lists)
{
    fixture_start();
    AUTO(mirror_free) struct mirror *m = open_mirror();
    AUTO(range_free) struct range *r = load(m);
    AUTO(mem_free) char *listed = sh_out("git -C r rev-list %s", stretches[_i].list);
    struct fixup other = {.range = (char[]){"v1"}};
    AUTO(mem_free) char *name = mem_dup(stretches[_i].range);
    struct fixup fixup = {.range = name};
    struct fixup *fixups[2] = {&other, &fixup};
    struct err e = {0};

    ck_assert_uint_ge(r->n, 9);
    ck_assert_msg(!stretch_mark(m, fixups, 2, r, &e), "%s", e.text);
    for (uint32_t v = 0; v < r->n; v++)
        ck_assert_msg((r->commits[v].fixups >> 1 & 1) ==
                          (strstr(listed, r->commits[v].id.hex) != NULL),
                      "%s: %s", stretches[_i].range, r->commits[v].subject);
    ck_assert_uint_eq(r->commits[r->good].fixups & 1, 1);
    ck_assert_uint_eq(r->commits[r->bad].fixups & 1, 0);
    fixture_end();
}
END_TEST

START_TEST(bad_stretches_are_refused_in_words)
{
    fixture_start();
    AUTO(mirror_free) struct mirror *m = open_mirror();
    AUTO(range_free) struct range *r = load(m);
    AUTO(mem_free) char *name = mem_dup(refused[_i].range);
    AUTO(mem_free) char *content = refused[_i].content ? mem_dup(refused[_i].content) : NULL;
    struct fixup other = {.range = (char[]){"v1"}};
    struct fixup fixup = {.range = name, .patch = (char[]){"p"}, .content = content};
    struct fixup *fixups[2] = {&other, &fixup};
    struct err e = {0};

    memcpy(fixup.commit.hex, refused[_i].commit, strlen(refused[_i].commit) + 1);
    ck_assert_msg(stretch_mark(m, fixups, 2, r, &e) == refused[_i].code, "%s", e.text);
    ck_assert_msg(!strncmp(e.text, refused[_i].says, strlen(refused[_i].says)), "%s", e.text);
    ck_assert_msg(strstr(e.hint, refused[_i].hint) != NULL, "%s", e.hint);
    fixture_end();
}
END_TEST

START_TEST(a_fixed_stretch_stays_when_names_move)
{
    fixture_start();
    AUTO(mirror_free) struct mirror *m = open_mirror();
    AUTO(mem_free) char *want = sh_out("cd r; echo $(git rev-parse v1)..$(git rev-parse main)");
    struct fixup f = {.range = mem_dup("v1..main")};
    struct err e = {0};

    ck_assert_msg(!stretch_fix(m, &f, &e), "%s", e.text);
    ck_assert_str_eq(f.range, want);
    mem_free(f.range);
    f.range = mem_dup("v1..mian");
    ck_assert_int_eq(stretch_fix(m, &f, &e), ERR_NOT_FOUND);
    ck_assert_str_eq(f.range, "v1..mian");
    mem_free(f.range);
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {a_stretch_is_what_git_lists, LEN(stretches)},
        {bad_stretches_are_refused_in_words, LEN(refused)},
        {a_fixed_stretch_stays_when_names_move, 1},
    };

    return unit_run("stretch", tests, LEN(tests));
}
