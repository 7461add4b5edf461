/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/question.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "commits/home.h"
#include "commits/mirror.h"
#include "commits/range.h"
#include "commits/stretch.h"
#include "config/config.h"
#include "model/check.h"
#include <ctype.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

const char *const worse_choices[] = {"up", "down", "either", NULL};
const char *const confirm_choices[] = {"none", "revert", NULL};

enum { NAME_MOST = 64 };

const char *platform_here(void)
{
    struct utsname u;

    if (uname(&u) == 0 && strcmp(u.machine, "aarch64") == 0)
        return "linux-arm64";
    return REQUEST_PLATFORM;
}

/* "/home/me/Some Project/.git" -> "Some-Project": what a project and its mirror may be called. */
char *question_project_name(const char *folder)
{
    AUTO(buf_fini) struct buf name = {0};
    size_t n = strlen(folder);

    if (n > 5 && strcmp(folder + n - 5, "/.git") == 0)
        n -= 5;
    else if (n > 4 && strcmp(folder + n - 4, ".git") == 0)
        n -= 4;
    size_t start = n;
    while (start > 0 && folder[start - 1] != '/' && folder[start - 1] != ':')
        start--;
    for (size_t i = start; i < n && name.len < NAME_MOST; i++) {
        bool is_plain = isalnum((unsigned char)folder[i]) && (unsigned char)folder[i] < 0x80;
        if (is_plain || (name.len > 0 && strchr("._-", folder[i])))
            buf_addc(&name, folder[i]);
        else if (name.len > 0)
            buf_addc(&name, '-');
    }
    return name.len > 0 ? buf_take(&name) : mem_dup("project");
}

bool question_names_file(const char *project)
{
    struct stat st;

    return strchr(project, '/') || (stat(project, &st) == 0 && !S_ISDIR(st.st_mode));
}

/* All folders and worktrees of one repository ask the same question. */
static enum err_code main_folder(const char *path, char **out, struct err *e)
{
    AUTO(mem_free) char *home = NULL;

    if (home_of(path, &home, e))
        return e->code;
    size_t n = strlen(home);
    *out = n > 5 && strcmp(home + n - 5, "/.git") == 0 ? mem_dup_n(home, n - 5) : TAKE(home);
    return ERR_OK;
}

static enum err_code find_repository(const char *given, char **out, struct err *e)
{
    if (!home_is_local(given)) {
        *out = mem_dup(given);
        return ERR_OK;
    }
    if (main_folder(given, out, e)) {
        if (!e->hint[0])
            err_hint(e, "Name the repository with --repo DIR.");
        return e->code;
    }
    return ERR_OK;
}

static enum err_code need(const char *value, const char *flag, const char *hint, struct err *e)
{
    if (value)
        return ERR_OK;
    err_set(e, ERR_INVALID, "%s is missing", flag);
    return err_hint(e, "%s", hint);
}

static enum err_code inline_metric(const struct options *o, struct metric **out, struct err *e)
{
    AUTO(metric_free) struct metric *m = NULL;

    if (need(o->metric, "--metric",
             "--metric exit if the command's exit status says good or bad, wall or cpu for its "
             "time, rss for its memory, value for a number it prints.",
             e))
        return e->code;
    if (metric_from_spec(o->metric, &m, e))
        return err_wrap(e, "--metric");
    if (o->measure && m->command) {
        err_set(e, ERR_INVALID, "--measure and the command in --metric are two commands");
        return err_hint(e, "Leave one of them out.");
    }
    if (!m->command && need(o->measure, "--measure",
                            "Name the command to measure: --measure './program --quit'.", e))
        return e->code;
    if (o->measure && metric_set(m, "command", o->measure, e))
        return err_wrap(e, "--measure");
    *out = TAKE(m);
    return ERR_OK;
}

static enum err_code inline_project(const struct options *o, struct project **out, struct err *e)
{
    AUTO(mem_free) char *repository = NULL;
    AUTO(metric_free) struct metric *m = NULL;

    if (find_repository(o->repo ? o->repo : ".", &repository, e) || inline_metric(o, &m, e))
        return e->code;
    AUTO(mem_free) char *name = question_project_name(repository);
    struct project *p = project_new(name, repository);
    project_add_metric(p, TAKE(m));
    *out = p;
    return ERR_OK;
}

static enum err_code project_of_file(const struct options *o, struct project **out, struct err *e)
{
    AUTO(project_free) struct project *p = NULL;
    AUTO(mem_free) char *repository = NULL;

    if (o->measure) {
        err_set(e, ERR_INVALID, "--measure and --project exclude each other");
        return err_hint(e, "The project file's metrics have their commands; choose one with "
                           "--metric NAME.");
    }
    if (project_load(o->project, &p, e))
        return e->code;
    if (find_repository(o->repo ? o->repo : p->repository, &repository, e))
        return e->code;
    mem_free(p->repository);
    p->repository = TAKE(repository);
    *out = TAKE(p);
    return ERR_OK;
}

/** An empty word adds nothing: --build '' says that there is nothing to build. */
static void replace(struct strings *to, const struct strings *by)
{
    if (by->n == 0)
        return;
    strings_fini(to);
    for (size_t i = 0; i < by->n; i++)
        if (by->items[i][0])
            strings_add(to, by->items[i]);
}

