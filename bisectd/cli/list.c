/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl list: the newest bisections. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "commits/home.h"
#include "report/table.h"
#include <string.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 20 };

/* clang-format off */
static const struct flag flags[] = {
    {"--limit", "N", FLAG_COUNT, offsetof(struct options, limit), "at most so many, newest first (default: 20)", NULL, 1, 100000},
    {"--after", "ID", FLAG_TEXT, offsetof(struct options, after), "those older than this one: \"next\" of the --json before", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};

static const char *const heads[] = {"ID", "CREATED", "STATE", "VERDICT", "PROJECT", "METRIC", "PLATFORM", NULL};
static const char *const keys[]  = {"id", "created", "state", "verdict", "project", "metric", "platform"};
/* clang-format on */

static void add_row(struct table *t, const json *item)
{
    for (size_t i = 0; i < LEN(keys); i++) {
        AUTO(buf_fini) struct buf cell = {0};
        const char *text = json_str(json_at(item, keys[i]), "-");
        /* "2026-11-30T09:35:00.123Z" to the minute. */
        bool is_time = strcmp(keys[i], "created") == 0 && strlen(text) > 16;
        buf_add(&cell, text, is_time ? 16 : strlen(text));
        if (is_time)
            cell.data[10] = ' ';
        table_cell(t, buf_str(&cell), 60);
    }
}

/* A repository nobody has bisected in yet, and no service either: no fault of whoever asks. */
static bool is_untouched(const struct client *c, const struct err *e)
{
    AUTO(mem_free) char *home = NULL;

    return e->code == ERR_PEER && e->sys == 0 && client_is_default(c) &&
           home_of(".", &home, NULL) == ERR_OK;
}

static int print_none(const struct options *o, const struct client *c)
{
    AUTO(buf_fini) struct buf text = {0};

    if (o->json) {
        AUTO(json_free) json *page = json_put(json_new_object(), "items", json_new_array());
        return print_json(json_put(page, "next", json_new_null()), EXIT_DONE);
    }
    buf_adds(&text, "No bisections here yet");
    if (c)
        buf_printf(&text, ": this repository has no store, and no bisectd answers at %s",
                   client_base(c));
    buf_adds(&text, ".\n`bisectctl run --help` shows how to start one.\n");
    return print_text(&text, EXIT_DONE);
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *page = NULL;
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf text = {0};
    struct style style = terminal_style(STDOUT_FILENO);
    struct client_query query = {.path = "/bisections",
                                 .after = o->after,
                                 .limit = o->limit > 0 ? (size_t)o->limit : LIMIT_DEFAULT};
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e))
        return fail(o, &e);
    if (client_page(c, &query, &page, &e))
        return is_untouched(c, &e) ? print_none(o, c) : fail(o, &e);
    if (o->json)
        return print_json(page, EXIT_DONE);
    const json *items = json_at(page, "items");
    if (json_len(items) == 0)
        return print_none(o, NULL);
    for (size_t i = 0; i < json_len(items); i++)
        add_row(t, json_item(items, i));
    table_write(t, &style, &text);
    return print_text(&text, EXIT_DONE);
}

const struct command command_list = {
    .name = "list",
    .words = "",
    .summary = "list bisections, newest first",
    .example = "bisectctl list --limit 5\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
