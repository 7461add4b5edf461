/* SPDX-License-Identifier: Apache-2.0 */
/**
 * bisectd.yml and project files.
 *
 * Every key is a row of one table, schema.c. Errors read "FILE:LINE:COLUMN: key.path: what was
 * expected", and the hint names what is known there.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "config/limits.h"
#include "model/project.h"
#include <stdbool.h>

enum engine_kind { ENGINE_LOCAL, ENGINE_POOL };
const char *engine_name(enum engine_kind k);

/** Where the daemon accepts TCP connections. */
struct listen_at {
    char *host;    /* NULL: nowhere */
    uint16_t port; /* 0: the system chooses */
};

/** Testing finished verdicts again. */
struct calibration_config {
    double share;    /* of finished bisections, tested when idle; 0: none unless asked */
    int64_t n_runs;  /* of one test at most */
    int64_t idle_ns; /* without other work before it tests by itself */
};

struct config {
    char *path; /* absolute; NULL: no file, all defaults */
    struct listen_at listen;
    char *data_dir; /* absolute */
    enum engine_kind engine;
    uint32_t n_workers;        /* of engine local */
    enum sandbox_kind sandbox; /* of projects that name none */
    struct limits limits;
    struct calibration_config calibration;
    size_t n_projects;
    struct project **projects;
};

void config_free(struct config *c);
DEFINE_AUTO(struct config, config_free)
/** 127.0.0.1:8641, $XDG_STATE_HOME/bisectd (or ~/.local/state/bisectd), engine local, no projects.
 */
struct config *config_default(void);
/** Projects named by file are loaded too. Relative paths are relative to the file they stand in. */
MUST_CHECK enum err_code config_load(const char *path, struct config **out, struct err *e);
/** $XDG_CONFIG_HOME/bisectd/bisectd.yml (or ~/.config/…), else /etc/bisectd/bisectd.yml; NULL if
 *  there is neither. Caller frees with mem_free. */
char *config_find(void);
const struct project *config_project(const struct config *c, const char *name); /* NULL: none */

/** A project file. A relative repository path is relative to the file's folder. */
MUST_CHECK enum err_code project_load(const char *path, struct project **out, struct err *e);

/** Whichever of the two the file is, by its keys. For `config check`; *what says which. */
MUST_CHECK enum err_code config_check_file(const char *path, const char **what, struct err *e);

/** "HOST:PORT", "[::1]:PORT" or "none". Replaces *out. */
MUST_CHECK enum err_code listen_parse(const char *text, struct listen_at *out, struct err *e);
void listen_fini(struct listen_at *l);
DEFINE_AUTO_FINI(struct listen_at, listen_fini)

/** Every key with its type, default, limits and meaning: for people, and as {"bisectd.yml": [rows],
 *  "project": [rows]}. */
void config_defaults_text(struct buf *out);
json *config_defaults_json(void);

#endif
