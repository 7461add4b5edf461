/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Running a job, a command out of a project, so that nothing of it survives.
 *
 * A job has no terminal, an environment of exactly what it is given, limits on time, memory,
 * processes, disk and output, and a supervisor that ends its whole process tree when the command
 * ends, a limit is reached, the caller says stop, or the caller's process dies. What walls a job
 * has is a matter of the kind: see walls.h.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/buf.h"
#include "base/err.h"
#include "model/inspection.h"
#include "model/project.h"
#include "model/ready.h"
#include "workers/sandbox/clip.h"
#include "workers/sandbox/job_env.h"
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/** What a kind of sandbox is; one row a kind. */
struct sandbox_kind_row {
    enum sandbox_kind kind;
    const char *name;
    const char *help; /* what it gives and what it gives up */
    bool has_walls;   /* the job has namespaces and paths of its own */
};
extern const struct sandbox_kind_row sandbox_kinds[];
extern const size_t n_sandbox_kinds;

/** The row that a project's limits ask for, plain where they do not say. */
MUST_CHECK enum err_code sandbox_kind_of(const struct sandbox_limits *l,
                                         const struct sandbox_kind_row **out, struct err *e);

/**
 * The folders as the job will know them: its environment and its command have to name these.
 * With walls they are constant; without, the same. Borrowed from `place`, or static.
 */
struct job_place sandbox_place(const struct sandbox_limits *l, const struct job_place *place);

struct sandbox;

/**
 * Starts the supervisor.
 *
 * Pre: called early, while the program has one thread and little memory: a command's peak memory is
 *      never seen below the memory that this process had here.
 */
MUST_CHECK enum err_code sandbox_new(struct sandbox **out, struct err *e);
void sandbox_free(struct sandbox *s);
DEFINE_AUTO(struct sandbox, sandbox_free)

/** No job within walls sees this file or folder. An absolute path; NULL is fine. */
void sandbox_hide(struct sandbox *s, const char *path);

/**
 * Whether jobs of this kind can be run here: runs one that does nothing.
 *
 * Errors: ERR_DENIED, the machine refuses, ERR_NOT_FOUND, bwrap is missing: the text says which,
 * why, and what else there is; and those of sandbox_run.
 */
MUST_CHECK enum err_code sandbox_check(struct sandbox *s, const struct sandbox_limits *l,
                                       struct err *e);

/** What of the limits of jobs within walls the kernel keeps here: "memory and processes", a part of
 *  that, or "". The rest is watched. Pre: a check or a job of such a kind went well. */
const char *sandbox_kernel_keeps(const struct sandbox *s);

enum job_go { JOB_GO_ON, JOB_STOP };

struct job_spec {
    const char *command;                 /* for /bin/sh -ec */
    const struct job_place *place;       /* starts in its source; all that it may write to within
                                            walls, and what counts as disk */
    const struct strings *environment;   /* "KEY=value", all of it */
    const struct sandbox_limits *limits; /* kind as well */
    int64_t timeout_ns;                  /* 0: none */
    const cpu_set_t *cpus;               /* the only ones it may use; NULL: those of the worker */
    bool has_fixed_layout;               /* memory lies at the same addresses each time */
    const struct ready *ready;          /* it is ended once it is ready; NULL, or exit: when done */
    int64_t grace_ns;                   /* then: from SIGTERM to SIGKILL */
    int64_t disk_before_bytes;          /* the place's size before, see job_place_usage */
    enum job_go (*tick)(void *context); /* asked about every 100 ms; NULL: never stops */
    void *context;
};

enum job_end {
    JOB_EXITED,    /* by itself, with a status */
    JOB_SIGNALED,  /* by a signal that we did not send */
    JOB_TIMED_OUT, /* killed at its time limit */
    JOB_LIMIT,     /* killed at its memory, process or disk limit; `reason` names it */
    JOB_STOPPED,   /* killed because tick said so */
    JOB_READY,     /* was ready, and was ended for that; `code` is the status or signal of no use */
    JOB_WAS_READY  /* not begun: it would have been ready without */
};

struct job_outcome {
    enum job_end end;
    int code;           /* exit status, or signal */
    int64_t wall_ns;    /* CLOCK_MONOTONIC, exec of the shell to its exit */
    int64_t ready_ns;   /* the same, to its being ready; with JOB_READY */
    int64_t cpu_ns;     /* user and system, of the command and the children it waited for */
    int64_t rss_bytes;  /* peak of the largest process among them */
    struct usage usage; /* of the same processes */
    uint32_t n_left;  /* processes that were there when the command had ended by itself; no more */
    char reason[256]; /* for people; empty after exit status 0, and when it ended well once ready */
};

enum { JOB_OUTPUT_BYTES = 16 * MIB }; /* kept of stdout, or of both, where limits do not say */

/**
 * Runs a job to its end. When it returns no process of the job is left.
 *
 * Outputs: stdout goes to `out`, stdout and stderr as they come to `log`; either may be NULL. Both
 *          are the caller's, with limits of their own, and are filled even on errors.
 * Errors:  ours, never the job's: ERR_NOT_FOUND (no such folder), ERR_INVALID (a kind of sandbox
 *          that there is not), ERR_IO (no process, supervisor lost); those of sandbox_check.
 */
MUST_CHECK enum err_code sandbox_run(struct sandbox *s, const struct job_spec *spec,
                                     struct clip *out, struct clip *log,
                                     struct job_outcome *outcome, struct err *e);

/** Adds a line on what the command has left behind, if anything. For logs of a task. */
void job_note_left(const struct job_outcome *o, struct clip *log);

/** How much memory a job may use on a machine that has so much: nine tenths where nothing else is
 *  stated; 0: no limit. */
int64_t sandbox_memory_bytes(const struct sandbox_limits *l, int64_t machine_bytes);
/** How much of a job's output its limits keep. */
size_t sandbox_output_bytes(const struct sandbox_limits *l);

#endif
