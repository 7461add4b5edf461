/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Flags: one table a command, which parsing loops over and --help prints.
 *
 * `--flag VALUE` and `--flag=VALUE` are the same; `--` ends the flags; the last of a repeated flag
 * counts, except for lists.
 */
#ifndef CLI_FLAG_H
#define CLI_FLAG_H

#include "base/buf.h"
#include "base/err.h"
#include "model/project.h"
#include <stdbool.h>
#include <stdint.h>

enum { OPTIONS_WORDS = 4096 };

/** What a command line said. Strings are borrowed from argv; NULL, false or negative: not said. */
struct options {
    /* the question */
    const char *repo, *good, *bad, *measure, *metric, *project, *platform, *sandbox, *worse;
    const char *confirm;
    struct strings build, artifact;
    double confidence, min_effect;
    bool first_parent, no_inside, fresh, no_explain, has_seed;
    bool is_comparison; /* good is its base, bad its head */
    uint64_t seed;
    int64_t workers, budget_runs, budget_ns, timeout_ns, build_timeout_ns;
    /* where */
    const char *store, *coordinator, *token_file, *config;
    /* what to print */
    const char *folder;
    const char *format, *revision, *shell, *after, *fail_on;
    int64_t limit;
    /* simulate */
    const char *effect, *noise, *policy, *record, *revisions;
    int64_t commits, trials, culprits, stored, repeats;
    double build_cost, broken;
    bool verify;
    /* syscalls diff */
    const char *path, *call;
    /* slowsql */
    const char *submitted, *build_range, *channel, *db, *statement, *thread, *by, *sessions;
    const char *before_build, *after_build, *before_submitted, *after_submitted, *builds, *builds_platform;
    struct strings claims;
    int64_t jobs;
    bool bisect, lines;
    /* import */
    const char *host, *time, *revision_map;
    struct strings where;
    bool dry_run;
    /* calibration */
    int64_t checks;
    bool check_all;
    bool json, csv, raw, defaults, help;
    /* the words that are not flags */
    const char *words[OPTIONS_WORDS];
    size_t n_words;
};

void options_init(struct options *o);
void options_fini(struct options *o);
DEFINE_AUTO_FINI(struct options, options_fini)

enum flag_type {
    FLAG_SWITCH,      /* bool */
    FLAG_TEXT,        /* const char * */
    FLAG_LIST,        /* struct strings */
    FLAG_CHOICE,      /* const char *, one of `choices` */
    FLAG_COUNT,       /* int64_t, `low` to `high` */
    FLAG_SEED,        /* uint64_t, and has_seed */
    FLAG_PROBABILITY, /* double: .99 or 99% */
    FLAG_PERCENT,     /* double, in percent: 2 or 2% */
    FLAG_NUMBER,      /* double, `low` to `high` */
    FLAG_DURATION     /* int64_t, ns: 90s 5m 2h */
};

struct flag {
    const char *name;  /* "--good" */
    const char *value; /* what help calls its value; NULL for a switch */
    enum flag_type type;
    size_t offset; /* in struct options */
    const char *help;
    const char *const *choices; /* NULL-terminated */
    int64_t low, high;
};

/**
 * Reads `argv` (without program and command) into `o`, which is initialised.
 *
 * Errors: ERR_INVALID naming the flag, what was expected, and the nearest one that exists.
 */
MUST_CHECK enum err_code flags_parse(const struct flag *flags, size_t n, int argc,
                                     const char *const *argv, struct options *o, struct err *e);
/** One line or more a flag, aligned. */
void flags_help(const struct flag *flags, size_t n, struct buf *out);

#endif
