/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/question.h"
#include "commits/home.h"
#include "unit/git_fixture.h"
#include "unit/run.h"

static void make_repository(void)
{
    fixture_start();
    sh("git init -q -b main 'my repo'\n"
       "cd 'my repo'; mkdir sub; commit one; git tag v1\n"
       "commit two; commit three\n"
       "git worktree add -q ../tree v1\n");
}

static void options_plain(struct options *o, const char *repo)
{
    options_init(o);
    o->repo = repo;
    o->good = "v1";
    o->bad = "main";
    o->measure = "./demo";
    o->metric = "wall";
}

START_TEST(folders_and_worktrees_ask_the_same)
{
    static const char *const folders[] = {"my repo", "my repo/sub", "tree"};
    AUTO(options_fini) struct options o;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    make_repository();
    options_plain(&o, folders[_i]);
    ck_assert_msg(question_from_options(&o, &r, &e) == ERR_OK, "%s", e.text);
    AUTO(mem_free) char *want = mem_printf("%s/my repo", fixture_top);
    ck_assert_str_eq(r->project->repository, want);
    ck_assert_str_eq(r->project->name, "my-repo");
    ck_assert_str_eq(request_metric(r)->command, "./demo");
    ck_assert_double_eq_tol(r->confidence, .99, 1e-12);
    ck_assert(r->is_seed_set);
    fixture_end();
}
END_TEST

START_TEST(ends_become_hashes)
{
    AUTO(options_fini) struct options o;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    make_repository();
    options_plain(&o, "my repo");
    ck_assert(question_from_options(&o, &r, &e) == ERR_OK);
    ck_assert_msg(question_resolve(r, "my repo", "store", &e) == ERR_OK, "%s", e.text);
    AUTO(mem_free) char *bad = sh_out("git -C 'my repo' rev-parse main");
    ck_assert_str_eq(r->bad, bad);
    ck_assert_uint_eq(strlen(r->good), 40);
    fixture_end();
}
END_TEST

START_TEST(every_flag_arrives)
{
    AUTO(options_fini) struct options o;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    make_repository();
    options_plain(&o, "my repo");
    strings_add(&o.build, "./configure");
    strings_add(&o.build, "make");
    strings_add(&o.artifact, "build/**");
    o.confidence = .999;
    o.min_effect = 2;
    o.worse = "down";
    o.first_parent = o.no_inside = o.fresh = true;
    o.platform = "linux-arm64";
    o.sandbox = "plain";
    o.budget_runs = 77;
    o.budget_ns = 5;
    o.timeout_ns = 6;
    o.build_timeout_ns = 7;
    o.has_seed = true;
    o.seed = 42;
    ck_assert_msg(question_from_options(&o, &r, &e) == ERR_OK, "%s", e.text);
    ck_assert_uint_eq(r->project->build_steps.n, 2);
    ck_assert_uint_eq(r->project->artifacts.n, 1);
    ck_assert(r->project->sandbox.is_kind_set && r->project->sandbox.kind == SANDBOX_PLAIN);
    ck_assert_int_eq(r->project->build_timeout_ns, 7);
    ck_assert_int_eq(request_metric(r)->timeout_ns, 6);
    ck_assert_int_eq(request_metric(r)->worse, WORSE_DOWN);
    ck_assert(r->first_parent && r->no_inside && r->fresh);
    ck_assert_str_eq(r->platform, "linux-arm64");
    ck_assert_double_eq_tol(r->confidence, .999, 1e-12);
    ck_assert_double_eq_tol(r->min_effect_percent, 2, 1e-12);
    ck_assert_int_eq(r->budget_runs, 77);
    ck_assert_int_eq(r->budget_ns, 5);
    ck_assert_uint_eq(r->seed, 42);
    fixture_end();
}
END_TEST

/* clang-format off */
static const struct {
    const char *name;
    const char *repo, *good, *bad, *measure, *metric, *project;
    bool no_inside;
    const char *text, *hint;
} refused[] = {
    {"no good end",     "my repo", NULL, "main", "x", "wall", NULL, false, "--good is missing", "--good"},
    {"no bad end",      "my repo", "v1", NULL,   "x", "wall", NULL, false, "--bad is missing", "--bad"},
    {"no metric",       "my repo", "v1", "main", "x", NULL,   NULL, false, "--metric is missing", "--metric exit"},
    {"no command",      "my repo", "v1", "main", NULL, "wall", NULL, false, "--measure is missing", "--measure"},
    {"two commands",    "my repo", "v1", "main", "x", "wall:command=y", NULL, false, "two commands", ""},
    {"no such kind",    "my repo", "v1", "main", "x", "wal",  NULL, false, "wal", "wall"},
    {"no repository",   "/",       "v1", "main", "x", "wall", NULL, false, "not a git repository", ""},
    {"no such folder",  "nowhere", "v1", "main", "x", "wall", NULL, false, "nowhere", ""},
    {"inside of what",  "my repo", "v1", "main", "x", "wall", NULL, true,  "--no-inside", "--first-parent"},
    {"two sources",     "my repo", "v1", "main", "x", "wall", "p.yml", false, "exclude each other", ""},
    {"no project file", "my repo", "v1", "main", NULL, "wall", "p.yml", false, "p.yml", ""},
};
/* clang-format on */

START_TEST(mistakes_have_a_next_step)
{
    AUTO(options_fini) struct options o;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    make_repository();
    options_init(&o);
    o.repo = refused[_i].repo;
    o.good = refused[_i].good;
    o.bad = refused[_i].bad;
    o.measure = refused[_i].measure;
    o.metric = refused[_i].metric;
    o.project = refused[_i].project;
    o.no_inside = refused[_i].no_inside;
    enum err_code code = question_from_options(&o, &r, &e);
    ck_assert_msg(code == ERR_INVALID || code == ERR_NOT_FOUND, "%s", refused[_i].name);
    ck_assert_msg(strstr(e.text, refused[_i].text) != NULL, "%s: %s", refused[_i].name, e.text);
    bool is_said = strstr(e.hint, refused[_i].hint) || strstr(e.text, refused[_i].hint);
    ck_assert_msg(is_said, "%s: %s / %s", refused[_i].name, e.text, e.hint);
    fixture_end();
}
END_TEST

START_TEST(a_sandbox_is_named)
{
    AUTO(options_fini) struct options o;
    AUTO(request_free) struct request *r = NULL;
    struct err e = {0};

    make_repository();
    options_plain(&o, "my repo");
    o.sandbox = "bubblewrap";
    ck_assert(question_from_options(&o, &r, &e) == ERR_OK);
    ck_assert(r->project->sandbox.is_kind_set && r->project->sandbox.kind == SANDBOX_BUBBLEWRAP);
    AUTO(request_free) struct request *none = NULL;
    o.sandbox = "cardboard";
    ck_assert(question_from_options(&o, &none, &e) == ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(e.text, "expected one of plain, bubblewrap"));
    fixture_end();
}
END_TEST

int main(void)
{
    const struct unit_test tests[] = {
        {folders_and_worktrees_ask_the_same, 3},   {ends_become_hashes, 1}, {every_flag_arrives, 1},
        {mistakes_have_a_next_step, LEN(refused)}, {a_sandbox_is_named, 1},
    };
    return unit_run("question", tests, LEN(tests));
}
