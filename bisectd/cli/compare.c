/* SPDX-License-Identifier: Apache-2.0 */
/* bisectctl compare: one revision against another on one metric, with no search. */
#include "cli/command.h"
#include "cli/question.h"
#include "cli/run.h"

/* clang-format off */
static const char *const fail_choices[] = {"regressed", "changed", NULL};
static const struct flag flags[] = {
    {"--repo", "DIR", FLAG_TEXT, offsetof(struct options, repo), "the repository (default: the current folder's)", NULL, 0, 0},
    {"--base", "REV", FLAG_TEXT, offsetof(struct options, good), "the revision to compare with; need not be an ancestor", NULL, 0, 0},
    {"--head", "REV", FLAG_TEXT, offsetof(struct options, bad), "the revision to be judged", NULL, 0, 0},
    FLAG_ROWS_HOW,
    FLAG_ROWS_BOUNDS,
    {"--workers", "N", FLAG_COUNT, offsetof(struct options, workers), "workers on this machine (default: 1, and a comparison keeps no more busy)", NULL, 1, 64},
    {"--store", "DIR", FLAG_TEXT, offsetof(struct options, store), "where builds, samples and state are kept (default: bisectd/ in the repository's .git)", NULL, 0, 0},
    {"--fail-on", "regressed|changed", FLAG_CHOICE, offsetof(struct options, fail_on), "exit with status 6 when that is so, as CI wants it", fail_choices, 0, 0},
    FLAG_ROW_JSON,
    FLAG_ROW_HELP,
};
/* clang-format on */

static int run(const struct options *o)
{
    struct options own = *o;

    own.is_comparison = true;
    return run_here(&own);
}

const struct command command_compare = {
    .name = "compare",
    .words = "",
    .summary = "measure one revision against another, with no search",
    .about = "Builds both and measures them in turn until it is sure that head is worse than base, "
             "or better, or that they differ by less than --min-effect. Looking after every batch "
             "of runs does not make it wrong more often than it says. Samples of earlier runs are "
             "not used: base and head are measured side by side. Exit status: 0 regressed, "
             "improved or same, 4 inconclusive, 6 as --fail-on says, 1 failed, 2 usage, 130 "
             "interrupted.",
    .example = "bisectctl compare --base main --head HEAD --build 'make -j4' --measure './demo "
               "--quit' --metric wall\n"
               "bisectctl compare --project demo.yml --metric startup --base v1.4 --head HEAD "
               "--fail-on regressed\n",
    .flags = flags,
    .n_flags = LEN(flags),
    .run = run,
};