static enum err_code apply_to_project(const struct options *o, struct project *p, struct err *e)
{
    replace(&p->build_steps, &o->build);
    replace(&p->artifacts, &o->artifact);
    if (o->build_timeout_ns > 0)
        p->build_timeout_ns = o->build_timeout_ns;
    if (o->confirm && confirm_parse(o->confirm, &p->confirm, e))
        return err_wrap(e, "--confirm");
    if (!o->sandbox)
        return ERR_OK;
    if (sandbox_kind_parse(o->sandbox, &p->sandbox.kind, e))
        return err_wrap(e, "--sandbox");
    p->sandbox.is_kind_set = true;
    return ERR_OK;
}

static enum err_code apply_to_metric(const struct options *o, struct request *r, struct err *e)
{
    struct metric *m = NULL;

    for (size_t i = 0; r->metric && i < r->project->n_metrics; i++)
        if (strcmp(r->project->metrics[i]->name, r->metric) == 0)
            m = r->project->metrics[i];
    if (!m)
        return ERR_OK; /* request_check() says it better */
    if (o->timeout_ns > 0)
        m->timeout_ns = o->timeout_ns;
    if (o->worse && worse_parse(o->worse, &m->worse, e))
        return err_wrap(e, "--worse");
    return ERR_OK;
}

static void apply_to_request(const struct options *o, struct request *r)
{
    r->is_comparison = o->is_comparison;
    r->good = mem_dup(o->good);
    r->bad = mem_dup(o->bad);
    if (o->project && o->metric) {
        mem_free(r->metric);
        r->metric = mem_dup(o->metric);
    }
    if (o->platform || r->project->platforms.n == 0) {
        mem_free(r->platform);
        r->platform = mem_dup(o->platform ? o->platform : platform_here());
    }
    if (o->confidence > 0)
        r->confidence = o->confidence;
    r->min_effect_percent = o->min_effect;
    r->first_parent = o->first_parent;
    r->no_inside = o->no_inside;
    r->fresh = o->fresh;
    r->no_explain = o->no_explain;
    if (o->budget_runs > 0)
        r->budget_runs = o->budget_runs;
    if (o->budget_ns > 0)
        r->budget_ns = o->budget_ns;
    r->is_seed_set = true;
    r->seed = o->seed;
    if (!o->has_seed) {
        random_bytes(&r->seed, sizeof(r->seed));
        r->seed &= REQUEST_MAX_SEED;
    }
}

static enum err_code need_ends(const struct options *o, struct err *e)
{
    if (o->is_comparison) {
        if (need(o->good, "--base", "Name the revision to compare with: --base main.", e))
            return e->code;
        return need(o->bad, "--head", "Name the revision to be judged: --head HEAD.", e);
    }
    if (need(o->good, "--good", "Name a revision before the change: --good v1.4.", e))
        return e->code;
    return need(o->bad, "--bad", "Name a revision with the change: --bad main.", e);
}

enum err_code question_from_options(const struct options *o, struct request **out, struct err *e)
{
    AUTO(request_free) struct request *r = NULL;
    struct project *p = NULL;

    if (need_ends(o, e))
        return e->code;
    if (o->no_inside && !o->first_parent) {
        err_set(e, ERR_INVALID, "--no-inside has a meaning only with --first-parent");
        return err_hint(e, "Add --first-parent, or leave --no-inside out.");
    }
    if (o->project ? project_of_file(o, &p, e) : inline_project(o, &p, e))
        return e->code;
    r = request_new(p);
    apply_to_request(o, r);
    if (apply_to_project(o, p, e) || apply_to_metric(o, r, e) || request_check(r, e))
        return e->code;
    *out = TAKE(r);
    return ERR_OK;
}

const char *question_folder(const struct options *o, const struct request *r)
{
    if (o->repo)
        return o->repo; /* perhaps a worktree, with a HEAD of its own */
    return o->project ? r->project->repository : ".";
}

static void set_ends(struct request *r, const struct revision *good, const struct revision *bad)
{
    mem_free(r->good);
    mem_free(r->bad);
    r->good = mem_dup(good->hex);
    r->bad = mem_dup(bad->hex);
}

enum err_code question_fix_ends(struct request *r, const char *from, struct err *e)
{
    struct revision good, bad;

    if (home_resolve(from, r->good, &good, e) || home_resolve(from, r->bad, &bad, e))
        return e->code;
    set_ends(r, &good, &bad);
    return ERR_OK;
}

enum err_code question_resolve(struct request *r, const char *from, const char *data_dir,
                               struct err *e)
{
    AUTO(mirror_free) struct mirror *m = NULL;
    AUTO(range_free) struct range *range = NULL;
    struct mirror_place place = {
        .data_dir = data_dir, .name = r->project->name, .repository = from};
    struct range_query query = {.good = r->good, .bad = r->bad, .is_pair = r->is_comparison};

    if (mirror_open(&place, NULL, &m, e) || range_load(m, &query, &range, e) ||
        stretch_mark(m, r->project->fixups, r->project->n_fixups, range, e))
        return e->code;
    for (size_t i = 0; i < r->project->n_fixups; i++)
        if (stretch_fix(m, r->project->fixups[i], e))
            return err_under(e, "fixups[%zu]", i);
    set_ends(r, &range->commits[range->good].id, &range->commits[range->bad].id);
    return ERR_OK;
}
