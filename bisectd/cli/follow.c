/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/follow.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/live.h"
#include "cli/terminal.h"
#include "commits/home.h"
#include "report/explanation.h"
#include "report/summary.h"
#include <string.h>
#include <unistd.h>

struct watcher {
    struct live *live;
};

static bool on_change(void *context, const struct verdict *v)
{
    struct watcher *w = context;

    if (v->state != BISECTION_DONE && v->state != BISECTION_CANCELED)
        live_show(w->live, v);
    return !interrupt_seen();
}

static bool on_tick(void *context)
{
    struct watcher *w = context;

    live_tick(w->live);
    return !interrupt_seen();
}

enum err_code follow(struct client *c, const char *id, struct verdict **out, struct err *e)
{
    AUTO(live_free) struct live *live = live_new();
    struct watcher w = {live};
    struct follower f = {.changed = on_change, .tick = on_tick, .context = &w};

    if (client_follow(c, id, &f, e))
        return e->code;
    live_clear(live);
    /* The last event and the end of the stream may have passed each other: ask once more. */
    if (client_bisection(c, id, NULL, out, e) && !interrupt_seen())
        return e->code;
    *e = (struct err){0};
    return ERR_OK;
}

/* Is `path` in the repository that the current folder is in? */
static bool is_here(const char *path)
{
    AUTO(mem_free) char *here = NULL;
    AUTO(mem_free) char *there = NULL;

    return home_of(".", &here, NULL) == ERR_OK && home_of(path, &there, NULL) == ERR_OK &&
           strcmp(here, there) == 0;
}

static struct place place_of(const struct options *o, const struct client *c,
                             const char *repository)
{
    struct place p = {0};

    if (repository && home_is_local(repository) && !is_here(repository))
        p.repository = repository;
    client_place(c, o, &p);
    return p;
}

static json *document_of(const struct verdict *v)
{
    return v->is_comparison ? comparison_to_json(v) : verdict_to_json(v);
}

static int status_of(const struct options *o, const struct verdict *v)
{
    bool is_regressed = v->kind == VERDICT_REGRESSED;
    bool is_changed = is_regressed || v->kind == VERDICT_IMPROVED;

    if (o->fail_on && (strcmp(o->fail_on, "changed") == 0 ? is_changed : is_regressed))
        return EXIT_CHANGED;
    return verdict_exit_status(v);
}

/* What there is of an explanation; a verdict is worth printing without. */
static void add_explanation(struct client *c, const struct verdict *v, const struct style *s,
                            struct buf *out)
{
    AUTO(json_free) json *document = NULL;
    AUTO(explanation_free) struct explanation *x = NULL;
    struct err e = {0};

    if (v->kind != VERDICT_CULPRIT || v->state != BISECTION_DONE || v->is_comparison ||
        client_explanation(c, v->id, &document, &e) || explanation_from_json(document, &x, &e))
        return;
    buf_addc(out, '\n');
    explanation_write_which(x, v->n_culprits, s, out);
    explanation_write(x, EXPLANATION_SHORT, s, out);
}

int print_verdict(const struct options *o, struct client *c, const struct verdict *v,
                  const char *repository)
{
    int exit_status = status_of(o, v);
    AUTO(buf_fini) struct buf text = {0};

    if (o->json) {
        AUTO(json_free) json *document = document_of(v);
        return print_json(document, exit_status);
    }
    struct style style = terminal_style(STDOUT_FILENO);
    struct place place = place_of(o, c, repository);
    summary_write(v, &style, &text);
    add_explanation(c, v, &style, &text);
    next_write(v, &place, &style, &text);
    return print_text(&text, exit_status);
}

int print_interrupted(const struct options *o, const struct verdict *v, const char *how)
{
    struct err e = {0};

    if (o->json && v) {
        AUTO(json_free) json *document = document_of(v);
        terminal_note("interrupted; everything measured so far is kept. %s", how);
        return print_json(document, EXIT_INTERRUPTED);
    }
    err_set(&e, ERR_TIMEOUT, "interrupted; everything measured so far is kept");
    err_hint(&e, "%s", how);
    (void)fail(o, &e);
    return EXIT_INTERRUPTED;
}
