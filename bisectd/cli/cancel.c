/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl cancel: stops a bisection for good. */
#include "base/mem.h"
#include "cli/client.h"
#include "cli/command.h"
#include "wire/http.h"

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
    AUTO(json_free) json *answer = NULL;
    AUTO(mem_free) char *id = NULL;
    AUTO(buf_fini) struct buf path = {0};
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    if (client_open(o, CLIENT_READS, &c, &e) || client_bisection(c, o->words[0], &id, &v, &e))
        return fail(o, &e);
    if (v->state == BISECTION_DONE) {
        err_set(&e, ERR_CONFLICT, "bisection %s is finished: nothing to cancel", id);
        err_hint(&e, "`bisectctl show %s` prints its verdict.", id);
        return fail_usage(o, &e);
    }
    buf_adds(&path, "/bisections/");
    http_escape(&path, id);
    buf_adds(&path, "/cancel");
    if (client_post(c, buf_str(&path), NULL, &answer, &e))
        return fail(o, &e);
    if (o->json)
        return print_json(answer, EXIT_DONE);
    buf_printf(&text, "canceled bisection %s; its builds and samples are kept\n", id);
    return print_text(&text, EXIT_DONE);
}

const struct command command_cancel = {
    .name = "cancel",
    .words = "ID",
    .least_words = 1,
    .most_words = 1,
    .summary = "stop a bisection for good; what it measured is kept",
    .example = "bisectctl cancel 4f3a9c1d\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
