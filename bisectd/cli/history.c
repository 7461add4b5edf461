/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl history: stored samples. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/local.h"
#include "cli/terminal.h"
#include "report/summary.h"
#include "report/table.h"
#include "wire/http.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 1000, HEX_LEAST = 4, HEX_MOST = 40 };

/* clang-format off */
static const struct flag flags[] = {
    {"--project", "NAME", FLAG_TEXT, offsetof(struct options, project), "of this project only", NULL, 0, 0},
    {"--metric", "NAME", FLAG_TEXT, offsetof(struct options, metric), "of this metric only", NULL, 0, 0},
    {"--revision", "HASH", FLAG_TEXT, offsetof(struct options, revision), "of this revision only: 4 or more digits of its hash, or any name the current repository knows", NULL, 0, 0},
    {"--platform", "P", FLAG_TEXT, offsetof(struct options, platform), "of this platform only", NULL, 0, 0},
    {"--limit", "N", FLAG_COUNT, offsetof(struct options, limit), "at most so many (default: 1000)", NULL, 1, 10000000},
    {"--after", "CURSOR", FLAG_TEXT, offsetof(struct options, after), "those after: \"next\" of the --json before", NULL, 0, 0},
    {"--csv", NULL, FLAG_SWITCH, offsetof(struct options, csv), "comma-separated values with a head line", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

static const char *const heads[] = {"REVISION", "METRIC", "VALUE", "RUN", "STATUS", "HOST", "AT", NULL};
/* The table's columns first, by the same names and with the same values; then what it has no room for. */
static const struct {
    const char *name, *key;
} columns[] = {
    {"revision", "revision"}, {"metric", "metric"}, {"value", "value"}, {"run", "number"}, {"status", "status"},
    {"host", "host"}, {"at", "stored"},
    {"project", "project"}, {"platform", "platform"}, {"attempt", "attempt"}, {"seconds", "seconds"},
    {"bisection", "bisection"}, {"task", "task"}, {"seed", "seed"}, {"reason", "reason"},
    {"reverted", "reverted"}, {"fixups", "fixups"},
};
/* clang-format on */

static void add_filter(struct buf *path, const char *name, const char *value)
{
    if (!value)
        return;
    buf_printf(path, "%c%s=", strchr(buf_str(path), '?') ? '&' : '?', name);
    http_escape(path, value);
}

/* Of an imported point it matters when it was measured, and not when it was stored. */
static const json *cell_of(const json *sample, const char *key)
{
    if (strcmp(key, "stored") == 0 && json_is_null(json_at(sample, "bisection")))
        return json_at(sample, "at");
    return strcmp(key, "host") == 0 || strcmp(key, "platform") == 0
               ? json_at(json_at(sample, "environment"), key)
               : json_at(sample, key);
}

static void add_value(struct buf *out, const json *v)
{
    if (json_is_string(v))
        buf_adds(out, json_str(v, ""));
    else if (json_is_number(v))
        buf_printf(out, "%.15g", json_num(v, NAN));
}

/* A field of RFC 4180; a leading sign that a spreadsheet would run as a formula is made text. */
static void add_csv_field(struct buf *out, const json *v)
{
    AUTO(buf_fini) struct buf raw = {0};

    add_value(&raw, v);
    const char *text = buf_str(&raw);
    bool is_formula = json_is_string(v) && text[0] && strchr("=+-@\t", text[0]);
    if (!is_formula && !strpbrk(text, ",\"\r\n")) {
        buf_adds(out, text);
        return;
    }
    buf_adds(out, is_formula ? "\"'" : "\"");
    for (; *text; text++) {
        if (*text == '"')
            buf_addc(out, '"');
        buf_addc(out, *text);
    }
    buf_addc(out, '"');
}

static void write_csv(const json *items, struct buf *out)
{
    for (size_t k = 0; k < LEN(columns); k++)
        buf_printf(out, "%s%s", k ? "," : "", columns[k].name);
    buf_adds(out, "\r\n");
    for (size_t i = 0; i < json_len(items); i++) {
        for (size_t k = 0; k < LEN(columns); k++) {
            buf_adds(out, k ? "," : "");
            add_csv_field(out, cell_of(json_item(items, i), columns[k].key));
        }
        buf_adds(out, "\r\n");
    }
}

static void add_row(struct table *t, const json *sample)
{
    AUTO(buf_fini) struct buf revision = {0};
    AUTO(buf_fini) struct buf value = {0};
    AUTO(buf_fini) struct buf number = {0};

    buf_printf(&value, "%.6g", json_num(json_at(sample, "value"), NAN));
    buf_printf(&number, "%lld", (long long)json_int(json_at(sample, "number"), 0));
    buf_printf(&revision, "%.*s", SHORT_HEX, json_str(json_at(sample, "revision"), ""));
    table_cell(t, buf_str(&revision), 0);
    table_cell(t, json_str(json_at(sample, "metric"), ""), 40);
    table_cell(t, json_is_number(json_at(sample, "value")) ? buf_str(&value) : "-", 0);
    table_cell(t, buf_str(&number), 0);
    table_cell(t, json_str(json_at(sample, "status"), ""), 20);
    table_cell(t, json_str(cell_of(sample, "host"), ""), 40);
    table_cell(t, json_str(cell_of(sample, "stored"), ""), 30);
}

static void write_table(const json *items, struct buf *out)
{
    AUTO(table_free) struct table *t = table_new(heads);
    struct style style = terminal_style(STDOUT_FILENO);

    table_align(t, 2, ALIGN_RIGHT);
    table_align(t, 3, ALIGN_RIGHT);
    for (size_t i = 0; i < json_len(items); i++)
        add_row(t, json_item(items, i));
    if (table_rows(t) == 0)
        buf_adds(out, "No samples. `bisectctl list` shows the bisections there are.\n");
    else
        table_write(t, &style, out);
}

static bool is_part_of_hash(const char *s)
{
    size_t n = strspn(s, "0123456789abcdefABCDEF");

    return s[n] == '\0' && n >= HEX_LEAST && n <= HEX_MOST;
}

/* A part of a hash as it is: the samples' repository may be elsewhere. Else a name known here. */
static enum err_code find_revision(const char *name, struct revision *named, const char **out,
                                   struct err *e)
{
    *out = name;
    if (!name || is_part_of_hash(name))
        return ERR_OK;
    if (local_resolve(".", name, named, e)) {
        err_wrap(e, "--revision");
        return err_hint(e,
                        "Give at least %d digits of its hash, or a name that the current "
                        "repository knows.",
                        HEX_LEAST);
    }
    *out = named->hex;
    return ERR_OK;
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *page = NULL;
    AUTO(buf_fini) struct buf path = {0};
    AUTO(buf_fini) struct buf text = {0};
    struct revision named;
    const char *revision = NULL;
    struct err e = {0};

    if (o->csv && o->json) {
        err_set(&e, ERR_INVALID, "--csv and --json exclude each other");
        return fail_usage(o, &e);
    }
    if (find_revision(o->revision, &named, &revision, &e))
        return fail(o, &e);
    buf_adds(&path, "/samples");
    add_filter(&path, "project", o->project);
    add_filter(&path, "metric", o->metric);
    add_filter(&path, "revision", revision);
    add_filter(&path, "platform", o->platform);
    struct client_query query = {.path = buf_str(&path),
                                 .after = o->after,
                                 .limit = o->limit > 0 ? (size_t)o->limit : LIMIT_DEFAULT};
    if (client_open(o, CLIENT_READS, &c, &e) || client_page(c, &query, &page, &e))
        return fail(o, &e);
    if (o->json)
        return print_json(page, EXIT_DONE);
    const json *items = json_at(page, "items");
    if (o->csv)
        write_csv(items, &text);
    else
        write_table(items, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_history = {
    .name = "history",
    .words = "",
    .summary = "query stored samples",
    .about =
        "Every run that a bisection or comparison took, and every point that was imported, whose "
        "host begins with import: and which belongs to no bisection.",
    .example = "bisectctl history --metric wall --limit 100\n"
               "bisectctl history --project demo --csv > samples.csv\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
