/* SPDX-License-Identifier: Apache-2.0 */
/** The question that `run` and `submit` put, out of flags and a project file. */
#ifndef CLI_QUESTION_H
#define CLI_QUESTION_H

#include "base/err.h"
#include "cli/flag.h"
#include "model/bisection.h"

/**
 * A complete request whose project is given in full. Needs the flags of FLAG_ROWS_QUESTION.
 *
 * The repository is its main folder's absolute path, or a URL. Without --seed the seed is drawn.
 * Errors: ERR_INVALID, ERR_NOT_FOUND with a hint.
 */
MUST_CHECK enum err_code question_from_options(const struct options *o, struct request **out,
                                               struct err *e);

/**
 * Looks the ends up before anything is started, and puts their full hashes into the request: what
 * a branch's name means may change until the same question is put again.
 *
 * `from`:     the folder to look in, which decides what HEAD is; a repository on this machine.
 * `data_dir`: where the mirror is kept.
 * Errors:     those of mirror_open and range_load.
 */
MUST_CHECK enum err_code question_resolve(struct request *r, const char *from, const char *data_dir,
                                          struct err *e);

/** The folder to look names up in, if the repository is on this machine. Borrowed. */
const char *question_folder(const struct options *o, const struct request *r);

/** Puts the full hashes of the ends into the request, as question_resolve does, without a look at
 *  what lies between. */
MUST_CHECK enum err_code question_fix_ends(struct request *r, const char *from, struct err *e);

/** What a project of this repository is called where nothing else is said. `folder` may end in
 *  /.git. Caller frees. */
char *question_project_name(const char *folder);

/** Whether --project names a file, and not a project of the service. A folder, such as the
 *  repository that is called like its project, is none. */
bool question_names_file(const char *project);

/** "linux-x64" and the like: what a worker of this machine calls itself. */
const char *platform_here(void);

/* clang-format off */
/* Rows of the flags that make a question. */
#define FLAG_ROWS_ENDS \
    {"--repo", "DIR", FLAG_TEXT, offsetof(struct options, repo), "the repository (default: the current folder's)", NULL, 0, 0}, \
    {"--good", "REV", FLAG_TEXT, offsetof(struct options, good), "a revision before the change", NULL, 0, 0}, \
    {"--bad", "REV", FLAG_TEXT, offsetof(struct options, bad), "a revision with the change", NULL, 0, 0}
#define FLAG_ROWS_QUESTION \
    FLAG_ROWS_ENDS, \
    FLAG_ROWS_HOW, \
    {"--first-parent", NULL, FLAG_SWITCH, offsetof(struct options, first_parent), "test merges of the main line first, then look inside the one found", NULL, 0, 0}, \
    {"--no-inside", NULL, FLAG_SWITCH, offsetof(struct options, no_inside), "with --first-parent: a merge is an answer", NULL, 0, 0}, \
    {"--confirm", "none|revert", FLAG_CHOICE, offsetof(struct options, confirm), "revert: measure the bad revision with and without the culprit before that is believed (default: the project's, else none)", confirm_choices, 0, 0}, \
    FLAG_ROWS_BOUNDS, \
    {"--no-explain", NULL, FLAG_SWITCH, offsetof(struct options, no_explain), "leave it at the culprit: do not trace it and its parent to say what changed", NULL, 0, 0}
#define FLAG_ROWS_HOW \
    {"--build", "CMD", FLAG_LIST, offsetof(struct options, build), "a build step, run by /bin/sh in the source folder; may be repeated, may be left out", NULL, 0, 0}, \
    {"--measure", "CMD", FLAG_TEXT, offsetof(struct options, measure), "the command to measure, run by /bin/sh in a fresh folder with the build's artifacts", NULL, 0, 0}, \
    {"--metric", "KIND[:SPEC]", FLAG_TEXT, offsetof(struct options, metric), "what of it: exit, value, wall, cpu, rss, ts, counter, syscalls or slowsql; or a number of what a benchmark wrote, told by its looks (auto) or by the format's name: perfherder, talos, fileio, hyperfine, gbench, pytest, perfstat, criterion, gobench, jmh, lnt, bmf, otava, plain. KEY=VALUE,… may follow behind a colon, such as hyperfine:test=sort; with --project the name of one of its metrics", NULL, 0, 0}, \
    {"--project", "FILE", FLAG_TEXT, offsetof(struct options, project), "a project file that says all of the above but the ends", NULL, 0, 0}, \
    {"--confidence", "P", FLAG_PROBABILITY, offsetof(struct options, confidence), "how sure to be (default: .99)", NULL, 0, 0}, \
    {"--min-effect", "PCT", FLAG_PERCENT, offsetof(struct options, min_effect), "the smallest change worth a name, in percent of the good level (default: the metric's, else found out)", NULL, 0, 0}, \
    {"--worse", "up|down|either", FLAG_CHOICE, offsetof(struct options, worse), "which direction is worse (default: the metric's)", worse_choices, 0, 0}
#define FLAG_ROWS_BOUNDS \
    {"--platform", "P", FLAG_TEXT, offsetof(struct options, platform), "which workers may do it (default: this machine's)", NULL, 0, 0}, \
    {"--artifact", "GLOB", FLAG_LIST, offsetof(struct options, artifact), "files the build leaves that measuring needs; may be repeated (default: the whole tree)", NULL, 0, 0}, \
    {"--sandbox", "KIND", FLAG_TEXT, offsetof(struct options, sandbox), "how jobs are walled off: bubblewrap (own namespaces, read-only system, no home, no network) or plain (limits, but no walls)", NULL, 0, 0}, \
    {"--budget-runs", "N", FLAG_COUNT, offsetof(struct options, budget_runs), "at most so many runs (default: 2000)", NULL, 1, 1000000000}, \
    {"--budget-time", "DUR", FLAG_DURATION, offsetof(struct options, budget_ns), "at most so long, over all sittings: 90s, 5m, 2h; plain digits are seconds", NULL, 0, 0}, \
    {"--timeout", "DUR", FLAG_DURATION, offsetof(struct options, timeout_ns), "limit of one run of the measuring command: 90s, 5m, 2h; plain digits are seconds", NULL, 0, 0}, \
    {"--build-timeout", "DUR", FLAG_DURATION, offsetof(struct options, build_timeout_ns), "limit of one build: 90s, 5m, 2h; plain digits are seconds", NULL, 0, 0}, \
    {"--seed", "S", FLAG_SEED, offsetof(struct options, seed), "makes every choice repeatable (default: drawn, and stored)", NULL, 0, 0}, \
    {"--fresh", NULL, FLAG_SWITCH, offsetof(struct options, fresh), "ignore samples and builds of earlier runs; they are kept", NULL, 0, 0}
/* clang-format on */

extern const char *const worse_choices[];
extern const char *const confirm_choices[];

#endif
