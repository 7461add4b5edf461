/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl log: what was built and measured, and what it printed. */
#include "base/mem.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/local.h"
#include "cli/terminal.h"
#include "report/summary.h"
#include "report/table.h"
#include "wire/http.h"
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct flag flags[] = {
    {"--raw", NULL, FLAG_SWITCH, offsetof(struct options, raw), "logs byte for byte, control characters too", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

static const char *const heads[] = {"TASK", "STATE", "WORKER", "REVISIONS", "RUNS", "OUTCOME", NULL};
/* clang-format on */

enum {
    HEX_LEAST = 4,
    LINE_MOST = 16 * KIB,
    REVISIONS_SHOWN = 3,
    VALUES_SHOWN = 12,
    SHORT_LIVE = 7
};

static enum err_code get_list(struct client *c, const char *id, const char *what, json **out,
                              struct err *e)
{
    AUTO(buf_fini) struct buf path = {0};

    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    buf_printf(&path, "/%s", what);
    return client_list(c, buf_str(&path), 0, out, e);
}

/* The list of all tasks */

static void add_revisions(struct buf *out, const json *spec)
{
    const json *builds = json_at(spec, "builds");
    size_t n = json_len(builds);

    for (size_t i = 0; i < n && i < REVISIONS_SHOWN; i++) {
        const json *build = json_item(builds, i);
        const char *reverted = json_str(json_at(build, "revert"), NULL);
        buf_printf(out, "%s%.*s", i ? " " : "", SHORT_HEX,
                   json_str(json_at(build, "revision"), ""));
        if (reverted)
            buf_printf(out, " without %.*s", SHORT_HEX, reverted);
    }
    if (n > REVISIONS_SHOWN)
        buf_printf(out, " +%zu", n - REVISIONS_SHOWN);
}

/* The first thing that went wrong, or is being done; NULL: it went well. */
static const char *trouble(const json *task)
{
    const json *builds = json_at(task, "builds");

    for (size_t i = 0; i < json_len(builds); i++) {
        const char *reason = json_str(json_at(json_item(builds, i), "reason"), NULL);
        if (reason)
            return reason;
    }
    const char *message = json_str(json_at(task, "message"), NULL);
    return message ? message : json_str(json_at(task, "activity"), NULL);
}

/* What its runs measured, in the order they were taken: 1a2b3c4 12.5 12.6, 5d6e7f8 48.9. */
static void add_values(struct buf *out, const json *task, const json *samples)
{
    const char *id = json_str(json_at(task, "id"), "");
    const char *last = "", *last_reverted = "";
    size_t n = 0;

    for (size_t i = 0; i < json_len(samples); i++) {
        const json *s = json_item(samples, i);
        const char *revision = json_str(json_at(s, "revision"), "");
        const char *reverted = json_str(json_at(s, "reverted"), "");
        const json *value = json_at(s, "value");
        if (strcmp(json_str(json_at(s, "task"), ""), id) != 0)
            continue;
        if (n++ == VALUES_SHOWN) {
            buf_adds(out, " …");
            return;
        }
        if (strcmp(revision, last) != 0 || strcmp(reverted, last_reverted) != 0)
            buf_printf(out, "%s%.*s%s%.*s", n > 1 ? ", " : "", SHORT_LIVE, revision,
                       *reverted ? " without " : "", SHORT_LIVE, reverted);
        last = revision;
        last_reverted = reverted;
        if (json_is_number(value))
            buf_printf(out, " %.4g", json_num(value, 0));
        else
            buf_printf(out, " %s", json_str(json_at(s, "status"), "?"));
    }
}

static void add_task(struct table *t, const json *task, const json *samples)
{
    const json *spec = json_at(task, "spec");
    AUTO(buf_fini) struct buf number = {0};
    AUTO(buf_fini) struct buf runs = {0};
    AUTO(buf_fini) struct buf revisions = {0};
    AUTO(buf_fini) struct buf outcome = {0};

    buf_printf(&number, "%lld", (long long)json_int(json_at(task, "ordinal"), 0));
    buf_printf(&runs, "%zu", json_len(json_at(spec, "runs")));
    add_revisions(&revisions, spec);
    if (json_bool(json_at(spec, "is_verification"), false))
        buf_adds(&outcome, "verification: ");
    if (trouble(task))
        buf_adds(&outcome, trouble(task));
    else
        add_values(&outcome, task, samples);
    table_cell(t, buf_str(&number), 0);
    table_cell(t, json_str(json_at(task, "state"), ""), 20);
    table_cell(t, json_str(json_at(task, "worker"), "-"), 30);
    table_cell(t, buf_str(&revisions), 0);
    table_cell(t, buf_str(&runs), 0);
    table_cell(t, buf_str(&outcome), 120);
}

static int list_tasks(const struct place *place, const char *id, const json *tasks,
                      const json *samples)
{
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf text = {0};
    struct style style = terminal_style(STDOUT_FILENO);

    table_align(t, 0, ALIGN_RIGHT);
    table_align(t, 4, ALIGN_RIGHT);
    for (size_t i = 0; i < json_len(tasks); i++)
        add_task(t, json_item(tasks, i), samples);
    if (table_rows(t) == 0) {
        buf_adds(&text, "No tasks yet.\n");
        return print_text(&text, EXIT_DONE);
    }
    table_write(t, &style, &text);
    buf_adds(&text, "\nWhat the commands of a revision printed: bisectctl log ");
    text_shell(&text, id);
    buf_adds(&text, " REVISION");
    place_add(place, &text);
    buf_addc(&text, '\n');
    return print_text(&text, EXIT_DONE);
}

/* The logs of one revision */

static bool is_hex(const char *s)
{
    size_t n = strspn(s, "0123456789abcdefABCDEF");

    return s[n] == '\0' && n >= HEX_LEAST && n <= 40;
}

static bool is_about(const json *task, const char *prefix)
{
    const json *builds = json_at(json_at(task, "spec"), "builds");

    for (size_t i = 0; i < json_len(builds); i++) {
        const char *revision = json_str(json_at(json_item(builds, i), "revision"), "");
        if (strncasecmp(revision, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}

static bool any_about(const json *tasks, const char *prefix)
{
    for (size_t i = 0; i < json_len(tasks); i++)
        if (is_about(json_item(tasks, i), prefix))
            return true;
    return false;
}

/* A hash of a task, or any name that the current repository knows. */
static enum err_code find_prefix(const json *tasks, const char *name, struct buf *out,
                                 struct err *e)
{
    struct revision revision;
    struct err quiet = {0};

    if (is_hex(name) && any_about(tasks, name)) {
        buf_adds(out, name);
        return ERR_OK;
    }
    if (local_resolve(".", name, &revision, &quiet) == ERR_OK && any_about(tasks, revision.hex)) {
        buf_adds(out, revision.hex);
        return ERR_OK;
    }
    err_set(e, ERR_NOT_FOUND, "this bisection built nothing of %s", name);
    return err_hint(e, "`bisectctl log ID` lists the revisions it did build.");
}

/* A log is hostile text too: line by line, with tabs kept as blanks. */
static void add_log(struct buf *out, const struct buf *log, bool is_raw)
{
    const char *at = buf_str(log);
    const char *end = at + log->len;

    if (is_raw) {
        buf_add(out, at, log->len);
        return;
    }
    while (at < end) {
        const char *cut = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((cut ? cut : end) - at);
        AUTO(mem_free) char *line = mem_dup_n(at, n);
        for (size_t i = 0; i < n; i++)
            if (line[i] == '\t')
                line[i] = ' ';
        n -= n > 0 && line[n - 1] == '\r';
        text_clean(out, line, n, LINE_MOST);
        buf_addc(out, '\n');
        at += (size_t)((cut ? cut : end) - at) + (cut != NULL);
    }
}

static enum err_code get_log(struct client *c, const json *task, struct buf *out, struct err *e)
{
    AUTO(buf_fini) struct buf path = {0};

    buf_adds(&path, "/tasks/");
    http_escape(&path, json_str(json_at(task, "id"), ""));
    buf_adds(&path, "/log");
    return client_get_text(c, buf_str(&path), out, e);
}

static enum err_code add_task_log(const struct options *o, struct client *c, const json *task,
                                  struct buf *text, json *items, struct err *e)
{
    AUTO(buf_fini) struct buf log = {0};
    AUTO(buf_fini) struct buf clean = {0};
    long long ordinal = (long long)json_int(json_at(task, "ordinal"), 0);
    bool has_log = json_bool(json_at(task, "has_log"), false);

    if (has_log && get_log(c, task, &log, e))
        return e->code;
    add_log(&clean, &log, o->raw || o->json);
    if (!o->json) {
        buf_printf(text, "==> task %lld, ", ordinal);
        style_hostile(text, json_str(json_at(task, "state"), ""), 20);
        buf_printf(text, "%s\n", has_log ? "" : ", no log yet");
        buf_add(text, buf_str(&clean), clean.len);
        return ERR_OK;
    }
    json *item = json_new_object();
    json_put(item, "task", json_keep(json_at(task, "id")));
    json_put(item, "ordinal", json_new_int(ordinal));
    json_put(item, "log", has_log ? json_new_string(buf_str(&clean)) : json_new_null());
    json_push(items, item);
    return ERR_OK;
}

static int print_logs(const struct options *o, struct client *c, const json *tasks)
{
    AUTO(json_free) json *items = json_new_array();
    AUTO(buf_fini) struct buf prefix = {0};
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (find_prefix(tasks, o->words[1], &prefix, &e))
        return fail_usage(o, &e);
    for (size_t i = 0; i < json_len(tasks); i++) {
        const json *task = json_item(tasks, i);
        if (is_about(task, buf_str(&prefix)) && add_task_log(o, c, task, &text, items, &e))
            return fail(o, &e);
    }
    if (!o->json)
        return print_text(&text, EXIT_DONE);
    AUTO(json_free) json *document = json_put(json_new_object(), "items", json_keep(items));
    return print_json(json_put(document, "next", json_new_null()), EXIT_DONE);
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *tasks = NULL;
    AUTO(json_free) json *samples = NULL;
    AUTO(mem_free) char *id = NULL;
    struct place place = {0};
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], &id, NULL, &e) ||
        get_list(c, id, "tasks", &tasks, &e))
        return fail(o, &e);
    if (o->n_words > 1)
        return print_logs(o, c, tasks);
    if (o->json) {
        AUTO(json_free) json *document = json_put(json_new_object(), "items", json_keep(tasks));
        return print_json(json_put(document, "next", json_new_null()), EXIT_DONE);
    }
    if (get_list(c, id, "samples", &samples, &e))
        return fail(o, &e);
    client_place(c, o, &place);
    return list_tasks(&place, id, tasks, samples);
}

const struct command command_log = {
    .name = "log",
    .words = "ID [REV]",
    .least_words = 1,
    .most_words = 2,
    .summary = "list tasks, or print what a revision's commands printed",
    .about = "REV is a part of a hash that was built, or any name the current repository knows.",
    .example = "bisectctl log 4f3a9c1d\n"
               "bisectctl log 4f3a9c1d 1a2b3c4d5e\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
