/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl completion: the command and flag tables as a shell function. */
#include "cli/command.h"
#include <string.h>

/* clang-format off */
static const struct flag flags[] = {
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static const char *const shells[] = {"bash", "zsh"};

static void write_case(const struct command *c, struct buf *out)
{
    buf_printf(out, "        \"%s\") words=\"", c->name);
    for (size_t i = 0; i < c->n_flags; i++)
        buf_printf(out, "%s%s", i ? " " : "", c->flags[i].name);
    buf_adds(out, "\" ;;\n");
}

/** The second words of commands of two, where only the first is there. */
static void write_second_words(struct buf *out)
{
    for (size_t i = 0; i < n_commands; i++) {
        size_t n = strcspn(commands[i]->name, " ");
        if (commands[i]->name[n])
            buf_printf(out,
                       "    [ \"$COMP_CWORD $command\" = \"2 %.*s\" ] && words=\"$words %s\"\n",
                       (int)n, commands[i]->name, commands[i]->name + n + 1);
    }
}

static void write_values(struct buf *out)
{
    buf_adds(out, "    case \"$before\" in\n"
                  "        --project|--token-file|--config|--repo|--store)\n"
                  "            COMPREPLY=($(compgen -f -- \"$now\")); return ;;\n"
                  "        --good|--bad|--base|--head)\n"
                  "            COMPREPLY=($(compgen -W \"$(git for-each-ref "
                  "--format='%(refname:short)' refs/heads refs/tags 2>/dev/null)\" -- \"$now\")); "
                  "return ;;\n"
                  "    esac\n");
}

static void write_script(const char *shell, struct buf *out)
{
    if (strcmp(shell, "zsh") == 0)
        buf_adds(out, "autoload -Uz bashcompinit && bashcompinit\n");
    buf_adds(out, "_bisectctl() {\n"
                  "    local now=\"${COMP_WORDS[COMP_CWORD]}\" "
                  "before=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"${COMP_WORDS[1]}\" words=\n");
    for (size_t i = 0; i < n_commands; i++)
        if (strchr(commands[i]->name, ' '))
            buf_printf(out, "    [ \"$command ${COMP_WORDS[2]}\" = \"%s\" ] && command=\"%s\"\n",
                       commands[i]->name, commands[i]->name);
    write_values(out);
    buf_adds(out, "    case \"$command\" in\n");
    for (size_t i = 0; i < n_commands; i++)
        write_case(commands[i], out);
    buf_adds(out, "    esac\n");
    write_second_words(out);
    buf_adds(out, "    if [ \"$COMP_CWORD\" = 1 ]; then words=\"");
    for (size_t i = 0; i < n_commands; i++)
        buf_printf(out, "%.*s ", (int)strcspn(commands[i]->name, " "), commands[i]->name);
    buf_adds(out, "help\"; fi\n"
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$now\"))\n"
                  "}\n"
                  "complete -o default -F _bisectctl bisectctl\n");
}

static int run(const struct options *o)
{
    AUTO(buf_fini) struct buf text = {0};
    struct err e = {0};
    const char *shell = o->n_words ? o->words[0] : "bash";

    for (size_t i = 0; i < LEN(shells); i++) {
        if (strcmp(shell, shells[i]) != 0)
            continue;
        write_script(shell, &text);
        if (!o->json)
            return print_text(&text, EXIT_DONE);
        AUTO(json_free) json *document = json_new_object();
        json_put(document, "shell", json_new_string(shell));
        json_put(document, "script", json_new_string(buf_str(&text)));
        return print_json(document, EXIT_DONE);
    }
    err_set(&e, ERR_INVALID, "no completion for %s", shell);
    err_hint(&e, "There is one for bash and one for zsh.");
    return fail_usage(o, &e);
}

const struct command command_completion = {
    .name = "completion",
    .words = "[bash|zsh]",
    .least_words = 0,
    .most_words = 1,
    .summary = "print a completion script for your shell",
    .example = "eval \"$(bisectctl completion bash)\"\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
