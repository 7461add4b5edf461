/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/terminal.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
const struct command *const commands[] = {
    &command_run,
    &command_compare,
    &command_plan,
    &command_simulate,
    &command_submit,
    &command_list,
    &command_show,
    &command_watch,
    &command_log,
    &command_cancel,
    &command_explain,
    &command_history,
    &command_syscalls_diff,
    &command_import,
    &command_replay,
    &command_export,
    &command_calibration,
    &command_doctor,
    &command_slowsql_report,
    &command_slowsql_compare,
    &command_slowsql_map,
    &command_slowsql_combine,
    &command_slowsql_reduce,
    &command_config_check,
    &command_completion,
};
/* clang-format on */
const size_t n_commands = LEN(commands);

enum { NAME_COLUMNS = 17, NAMES_MOST = 32 };

const struct command *command_find(int argc, const char *const *argv, int *n_used)
{
    for (size_t i = 0; i < n_commands; i++) {
        const char *name = commands[i]->name;
        size_t n = strcspn(name, " ");
        bool is_first = strncmp(argv[0], name, n) == 0 && argv[0][n] == '\0';
        if (is_first && name[n] == '\0') {
            *n_used = 1;
            return commands[i];
        }
        if (is_first && argc > 1 && strcmp(argv[1], name + n + 1) == 0) {
            *n_used = 2;
            return commands[i];
        }
    }
    return NULL;
}

