/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl explain: what changed between a culprit and its parent. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "report/explanation.h"
#include <unistd.h>

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
    AUTO(json_free) json *document = NULL;
    AUTO(explanation_free) struct explanation *v = NULL;
    AUTO(mem_free) char *id = NULL;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], &id, NULL, &e) ||
        client_explanation(c, id, &document, &e) || explanation_from_json(document, &v, &e))
        return fail(o, &e);
    int status = v->error ? EXIT_FAILED : EXIT_DONE;
    if (o->json)
        return print_json(document, status);
    struct style style = terminal_style(STDOUT_FILENO);
    explanation_write(v, EXPLANATION_LONG, &style, &text);
    return print_text(&text, status);
}

const struct command command_explain = {
    .name = "explain",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "show what changed between the culprit and its parent",
    .about =
        "After a culprit, a worker runs it and its parent in turn: untraced, with all system "
        "calls counted, and with those that differ timed. Shown are the calls and files that "
        "differ, the largest first, and what part of the metric's change each accounts for; "
        "then what the kernel's books say, and where perf works the functions that it is busier "
        "in. Times are less what tracing adds; calls that overlap in several threads or "
        "processes share the time in which they do, calls that wait for somebody outside get at "
        "most what is left, and those that wait for their own children or threads nothing, so "
        "that no explanation passes 100 %. What is not explained is said. Exit status: 0, 1 if "
        "the two could not be traced, 2 if there is no explanation.",
    .example = "bisectctl explain 4f3a9c1d\n"
               "bisectctl explain 4f3a9c1d --json | jq '.explained, .differences[0]'\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
