/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl run: a whole bisection with nothing to set up. */
#include "cli/run.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/follow.h"
#include "cli/question.h"
#include "cli/store.h"
#include "cli/terminal.h"
#include "commits/home.h"
#include "config/config.h"
#include <string.h>

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROWS_QUESTION,
    {"--workers", "N", FLAG_COUNT, offsetof(struct options, workers), "workers on this machine; more of them build ahead while one measures (default: 1)", NULL, 1, 64},
    {"--store", "DIR", FLAG_TEXT, offsetof(struct options, store), "where builds, samples and state are kept (default: bisectd/ in the repository's .git)", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

/* Beside the repository's own things; for a URL, with the rest of this person's state. */
static enum err_code default_store(const struct request *r, char **out, struct err *e)
{
    AUTO(mem_free) char *home = NULL;
    const char *repository = r->project->repository;

    if (home_is_local(repository)) {
        if (home_of(repository, &home, e))
            return e->code;
        *out = path_join(home, "bisectd");
        return ERR_OK;
    }
    AUTO(config_free) struct config *config = config_default();
    *out = mem_printf("%s/runs/%s", config->data_dir, r->project->name);
    return ERR_OK;
}

static enum err_code prepare(const struct options *o, struct request **question, char **store,
                             struct err *e)
{
    AUTO(request_free) struct request *r = NULL;
    AUTO(mem_free) char *where = o->store ? mem_dup(o->store) : NULL;

    if (question_from_options(o, &r, e) || (!where && default_store(r, &where, e)))
        return e->code;
    if (store_make(where, e) || store_check(where, e))
        return e->code;
    if (home_is_local(r->project->repository) &&
        question_resolve(r, question_folder(o, r), where, e))
        return e->code;
    *question = TAKE(r);
    *store = TAKE(where);
    return ERR_OK;
}

static enum err_code ask(struct client *c, const struct request *r, char **id, bool *has_joined,
                         struct err *e)
{
    AUTO(json_free) json *body = request_to_json(r);
    AUTO(json_free) json *answer = NULL;
    const char *text = NULL;

    const char *path = r->is_comparison ? "/comparisons" : "/bisections";
    if (client_post(c, path, body, &answer, e) || json_need_str(answer, "id", &text, e))
        return e->code;
    *id = mem_dup(text);
    *has_joined = json_bool(json_at(answer, "joined"), false);
    return ERR_OK;
}

/* A daemon that was about to stop may take our connection and then be gone: one more try. */
static enum err_code open_and_ask(const struct options *o, const struct request *r,
                                  const char *store, struct client **out, char **id, struct err *e)
{
    AUTO(client_free) struct client *c = NULL;
    bool has_joined = false;

    if (client_open_store(store, o, CLIENT_WORKS, &c, e))
        return e->code;
    if (ask(c, r, id, &has_joined, e)) {
        bool is_gone = e->code == ERR_PEER && !interrupt_seen();
        if (!is_gone)
            return e->code;
        client_free(c);
        c = NULL;
        *e = (struct err){0};
        if (client_open_store(store, o, CLIENT_WORKS, &c, e) || ask(c, r, id, &has_joined, e))
            return e->code;
    }
    if (!client_has_started(c))
        terminal_note("attached to the bisectd that already runs on %s", store);
    terminal_note("%s %s %s", has_joined ? "going on with" : "started",
                  r->is_comparison ? "comparison" : "bisection", *id);
    *out = TAKE(c);
    return ERR_OK;
}

int run_here(const struct options *o)
{
    static const char how[] = "Run the same command again to go on from there.";
    AUTO(request_free) struct request *question = NULL;
    AUTO(client_free) struct client *c = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(mem_free) char *store = NULL;
    AUTO(mem_free) char *id = NULL;
    struct options own = *o;
    struct err e = {0};

    interrupt_watch();
    if (prepare(o, &question, &store, &e))
        return fail(o, &e);
    own.platform = question->platform; /* the workers' label, whoever named it */
    enum err_code code = open_and_ask(&own, question, store, &c, &id, &e);
    if (code == ERR_OK)
        code = follow(c, id, &v, &e);
    if (interrupt_seen())
        return print_interrupted(o, v, how);
    if (code)
        return fail(o, &e);
    return print_verdict(o, c, v, question->project->repository);
}

const struct command command_run = {
    .name = "run",
    .words = "",
    .summary = "bisect here and now, with nothing to set up",
    .about = "Builds and measures revisions between --good and --bad until it knows which commit "
             "changed the metric, and says how sure it is. Builds and samples are kept in the "
             "store: a run that was interrupted goes on when the same command is given again, and "
             "a later one uses what is there. Your work tree is never touched. Exit status: 0 "
             "culprit, 3 not reproduced, 4 range or inconclusive, 1 failed, 2 usage, 130 "
             "interrupted.",
    .example = "bisectctl run --good v1.4 --bad main --build 'make -j4' --measure './demo --quit' "
               "--metric wall\n"
               "bisectctl run --good v1.4 --bad main --build make --measure 'make check' "
               "--metric exit\n"
               "bisectctl run --project demo.yml --metric startup --good v1.4 --bad main\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run_here,
};
