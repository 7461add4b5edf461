/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl watch: follows a bisection to its verdict. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/follow.h"
#include "cli/terminal.h"

/* clang-format off */
static const struct flag flags[] = {
    {"--workers", "N", FLAG_COUNT, offsetof(struct options, workers), "with a store that nobody works on: so many workers go on with it (default: 1)", NULL, 1, 64},
    {"--platform", "P", FLAG_TEXT, offsetof(struct options, platform), "what those workers call their platform (default: this machine's)", NULL, 0, 0},
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static const char *how_to_go_on(const struct client *c)
{
    return c && client_store(c) ? "The same command goes on from there."
                                : "The service works on; the same command watches it again.";
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;
    AUTO(mem_free) char *id = NULL;
    struct err e = {0};

    interrupt_watch();
    enum err_code code = client_open(o, CLIENT_WORKS, &c, &e);
    if (code == ERR_OK)
        code = client_bisection(c, o->words[0], &id, NULL, &e);
    if (code == ERR_OK)
        code = follow(c, id, &v, &e);
    if (interrupt_seen())
        return print_interrupted(o, v, how_to_go_on(c));
    if (code)
        return fail(o, &e);
    return print_verdict(o, c, v, NULL);
}

const struct command command_watch = {
    .name = "watch",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "follow a bisection to its verdict",
    .about = "Exit status as of show. With a store, an unfinished bisection goes on while it is "
             "watched.",
    .example = "bisectctl watch 4f3a9c1d\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
