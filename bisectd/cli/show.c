/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl show: where a bisection stands, or what it found. */
#include "cli/client.h"
#include "cli/command.h"
#include "cli/follow.h"

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(verdict_free) struct verdict *v = NULL;
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], NULL, &v, &e))
        return fail(o, &e);
    return print_verdict(o, c, v, NULL);
}

const struct command command_show = {
    .name = "show",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "show a verdict, or where a bisection stands",
    .about = "The first 4 or more characters of an ID are enough. Exit status: 0 culprit, 3 not "
             "reproduced, "
             "4 range or inconclusive, 1 failed, 5 not finished.",
    .example = "bisectctl show 4f3a9c1d\n"
               "bisectctl show 4f3a9c1d --json | jq .culprits\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
