/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl export: a bisection in a form other tools read. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/local.h"
#include "cli/terminal.h"
#include "report/git_log.h"
#include "wire/http.h"
#include <math.h>
#include <string.h>

/* The one format so far; a further one is a row here. */
static const char *const formats[] = {"git-bisect-log", NULL};

/* clang-format off */
static const struct flag flags[] = {
    {"--format", "FORMAT", FLAG_CHOICE, offsetof(struct options, format), "git-bisect-log: for git bisect replay", formats, 0, 0},
    {"--repo", "DIR", FLAG_TEXT, offsetof(struct options, repo), "the repository, to tell good from bad by ancestry (default: the current folder's)", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

/* Tried revisions in the order of their first task. */
struct trials {
    struct tried *items;
    size_t n;
};

static void trials_fini(struct trials *t)
{
    mem_free(t->items);
}
DEFINE_AUTO_FINI(struct trials, trials_fini)

static struct tried *trial_of(struct trials *t, const char *hex)
{
    struct revision id;

    if (revision_parse(hex, &id, NULL))
        return NULL;
    for (size_t i = 0; i < t->n; i++)
        if (revision_equal(&t->items[i].revision, &id))
            return &t->items[i];
    t->items = mem_resize(t->items, t->n + 1, sizeof(*t->items));
    t->items[t->n] = (struct tried){.revision = id, .mean = NAN};
    return &t->items[t->n++];
}

static bool is_untestable(const struct verdict *v, const struct revision *id)
{
    for (size_t i = 0; i < v->n_untestable; i++)
        if (revision_equal(&v->untestable[i], id))
            return true;
    return false;
}

static void add_builds(struct trials *t, const struct verdict *v, const json *task)
{
    const json *builds = json_at(task, "builds");

    for (size_t i = 0; i < json_len(builds); i++) {
        const json *b = json_item(builds, i);
        struct tried *one = trial_of(t, json_str(json_at(b, "revision"), ""));
        if (one && !one->why && is_untestable(v, &one->revision))
            one->why = json_str(json_at(b, "reason"), "it could not be measured");
    }
}

static void add_sample(struct trials *t, const json *sample)
{
    const json *value = json_at(sample, "value");
    struct tried *one = trial_of(t, json_str(json_at(sample, "revision"), ""));
    bool is_altered = json_is_string(json_at(sample, "reverted")); /* not the revision as it is */

    if (!one || !json_is_number(value) || is_altered)
        return;
    double sum = one->n_runs ? one->mean * one->n_runs : 0;
    one->n_runs++;
    one->mean = (sum + json_num(value, 0)) / one->n_runs;
}

static enum err_code get_list(struct client *c, const char *id, const char *what, json **out,
                              struct err *e)
{
    AUTO(buf_fini) struct buf path = {0};

    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    buf_printf(&path, "/%s", what);
    return client_list(c, buf_str(&path), 0, out, e);
}

static struct range *range_here(const struct options *o, const struct verdict *v)
{
    struct local_query q = {
        .repository = o->repo ? o->repo : ".", .good = v->good.hex, .bad = v->bad.hex};
    struct range *range = NULL;

    if (local_range(&q, &range, NULL))
        terminal_note("the commits are not in %s: good and bad are told by their level, not by "
                      "ancestry. Name the repository with --repo DIR.",
                      o->repo ? o->repo : "the current folder");
    return range;
}

static int print_log(const struct options *o, const struct verdict *v, const struct trials *t)
{
    AUTO(range_free) struct range *range = range_here(o, v);
    AUTO(buf_fini) struct buf text = {0};

    git_log_write(v, range, t->items, t->n, &text);
    if (!o->json)
        return print_text(&text, EXIT_DONE);
    AUTO(json_free) json *document = json_new_object();
    json_put(document, "format", json_new_string(o->format));
    json_put(document, "text", json_new_string(buf_str(&text)));
    return print_json(document, EXIT_DONE);
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(json_free) json *tasks = NULL;
    AUTO(json_free) json *samples = NULL;
    AUTO(trials_fini) struct trials t = {0};
    AUTO(mem_free) char *id = NULL;
    struct err e = {0};

    if (!o->format) {
        err_set(&e, ERR_INVALID, "--format is missing");
        err_hint(&e, "There is one: --format git-bisect-log.");
        return fail_usage(o, &e);
    }
    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], &id, &v, &e) ||
        get_list(c, id, "tasks", &tasks, &e) || get_list(c, id, "samples", &samples, &e))
        return fail(o, &e);
    if (!revision_is_set(&v->good) || !revision_is_set(&v->bad)) {
        err_set(&e, ERR_CONFLICT, "bisection %s has not read its history yet", id);
        err_hint(&e, "`bisectctl show %s` says where it stands.", id);
        return fail(o, &e);
    }
    for (size_t i = 0; i < json_len(tasks); i++)
        add_builds(&t, v, json_item(tasks, i));
    for (size_t i = 0; i < json_len(samples); i++)
        add_sample(&t, json_item(samples, i));
    return print_log(o, v, &t);
}

const struct command command_export = {
    .name = "export",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "write a bisection in a form other tools read",
    .example = "bisectctl export 4f3a9c1d --format git-bisect-log > bisect.log\n"
               "git bisect replay bisect.log\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
