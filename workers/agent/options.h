/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of bisect-worker. */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include "base/err.h"
#include "model/project.h"
#include <stdbool.h>

struct options {
    char *coordinator, *token_file, *platform, *work_dir, *artifacts, *name, *host;
    struct strings tags;
    bool is_once, has_json_log, wants_help, wants_version;
};

void options_fini(struct options *o);
DEFINE_AUTO_FINI(struct options, options_fini)

/** Fills in defaults also: from the environment and this machine. ERR_INVALID with a hint. */
MUST_CHECK enum err_code options_parse(int argc, char *const *argv, struct options *out,
                                       struct err *e);
/** What --help prints. */
void options_help(struct buf *out);

#endif
