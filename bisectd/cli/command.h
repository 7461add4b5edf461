/* SPDX-License-Identifier: Apache-2.0 */
/** What bisectctl can do: one row a command, one file a row. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/err.h"
#include "cli/flag.h"

/** What a calling program is told; `run`, `watch` and `show` also give those of a verdict. */
enum exit_status {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* a fault of ours: port, disk, peer */
    EXIT_USAGE = 2,
    EXIT_NOT_FINISHED = 5,
    EXIT_CHANGED = 6, /* of compare --fail-on */
    EXIT_INTERRUPTED = 130
};

struct command {
    const char *name;  /* "run", "config check" */
    const char *words; /* what help calls them: "ID [REV]"; "" for none */
    size_t least_words, most_words;
    const char *summary; /* one line of the list of commands */
    const char *about;   /* a paragraph or two; NULL: the summary says it all */
    const char *example; /* whole command lines, each with a newline */
    const struct flag *flags;
    size_t n_flags;
    /** Prints, and returns an exit status. Words are within bounds. */
    int (*run)(const struct options *o);
};

extern const struct command *const commands[]; /* in the order help prints them */
extern const size_t n_commands;

extern const struct command command_compare, command_calibration, command_doctor;
extern const struct command command_syscalls_diff, command_import;
extern const struct command command_slowsql_map, command_slowsql_combine, command_slowsql_reduce,
    command_slowsql_report, command_slowsql_compare;
extern const struct command command_run, command_submit, command_list, command_show, command_watch,
    command_log, command_cancel, command_explain, command_plan, command_simulate, command_history,
    command_config_check, command_replay, command_export, command_completion;

/** The command that argv[0] (and argv[1]) name, or NULL; *n_used: how many words that took. */
const struct command *command_find(int argc, const char *const *argv, int *n_used);
/** All of `bisectctl COMMAND --help`. */
void command_help(const struct command *c, struct buf *out);
/** The whole program. `argv` without the program's name. */
int cli_main(int argc, const char *const *argv);

/* clang-format off */
/* Rows that several tables share. */
#define FLAG_ROW_HELP {"--help", NULL, FLAG_SWITCH, offsetof(struct options, help), "this text", NULL, 0, 0}
#define FLAG_ROW_JSON {"--json", NULL, FLAG_SWITCH, offsetof(struct options, json), "one JSON document on stdout, and nothing else there", NULL, 0, 0}
#define FLAG_ROWS_WHERE \
    {"--store", "DIR", FLAG_TEXT, offsetof(struct options, store), "the store of an earlier run (default: the current repository's, if it has one)", NULL, 0, 0}, \
    {"--coordinator", "URL", FLAG_TEXT, offsetof(struct options, coordinator), "the service: http://HOST:PORT, https://… or unix:PATH (default: $BISECTD_URL)", NULL, 0, 0}, \
    {"--token-file", "FILE", FLAG_TEXT, offsetof(struct options, token_file), "file with the access token (default: $BISECTD_TOKEN_FILE)", NULL, 0, 0}, \
    {"--config", "FILE", FLAG_TEXT, offsetof(struct options, config), "bisectd's configuration, to find the service by", NULL, 0, 0}
/* clang-format on */

/* Ends of a command. */
/** One line and a next step on stderr; with --json also {"error":{…}} on stdout. Returns the exit
 *  status: usage for ERR_INVALID and ERR_NOT_FOUND, failed for the rest. */
int fail(const struct options *o, const struct err *e);
/** The same for what is always the caller's mistake. */
int fail_usage(const struct options *o, const struct err *e);
/** A JSON document on stdout, with a newline. */
int print_json(const json *v, int exit_status);
/** Text on stdout. A reader that has gone is no fault; any other failure of stdout is. */
int print_text(const struct buf *text, int exit_status);

#endif
