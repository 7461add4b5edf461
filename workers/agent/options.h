/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of bisect-worker. */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include "base/err.h"
#include "model/project.h"
#include "workers/measure/quiet.h"
#include <stdbool.h>

struct options {
    const char *coordinator_from, *token_file_from; /* the flag or variable, for messages */
    char *coordinator, *token_file, *platform, *work_dir, *artifacts, *name, *host;
    char *quiet_wait, *quiet_load; /* as given */
    struct strings tags;
    struct quiet quiet;
    bool is_once, has_json_log, wants_help, wants_version;
};

void options_fini(struct options *o);
DEFINE_AUTO_FINI(struct options, options_fini)

/** Fills in defaults also: from the environment and this machine. ERR_INVALID with a hint, and the
 *  flag or variable in the text. */
MUST_CHECK enum err_code options_parse(int argc, char *const *argv, struct options *out,
                                       struct err *e);
/** The token in the token file; NULL if none is named. Caller frees with mem_free. Errors name the
 *  flag or variable. */
MUST_CHECK enum err_code options_token(const struct options *o, char **token, struct err *e);
/** What --help prints. */
void options_help(struct buf *out);

#endif
