/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl config check: is a configuration or project file right? */
#include "cli/command.h"
#include "config/config.h"
#include "report/style.h"

/* clang-format off */
static const struct flag flags[] = {
    {"--defaults", NULL, FLAG_SWITCH, offsetof(struct options, defaults), "print every key with its default, limits and meaning", NULL, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static int print_defaults(const struct options *o)
{
    AUTO(buf_fini) struct buf text = {0};

    if (o->json) {
        AUTO(json_free) json *document = config_defaults_json();
        return print_json(document, EXIT_DONE);
    }
    config_defaults_text(&text);
    return print_text(&text, EXIT_DONE);
}

static int run(const struct options *o)
{
    AUTO(buf_fini) struct buf text = {0};
    const char *what = NULL;
    struct err e = {0};

    if (o->n_words == 0 && !o->defaults) {
        err_set(&e, ERR_INVALID, "config check needs FILE");
        err_hint(&e, "Or --defaults, which prints every key there is.");
        return fail_usage(o, &e);
    }
    if (o->n_words == 0)
        return print_defaults(o);
    if (config_check_file(o->words[0], &what, &e))
        return fail_usage(o, &e);
    if (o->defaults)
        return print_defaults(o);
    if (o->json) {
        AUTO(json_free) json *document = json_new_object();
        json_put(document, "ok", json_new_bool(true));
        json_put(document, "file", json_new_string(o->words[0]));
        json_put(document, "what", json_new_string(what));
        return print_json(document, EXIT_DONE);
    }
    style_hostile(&text, o->words[0], 1000);
    buf_printf(&text, ": a correct %s\n", what);
    return print_text(&text, EXIT_DONE);
}

const struct command command_config_check = {
    .name = "config check",
    .words = "[FILE]",
    .least_words = 0,
    .most_words = 1,
    .summary = "check a configuration or project file",
    .about = "Errors name file, line, column and what was expected. --defaults prints every key of "
             "both kinds of file, every limit among them.",
    .example = "bisectctl config check demo.yml\n"
               "bisectctl config check --defaults\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
