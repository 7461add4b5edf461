/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl plan: what a bisection would cost, and where it would begin; nothing is started. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/local.h"
#include "cli/question.h"
#include "cli/rehearsal.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "report/figure.h"
#include "report/summary.h"
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROWS_ENDS,
    {"--project", "FILE", FLAG_TEXT, offsetof(struct options, project), "a project file: its repository, and what its build reads", NULL, 0, 0},
    {"--confidence", "P", FLAG_PROBABILITY, offsetof(struct options, confidence), "how sure to be (default: .99)", NULL, 0, 0},
    {"--first-parent", NULL, FLAG_SWITCH, offsetof(struct options, first_parent), "test merges of the main line first, then look inside the one found", NULL, 0, 0},
    {"--no-inside", NULL, FLAG_SWITCH, offsetof(struct options, no_inside), "with --first-parent: a merge is an answer", NULL, 0, 0},
    {"--workers", "N", FLAG_COUNT, offsetof(struct options, workers), "how many revisions may be under way at once (default: 1)", NULL, 1, 64},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

/* A game costs a posterior a step: over long ranges one must do. */
enum { PLAYED_MOST = 2000, GAMES = 3 };

struct estimate {
    double n_builds, n_runs;
    double load_seconds;
    double step_cpu_seconds; /* one result taken in, and the choice that follows */
    struct rehearsed opening;
};

static enum err_code load(const struct options *o, struct project **project, struct range **range,
                          struct err *e)
{
    AUTO(project_free) struct project *p = NULL;

    if (!o->good || !o->bad) {
        err_set(e, ERR_INVALID, "%s is missing", o->good ? "--bad" : "--good");
        return err_hint(e, "Name a revision before the change and one with it.");
    }
    if (o->project && project_load(o->project, &p, e))
        return e->code;
    const char *repository = o->repo ? o->repo : p ? p->repository : ".";
    struct local_query q = {
        .repository = repository, .good = o->good, .bad = o->bad, .paths = p ? &p->paths : NULL};
    if (local_range(&q, range, e))
        return e->code;
    *project = p ? TAKE(p) : project_new("plan", repository);
    return ERR_OK;
}

/* The metric does not matter to the plan: what it costs without noise is the same for all. */
static struct request *question(const struct options *o, struct project *project)
{
    struct metric *m = metric_new("plan", METRIC_VALUE);

    m->command = mem_dup("true");
    project_add_metric(project, m);
    struct request *r = request_new(project);
    mem_free(r->metric);
    r->metric = mem_dup("plan");
    r->good = mem_dup(o->good);
    r->bad = mem_dup(o->bad);
    r->first_parent = o->first_parent;
    r->no_inside = o->no_inside;
    if (o->confidence > 0)
        r->confidence = o->confidence;
    return r;
}

/* The i-th of `of` culprits, spread evenly over the candidates. */
static uint32_t spread(const struct range *r, uint32_t i, uint32_t of)
{
    uint64_t nth = (uint64_t)r->n_candidates * (2 * i + 1) / (2 * of);

    for (uint32_t c = 0; c < r->n; c++)
        if (r->commits[c].is_candidate && nth-- == 0)
            return c;
    return r->bad;
}

static double seconds_since(struct mono start)
{
    return (double)(mono_now().ns - start.ns) / (double)NS_PER_S;
}

static enum err_code play_through(const struct request *q, const struct range *range,
                                  struct rehearsal r, struct estimate *out, struct err *e)
{
    uint32_t n_games = range->n_candidates <= PLAYED_MOST ? GAMES : 1, n_steps = 0;
    clock_t start = clock();

    r.only_opening = false;
    for (uint32_t i = 0; i < n_games; i++) {
        struct rehearsed game;
        r.culprit = spread(range, i, GAMES);
        if (rehearse(q, range, &r, &game, e))
            return e->code;
        out->n_builds += (double)game.n_builds / n_games;
        out->n_runs += (double)game.n_runs / n_games;
        n_steps += game.n_steps;
    }
    if (n_steps)
        out->step_cpu_seconds = (double)(clock() - start) / CLOCKS_PER_SEC / n_steps;
    return ERR_OK;
}

static enum err_code estimate(const struct options *o, const struct request *q,
                              const struct range *range, struct estimate *out, struct err *e)
{
    struct rehearsal r = {.culprit = range->bad,
                          .n_workers = o->workers > 0 ? (uint32_t)o->workers : 1,
                          .only_opening = true};

    if (rehearse(q, range, &r, &out->opening, e))
        return e->code;
    return play_through(q, range, r, out, e);
}

static json *to_json(const struct estimate *x, const struct range *range, double seconds)
{
    json *o = json_new_object();
    json *next = json_new_array();

    for (size_t i = 0; i < x->opening.n_next; i++)
        json_push(next, json_new_string(x->opening.next[i].hex));
    json_put(o, "range_size", json_new_int(range->n_candidates));
    json_put(o, "expected_builds", json_new_real(x->n_builds));
    json_put(o, "expected_runs", json_new_real(x->n_runs));
    json_put(o, "next", next);
    json_put(o, "load_seconds", json_new_real(x->load_seconds));
    json_put(o, "step_cpu_seconds", json_new_real(x->step_cpu_seconds));
    return json_put(o, "seconds", json_new_real(seconds));
}

static void to_text(const struct estimate *x, const struct range *range, const struct style *s,
                    struct buf *out)
{
    figure_count(out, range->n_candidates, "commit", "commits");
    buf_adds(out, " could have made the change.\n\n");
    if (!range->good_is_ancestor) {
        buf_printf(out, "  Good is not an ancestor of bad: %s measured too.\n\n",
                   range->n_merge_bases == 1 ? "their merge base is" : "their merge bases are");
    }
    style_label(out, s, "builds");
    buf_printf(out, "about %.0f, ends and verification included\n", ceil(x->n_builds));
    style_label(out, s, "runs");
    buf_printf(out, "about %.0f if the metric has no noise; the more noise, the more runs\n",
               ceil(x->n_runs));
    for (size_t i = 0; i < x->opening.n_next; i++) {
        uint32_t at = range_find(range, &x->opening.next[i]);
        style_label(out, s, i ? "" : "first tests");
        buf_printf(out, "%.*s ", SHORT_HEX, x->opening.next[i].hex);
        style_hostile(out, at == UINT32_MAX ? "" : range->commits[at].subject, 100);
        buf_addc(out, '\n');
    }
}

static int run(const struct options *o)
{
    AUTO(range_free) struct range *range = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct project *project = NULL;
    struct estimate x = {0};
    struct err e = {0};
    struct style style = terminal_style(STDOUT_FILENO);
    struct mono start = mono_now();

    if (load(o, &project, &range, &e))
        return fail(o, &e);
    x.load_seconds = seconds_since(start);
    AUTO(request_free) struct request *q = question(o, project);
    if (estimate(o, q, range, &x, &e))
        return fail(o, &e);
    double seconds = seconds_since(start);
    if (o->json) {
        AUTO(json_free) json *document = to_json(&x, range, seconds);
        return print_json(document, EXIT_DONE);
    }
    to_text(&x, range, &style, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_plan = {
    .name = "plan",
    .words = "",
    .summary = "say what a bisection would cost, offline",
    .about = "Reads the history only: builds nothing, measures nothing, starts nothing. Beside the "
             "first tests named, the ends are always measured.",
    .example = "bisectctl plan --good v1.4 --bad main\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
