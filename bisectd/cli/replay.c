/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl replay: does the evidence give the same decisions and the same verdict again? */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "report/style.h"
#include "wire/http.h"

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROWS_WHERE,
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

enum { DIFFERENCES_MOST = 20, DIFFERENCE_BYTES = 400 };

static void write_differences(const json *list, struct buf *out)
{
    size_t n = json_len(list);

    buf_printf(out, "differs in %zu point%s:\n", n, n == 1 ? "" : "s");
    for (size_t i = 0; i < n && i < DIFFERENCES_MOST; i++) {
        buf_adds(out, "  ");
        style_hostile(out, json_str(json_item(list, i), "?"), DIFFERENCE_BYTES);
        buf_addc(out, '\n');
    }
    if (n > DIFFERENCES_MOST)
        buf_printf(out, "  and %zu more (--json has all)\n", n - DIFFERENCES_MOST);
    buf_adds(out, "Samples or decisions in this store were changed, or made by another version.\n");
}

static void write_replay(const json *answer, bool matches, struct buf *out)
{
    size_t n = json_len(json_at(answer, "decisions"));

    if (!matches) {
        write_differences(json_at(answer, "differences"), out);
        return;
    }
    buf_printf(out,
               "matches: %zu decision%s out of the stored samples, all the same, and the same "
               "verdict: ",
               n, n == 1 ? "" : "s");
    style_hostile(out, json_str(json_at(json_at(answer, "verdict"), "verdict"), "none yet"), 40);
    buf_addc(out, '\n');
}

static int run(const struct options *o)
{
    AUTO(client_free) struct client *c = NULL;
    AUTO(json_free) json *answer = NULL;
    AUTO(mem_free) char *id = NULL;
    AUTO(buf_fini) struct buf path = {0};
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], &id, NULL, &e))
        return fail(o, &e);
    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    buf_adds(&path, "/replay");
    if (client_get(c, buf_str(&path), &answer, &e))
        return fail(o, &e);
    bool matches = json_bool(json_at(answer, "matches"), false);
    if (o->json)
        return print_json(answer, matches ? EXIT_DONE : EXIT_FAILED);
    write_replay(answer, matches, &text);
    return print_text(&text, matches ? EXIT_DONE : EXIT_FAILED);
}

const struct command command_replay = {
    .name = "replay",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "decide everything again from the samples, and compare",
    .about = "Nothing is built or measured. Exit status: 0 the same decisions and verdict, 1 a "
             "difference; each is listed.",
    .example = "bisectctl replay 4f3a9c1d\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
