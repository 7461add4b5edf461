/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The walls around a job of kind bubblewrap: what it sees, and why they may not stand here.
 *
 * A job sees /usr, /etc, /opt and their like, read-only, and its own folders, the only ones that it
 * can write to, at the same paths on every worker. There is nothing else: no home, no /var, no
 * /run, no store. What lies in /etc and not everybody may read is hidden, as is what the worker
 * names.
 */
#ifndef SANDBOX_WALLS_H
#define SANDBOX_WALLS_H

#include "base/buf.h"
#include "base/err.h"
#include "model/project.h"
#include "workers/sandbox/job_env.h"

struct walls;

struct walls *walls_new(void);
void walls_free(struct walls *w);
DEFINE_AUTO(struct walls, walls_free)

/** Keeps a file or folder out of sight, wherever it is; one that is not there may come later. */
void walls_hide(struct walls *w, const char *path);
/** Looks anew at what in /etc is to be hidden, and at what the host has. ERR_NOT_FOUND: no bwrap;
 *  ERR_LIMIT: too much to hide. */
MUST_CHECK enum err_code walls_survey(struct walls *w, struct err *e);

/**
 * Appends the command that puts up the walls and starts descriptor INSIDE_PROGRAM within them.
 *
 * Pre: walls_survey() went well. Folders that `place` does not have are not there.
 */
void walls_argv(const struct walls *w, const struct job_place *place,
                const struct sandbox_limits *l, struct strings *argv);

/** Why the walls do not stand: bwrap's words and what this machine's settings say to them. */
void walls_explain(const char *words, struct buf *out);

/** The folders as a job within walls has them: constant. */
extern const struct job_place walls_place;

#endif
