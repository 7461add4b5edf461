/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl import: time series into the run history. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/import_report.h"
#include "cli/imported.h"
#include "cli/terminal.h"
#include <string.h>
#include <unistd.h>

enum { BATCH = 2000 };

/* clang-format off */
static const struct flag flags[] = {
    {"--project", "NAME|FILE", FLAG_TEXT, offsetof(struct options, project), "the project whose history this is, or its file (default: what run calls the repository)", NULL, 0, 0},
    {"--metric", "NAME", FLAG_TEXT, offsetof(struct options, metric), "the project's name of the metric (default: as the file has it)", NULL, 0, 0},
    {"--platform", "P", FLAG_TEXT, offsetof(struct options, platform), "the platform's label (default: as the file has it, else this machine's)", NULL, 0, 0},
    {"--host", "NAME", FLAG_TEXT, offsetof(struct options, host), "where the series comes from; each has a level of its own (default: as the file has it, else ci)", NULL, 0, 0},
    {"--where", "COLUMN=TEXT", FLAG_LIST, offsetof(struct options, where), "only rows that have this text there; may be repeated", NULL, 0, 0},
    {"--format", "NAME", FLAG_CHOICE, offsetof(struct options, format), "csv, jsonl, perfherder (performance/data or summary) or results (what a benchmark wrote); default: told by its looks", readings_formats, 0, 0},
    {"--revision", "REV", FLAG_TEXT, offsetof(struct options, revision), "of rows that name none", NULL, 0, 0},
    {"--time", "TIME", FLAG_TEXT, offsetof(struct options, time), "of rows that name none (default: the commit's)", NULL, 0, 0},
    {"--revision-map", "FILE", FLAG_TEXT, offsetof(struct options, revision_map), "a line a pair: foreign revision, tab, commit (default: revision_map of the project file)", NULL, 0, 0},
    {"--repo", "DIR", FLAG_TEXT, offsetof(struct options, repo), "the repository that must have the commits (default: the current folder's, for short names and missing times alone)", NULL, 0, 0},
    {"--dry-run", NULL, FLAG_SWITCH, offsetof(struct options, dry_run), "say what would be stored and what changes there are, and store nothing", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static enum err_code post_batch(struct client *c, const struct points *p, size_t *n_added,
                                size_t *n_known, struct err *e)
{
    AUTO(json_free) json *body = points_to_json(p);
    AUTO(json_free) json *answer = NULL;
    int64_t added, known;

    if (client_post(c, "/points", body, &answer, e) || json_need_int(answer, "added", &added, e) ||
        json_need_int(answer, "known", &known, e))
        return e->code;
    *n_added += (size_t)added;
    *n_known += (size_t)known;
    return ERR_OK;
}

static enum err_code post_series(struct client *c, const char *project,
                                 const struct imported_series *s, size_t *n_added, size_t *n_known,
                                 struct err *e)
{
    for (size_t at = 0; at < s->n; at += BATCH) {
        /* points_to_json() only reads */
        const struct points p = {.project = (char *)(uintptr_t)project,
                                 .metric = (char *)(uintptr_t)s->metric,
                                 .platform = (char *)(uintptr_t)s->platform,
                                 .host = (char *)(uintptr_t)s->host,
                                 .n = s->n - at < BATCH ? s->n - at : BATCH,
                                 .items = s->items + at};
        if (post_batch(c, &p, n_added, n_known, e))
            return e->code;
    }
    return ERR_OK;
}

/* A store has no projects of its own, and a service need not. */
static enum err_code ask_projects(struct client *c, const char *name, struct import_outcome *o,
                                  struct err *e)
{
    AUTO(json_free) json *answer = NULL;

    if (client_get(c, "/projects", &answer, e))
        return e->code;
    const json *projects = json_at(answer, "items");
    for (size_t i = 0; i < json_len(projects); i++)
        o->is_named |= strcmp(json_str(json_at(json_item(projects, i), "id"), ""), name) == 0;
    o->is_unknown = !o->is_named && json_len(projects) > 0;
    return ERR_OK;
}

static enum err_code store(const struct options *o, const struct imported *i, struct client **c,
                           struct import_outcome *out, struct err *e)
{
    /* A store that is named is made if need be, as `run` does. */
    bool is_store = o->store && !o->coordinator;
    if (is_store ? client_open_store(o->store, o, CLIENT_READS, c, e)
                 : client_open(o, CLIENT_READS, c, e))
        return e->code;
    out->command = client_store(*c) ? "run" : "submit";
    client_place(*c, o, &out->place);
    /* A token for adding points alone may not ask. */
    struct err denied = {0};
    if (!client_store(*c) && ask_projects(*c, i->project, out, &denied) &&
        denied.code != ERR_DENIED) {
        *e = denied;
        return e->code;
    }
    for (size_t k = 0; k < i->n; k++)
        if (post_series(*c, i->project, &i->items[k], &out->n_added[k], &out->n_known[k], e))
            return e->code;
    return ERR_OK;
}

static int run(const struct options *o)
{
    AUTO(imported_fini) struct imported i = {0};
    AUTO(client_free) struct client *c = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct import_outcome outcome = {.is_dry_run = o->dry_run, .command = "submit"};
    struct style style = terminal_style(STDOUT_FILENO);
    struct err e = {0};

    if (imported_read(o->words[0], o, &i, &e))
        return fail(o, &e);
    if (!o->dry_run) {
        outcome.n_added = mem_array(i.n, sizeof(*outcome.n_added));
        outcome.n_known = mem_array(i.n, sizeof(*outcome.n_known));
    }
    enum err_code code = o->dry_run ? ERR_OK : store(o, &i, &c, &outcome, &e);
    AUTO(json_free) json *document = code || !o->json ? NULL : import_report_json(&i, &outcome);
    if (!code && !o->json)
        import_report_write(&i, &outcome, &style, &text);
    mem_free(outcome.n_added);
    mem_free(outcome.n_known);
    if (code)
        return fail(o, &e);
    return document ? print_json(document, EXIT_DONE) : print_text(&text, EXIT_DONE);
}

const struct command command_import = {
    .name = "import",
    .words = "FILE",
    .least_words = 1,
    .most_words = 1,
    .summary = "add a time series to the run history, and see where it changes",
    .about = "FILE (- is standard input; gzip and zstd are unpacked) is CSV with a head line, JSON "
             "lines, what Treeherder's performance/data or performance/summary answers, or what a "
             "benchmark wrote. Columns: revision, time, value, and metric, platform, host where it "
             "has several; or a column for each metric. Each point is one run of one revision, and "
             "later bisections of the same project, metric and platform use what of it lies in or "
             "beside their range. A point that is there already is not stored again, and none is "
             "ever removed: --dry-run shows first. Rows that cannot be used are counted by reason. "
             "Changes are looked for by two detectors: change points (E-divisive, .001), and "
             "Perfherder's own t-test, which says whether its sheriffs would see an alert.",
    .example =
        "bisectctl import history.csv --project demo --metric startup\n"
        "bisectctl import data.json --project demo --metric ts --where platform=linux1804-64 \\\n"
        "    --platform linux-x64 --revision-map hg-to-git.tsv\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
