/* SPDX-License-Identifier: Apache-2.0 */
/** The command line of bisectd. */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include "base/buf.h"
#include "base/err.h"
#include "config/config.h"
#include <stdbool.h>
#include <stdint.h>

struct options {
    const char *config; /* borrowed from argv, as all strings; NULL: not given */
    const char *data_dir;
    const char *listen;
    const char *platform; /* of workers on this machine; NULL: their own default */
    const char *sandbox;  /* of projects that name none; NULL: not given */
    int64_t n_workers;    /* -1: not given */
    int64_t ready_fd;     /* -1: none */
    bool is_private;
    bool is_log_json;
    bool is_help, is_version, is_child;
};

/** ERR_INVALID, with the nearest flag as hint. */
MUST_CHECK enum err_code options_parse(int argc, char **argv, struct options *out, struct err *e);
void options_help(struct buf *out);

/** The configuration that holds: file, then flags. data_dir is made, and its path resolved. */
MUST_CHECK enum err_code options_config(const struct options *o, struct config **out,
                                        struct err *e);

#endif