void command_help(const struct command *c, struct buf *out)
{
    struct style plain = {0};

    buf_printf(out, "bisectctl %s%s%s: %s\n\n", c->name, c->words[0] ? " " : "", c->words,
               c->summary);
    if (c->about) {
        style_paragraph(out, &plain, 0, c->about);
        buf_addc(out, '\n');
    }
    buf_adds(out, "Flags:\n");
    flags_help(c->flags, c->n_flags, out);
    buf_adds(out, "\nExample:\n");
    for (const char *at = c->example; *at;) {
        size_t n = strcspn(at, "\n");
        buf_printf(out, "  %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void list_commands(struct buf *out)
{
    buf_adds(out, "bisectctl: finds the commit that changed a measurement.\n\n"
                  "Usage: bisectctl COMMAND [FLAGS]\n\nCommands:\n");
    for (size_t i = 0; i < n_commands; i++)
        buf_printf(out, "  %-*s%s\n", NAME_COLUMNS, commands[i]->name, commands[i]->summary);
    buf_adds(out, "\nbisectctl COMMAND --help tells more, with an example. To start:\n\n");
    for (const char *at = command_run.example; *at;) {
        size_t n = strcspn(at, "\n");
        buf_printf(out, "  %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

/* "did you mean …" begins a sentence here; the name of a program stays as it is. */
static bool is_sentence(const char *text)
{
    static const char *const programs[] = {"bisect", "git ", "http"};

    for (size_t i = 0; i < LEN(programs); i++)
        if (strncmp(text, programs[i], strlen(programs[i])) == 0)
            return false;
    return text[0] >= 'a' && text[0] <= 'z';
}

static void print_error(const struct err *e)
{
    AUTO(buf_fini) struct buf text = {0};

    buf_adds(&text, "bisectctl: ");
    style_hostile(&text, e->text, sizeof(e->text));
    buf_addc(&text, '\n');
    if (e->hint[0]) {
        buf_adds(&text, "  ");
        size_t start = text.len;
        style_hostile(&text, e->hint, sizeof(e->hint));
        if (is_sentence(e->hint))
            text.data[start] = (char)(e->hint[0] - 'a' + 'A');
        buf_addc(&text, '\n');
    }
    (void)terminal_write(STDERR_FILENO, &text, NULL);
}

static int fail_with(const struct options *o, const struct err *e, int exit_status)
{
    print_error(e);
    if (!o->json)
        return exit_status;
    json *body = json_new_object();
    json_put(body, "code", json_new_string(err_name(e->code)));
    json_put(body, "message", json_new_string(e->text));
    json_put(body, "hint", e->hint[0] ? json_new_string(e->hint) : json_new_null());
    AUTO(json_free) json *document = json_put(json_new_object(), "error", body);
    return print_json(document, exit_status);
}

int fail(const struct options *o, const struct err *e)
{
    bool is_usage = e->code == ERR_INVALID || e->code == ERR_NOT_FOUND;

    return fail_with(o, e, is_usage ? EXIT_USAGE : EXIT_FAILED);
}

int fail_usage(const struct options *o, const struct err *e)
{
    return fail_with(o, e, EXIT_USAGE);
}

int print_text(const struct buf *text, int exit_status)
{
    struct err e = {0};

    if (terminal_write(STDOUT_FILENO, text, &e)) {
        print_error(&e);
        return EXIT_FAILED;
    }
    return exit_status;
}

int print_json(const json *v, int exit_status)
{
    AUTO(buf_fini) struct buf text = {0};

    json_dump(v, JSON_PRETTY, &text);
    if (text.len == 0 || text.data[text.len - 1] != '\n')
        buf_addc(&text, '\n');
    return print_text(&text, exit_status);
}

/** Whether `name` is "GROUP WORD". */
static bool is_in_group(const char *name, const char *group)
{
    size_t n = strlen(group);

    return n > 0 && strncmp(name, group, n) == 0 && name[n] == ' ';
}

/** The commands that begin with this word; false if there are none. */
static bool list_group(const char *group, struct buf *out)
{
    bool is_one = false;

    for (size_t i = 0; i < n_commands; i++) {
        if (!is_in_group(commands[i]->name, group))
            continue;
        if (!is_one)
            buf_printf(out, "Usage: bisectctl %s COMMAND [FLAGS]\n\nCommands:\n", group);
        buf_printf(out, "  %-*s%s\n", NAME_COLUMNS, commands[i]->name, commands[i]->summary);
        is_one = true;
    }
    if (is_one)
        buf_printf(out, "\nbisectctl %s COMMAND --help tells more, with an example.\n", group);
    return is_one;
}

static int unknown_command(int argc, const char *const *argv)
{
    const char *names[NAMES_MOST];
    struct err e = {0};
    AUTO(buf_fini) struct buf both = {0};

    for (size_t i = 0; i < n_commands; i++)
        names[i] = commands[i]->name;
    buf_adds(&both, argv[0]);
    if (argc > 1 && argv[1][0] != '-')
        buf_printf(&both, " %s", argv[1]);
    err_set(&e, ERR_INVALID, "unknown %s %s", argv[0][0] == '-' ? "flag" : "command", argv[0]);
    const char *near = text_nearest(argv[0], names, n_commands);
    if (!near)
        near = text_nearest(buf_str(&both), names, n_commands);
    for (size_t i = 0; !near && i < n_commands; i++)
        if (strncmp(names[i], argv[0], strlen(argv[0])) == 0)
            near = names[i];
    if (near)
        err_hint(&e, "Did you mean bisectctl %s?", near);
    else
        err_hint(&e, "bisectctl --help lists the commands.");
    return fail_usage(&(struct options){0}, &e);
}

static int check_words(const struct command *c, const struct options *o)
{
    struct err e = {0};

    if (o->n_words < c->least_words)
        err_set(&e, ERR_INVALID, "%s needs %s", c->name, c->words);
    else if (o->n_words > c->most_words)
        err_set(&e, ERR_INVALID, "%s does not take \"%s\"", c->name, o->words[c->most_words]);
    if (!e.code)
        return EXIT_DONE;
    err_hint(&e, "bisectctl %s --help shows an example.", c->name);
    return fail_usage(o, &e);
}

/* A mistake in the flags may come before --json was read; who asked for JSON still gets it. */
static bool wants_json(int argc, const char *const *argv)
{
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static int run_command(const struct command *c, int argc, const char *const *argv)
{
    AUTO(options_fini) struct options o;
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};

    options_init(&o);
    enum err_code code = flags_parse(c->flags, c->n_flags, argc, argv, &o, &e);
    if (o.help) {
        command_help(c, &text);
        return print_text(&text, EXIT_DONE);
    }
    if (code) {
        o.json = wants_json(argc, argv);
        if (!e.hint[0])
            err_hint(&e, "bisectctl %s --help lists the flags.", c->name);
        return fail_usage(&o, &e);
    }
    int words = check_words(c, &o);
    return words == EXIT_DONE ? c->run(&o) : words;
}

static bool is_one_of(const char *s, const char *a, const char *b, const char *c)
{
    return strcmp(s, a) == 0 || strcmp(s, b) == 0 || strcmp(s, c) == 0;
}

int cli_main(int argc, const char *const *argv)
{
    AUTO(buf_fini) struct buf text = {0};
    int n_used = 0;

    signal(SIGPIPE, SIG_IGN);
    if (argc == 0) {
        list_commands(&text);
        (void)terminal_write(STDERR_FILENO, &text, NULL);
        return EXIT_USAGE;
    }
    if (is_one_of(argv[0], "--version", "-V", "version")) {
        buf_adds(&text, "bisectctl " BISECTD_VERSION "\n");
        return print_text(&text, EXIT_DONE);
    }
    bool is_help = is_one_of(argv[0], "--help", "-h", "help");
    if (is_help && argc == 1) {
        list_commands(&text);
        return print_text(&text, EXIT_DONE);
    }
    argc -= is_help;
    argv += is_help;
    const struct command *c = command_find(argc, argv, &n_used);
    bool asks_for_group = argc > 1 && is_one_of(argv[1], "--help", "-h", "help");
    if (!c && (argc == 1 || asks_for_group) && list_group(argv[0], &text)) {
        if (is_help || asks_for_group)
            return print_text(&text, EXIT_DONE);
        (void)terminal_write(STDERR_FILENO, &text, NULL);
        return EXIT_USAGE;
    }
    if (!c)
        return unknown_command(argc, argv);
    if (is_help) {
        command_help(c, &text);
        return print_text(&text, EXIT_DONE);
    }
    return run_command(c, argc - n_used, argv + n_used);
}
