/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl list: the newest bisections. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/table.h"
#include <string.h>
#include <unistd.h>

enum { LIMIT_DEFAULT = 20 };

/* clang-format off */
static const struct flag flags[] = {
    {"--limit", "N", FLAG_COUNT, offsetof(struct options, limit), "at most so many, newest first (default: 20)", NULL, 1, 100000},
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

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *items = NULL;
    AUTO(table_free) struct table *t = table_new(heads);
    AUTO(buf_fini) struct buf text = {0};
    struct style style = terminal_style(STDOUT_FILENO);
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) ||
        client_list(c, "/bisections", o->limit > 0 ? (size_t)o->limit : LIMIT_DEFAULT, &items, &e))
        return fail(o, &e);
    if (o->json) {
        AUTO(json_free) json *document = json_put(json_new_object(), "items", json_keep(items));
        return print_json(document, EXIT_DONE);
    }
    for (size_t i = 0; i < json_len(items); i++)
        add_row(t, json_item(items, i));
    if (table_rows(t) == 0)
        buf_adds(&text, "No bisections yet. `bisectctl run --help` shows how to start one.\n");
    else
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
