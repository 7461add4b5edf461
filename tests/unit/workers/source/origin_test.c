/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "unit/run.h"
#include "workers/source/origin.h"

/* clang-format off */
static const struct {
    const char *repository;
    bool is_local, is_here;
    const char *shown;
} kinds[] = {
    {"/srv/repo",                       true,  true,  "/srv/repo"},
    {"repo",                            true,  true,  "repo"},
    {"./a:b",                           true,  true,  "./a:b"},
    {"file:///srv/repo",                false, true,  "file:///srv/repo"},
    {"https://host/x",                  false, false, "https://host/x"},
    {"host:path",                       false, false, "host:path"},
    {"me@host:path",                    false, false, "me@host:path"},
    {"https://me@host/x",               false, false, "https://me@host/x"},
    {"https://me:secret@host/x",        false, false, "https://me:***@host/x"},
    {"https://host/x@y:z",              false, false, "https://host/x@y:z"},
};

/* Expected values: git's t0060-path-utils.sh, test_submodule_relative_url; and by hand. */
static const struct {
    const char *parent, *url, *want; /* NULL: refused */
} relatives[] = {
    {"/srv/repo",              "/abs/x",            "/abs/x"},
    {"/srv/repo",              "https://h/x",       "https://h/x"},
    {"/srv/super",             "../lib",            "/srv/lib"},
    {"/srv/super/",            "../lib",            "/srv/lib"},
    {"/srv/super",             "./lib",             "/srv/super/lib"},
    {"/srv/super",             "../../lib",         "/lib"},
    {"/srv/super",             "../sub/",           "/srv/sub"},
    {"file:///tmp/repo",       "../subrepo",        "file:///tmp/subrepo"},
    {"ssh://hostname/repo",    "../subrepo",        "ssh://hostname/subrepo"},
    {"ssh://hostname:22/repo", "../subrepo",        "ssh://hostname:22/subrepo"},
    {"user@host:path/to/repo", "../subrepo",        "user@host:path/to/subrepo"},
    {"user@host:repo",         "../subrepo",        "user@host:subrepo"},
    {"https://h/a/b.git",      "../../c/d.git",     "https://h/c/d.git"},
    {"https://h/a/b.git",      "./../e.git",        "https://h/a/e.git"},
    {"https://h/a",            "../../evil/x",      NULL},
    {"name",                   "../../x",           NULL},
};
/* clang-format on */

START_TEST(paths_and_urls_are_told_apart)
{
    AUTO(mem_free) char *shown = origin_shown(kinds[_i].repository);

    ck_assert_msg(origin_is_local(kinds[_i].repository) == kinds[_i].is_local, "%s",
                  kinds[_i].repository);
    ck_assert_msg(origin_is_here(kinds[_i].repository) == kinds[_i].is_here, "%s",
                  kinds[_i].repository);
    ck_assert_str_eq(shown, kinds[_i].shown);
}
END_TEST

START_TEST(relative_urls_resolve_as_in_git)
{
    AUTO(mem_free) char *got = NULL;
    struct err e = {0};
    enum err_code rc = origin_resolve(relatives[_i].parent, relatives[_i].url, &got, &e);

    ck_assert_msg(rc == (relatives[_i].want ? ERR_OK : ERR_INVALID), "%s + %s: %s",
                  relatives[_i].parent, relatives[_i].url, got ? got : e.text);
    if (relatives[_i].want)
        ck_assert_str_eq(got, relatives[_i].want);
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {paths_and_urls_are_told_apart, LEN(kinds)},
        {relative_urls_resolve_as_in_git, LEN(relatives)},
    };
    return unit_run("origin", tests, LEN(tests));
}
