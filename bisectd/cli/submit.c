/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl submit: hands a question to a service and leaves. */
#include "base/clock.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/question.h"
#include "cli/submit.h"
#include "cli/terminal.h"
#include "commits/home.h"
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROWS_QUESTION,
    {"--coordinator", "URL", FLAG_TEXT, offsetof(struct options, coordinator), "the service: http://HOST:PORT, https://… or unix:PATH (default: $BISECTD_URL)", NULL, 0, 0},
    {"--token-file", "FILE", FLAG_TEXT, offsetof(struct options, token_file), "file with the access token (default: $BISECTD_TOKEN_FILE)", NULL, 0, 0},
    {"--config", "FILE", FLAG_TEXT, offsetof(struct options, config), "bisectd's configuration, to find the service by", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

/* Flags that say how to build and measure: a project the service knows has all that already. */
static enum err_code refuse_commands(const struct options *o, struct err *e)
{
    const char *extra = o->measure                                     ? "--measure"
                        : o->build.n                                   ? "--build"
                        : o->artifact.n                                ? "--artifact"
                        : o->repo                                      ? "--repo"
                        : o->sandbox                                   ? "--sandbox"
                        : o->worse                                     ? "--worse"
                        : o->confirm                                   ? "--confirm"
                        : o->timeout_ns > 0 || o->build_timeout_ns > 0 ? "--timeout"
                                                                       : NULL;

    if (!extra)
        return ERR_OK;
    err_set(e, ERR_INVALID, "%s does not go with a project of the service", extra);
    return err_hint(e,
                    "%s is no file here, so it names a project that the service has; that says "
                    "how to build and measure.",
                    o->project);
}

static enum err_code named_question(const struct options *o, json **out, struct err *e)
{
    AUTO(json_free) json *q = json_new_object();
    char took[32];

    if (refuse_commands(o, e))
        return e->code;
    if (!o->good || !o->bad) {
        err_set(e, ERR_INVALID, "%s is missing", o->good ? "--bad" : "--good");
        return err_hint(e, "Name a revision before the change and one with it.");
    }
    json_put(q, "project", json_new_string(o->project));
    json_put(q, "good", json_new_string(o->good));
    json_put(q, "bad", json_new_string(o->bad));
    if (o->metric)
        json_put(q, "metric", json_new_string(o->metric));
    if (o->platform)
        json_put(q, "platform", json_new_string(o->platform));
    if (o->confidence > 0)
        json_put(q, "confidence", json_new_real(o->confidence));
    if (o->min_effect >= 0)
        json_put(q, "min_effect", json_new_real(o->min_effect));
    if (o->has_seed)
        json_put(q, "seed", json_new_int((int64_t)o->seed));
    if (o->budget_runs > 0)
        json_put(q, "budget_runs", json_new_int(o->budget_runs));
    if (o->budget_ns > 0) {
        snprintf(took, sizeof(took), "%lldms", (long long)(o->budget_ns / NS_PER_MS));
        json_put(q, "budget_time", json_new_string(took));
    }
    json_put(q, "first_parent", json_new_bool(o->first_parent));
    json_put(q, "no_inside", json_new_bool(o->no_inside));
    json_put(q, "fresh", json_new_bool(o->fresh));
    if (o->no_explain)
        json_put(q, "no_explain", json_new_bool(true));
    *out = TAKE(q);
    return ERR_OK;
}

static enum err_code question(const struct options *o, json **out, struct err *e)
{
    AUTO(request_free) struct request *r = NULL;

    if (o->project && !question_names_file(o->project))
        return named_question(o, out, e);
    if (question_from_options(o, &r, e))
        return e->code;
    /* What a branch's name means may change while the service is at work on it. */
    if (home_is_local(r->project->repository) && question_fix_ends(r, question_folder(o, r), e))
        return e->code;
    *out = request_to_json(r);
    return ERR_OK;
}

static void say(const struct options *o, const struct client *c, const char *id, bool has_joined,
                struct buf *out)
{
    struct place place = {0};

    client_place(c, o, &place);
    buf_printf(out, "%s bisection ", has_joined ? "joined" : "submitted");
    style_hostile(out, id, 100);
    buf_adds(out, "\n\nWhat to type next:\n  bisectctl watch ");
    text_shell(out, id);
    place_add(&place, out);
    buf_addc(out, '\n');
}

enum err_code submit_question(const struct options *o, json **answer, struct buf *said,
                              struct err *e)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *body = NULL;
    AUTO(json_free) json *got = NULL;
    const char *id = NULL;

    if (question(o, &body, e) || client_open(o, CLIENT_SERVICE, &c, e) ||
        client_post(c, "/bisections", body, &got, e) || json_need_str(got, "id", &id, e))
        return e->code;
    say(o, c, id, json_bool(json_at(got, "joined"), false), said);
    *answer = TAKE(got);
    return ERR_OK;
}

static int run(const struct options *o)
{
    AUTO(json_free) json *answer = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (submit_question(o, &answer, &text, &e))
        return fail(o, &e);
    return o->json ? print_json(answer, EXIT_DONE) : print_text(&text, EXIT_DONE);
}

const struct command command_submit = {
    .name = "submit",
    .words = "",
    .summary = "hand a bisection to a service",
    .about = "Like run, but a service does the work. --project is a project that the service "
             "knows, or a project file of yours; the latter, and commands in flags, need a token "
             "that may send commands.",
    .example = "bisectctl submit --project demo --metric startup --good v1.4 --bad main\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
