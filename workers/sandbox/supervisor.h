/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The process between the worker and a job.
 *
 *     worker ==socket== supervisor -> /bin/sh -ec COMMAND -> whatever it starts
 *
 * It is forked once, before the worker has threads or much memory (the peak memory of a command is
 * never below that of the process it was forked from), and runs one order after another. It is a
 * child subreaper: a daemonised grandchild comes back to it, so when a job ends nothing of it is
 * left. When the worker dies, by whatever means, the socket ends and the supervisor kills the job
 * and itself.
 */
#ifndef SANDBOX_SUPERVISOR_H
#define SANDBOX_SUPERVISOR_H

#include "model/ready.h"
#include <stdbool.h>
#include <stdint.h>

enum order_kind { ORDER_RUN, ORDER_STOP };

/** Worker to supervisor. With ORDER_RUN come three descriptors: the text, stdout and stderr. */
struct order {
    enum order_kind kind;
    uint32_t number; /* of the job; a stop for another one is ignored */
    uint32_t n_argv; /* the text holds argv, then the folder to start in, then what readiness looks
                        for, then n_environment */
    uint32_t n_environment; /* NUL-terminated strings */
    uint32_t text_bytes;
    int64_t timeout_ns;    /* 0: none */
    int64_t file_bytes;    /* RLIMIT_FSIZE; 0: none */
    int64_t n_processes;   /* the kernel keeps a wall well behind it; 0: none */
    enum ready_kind ready; /* other than exit: the job is ended once it is ready */
    uint16_t ready_port;
    int64_t grace_ns; /* then: from SIGTERM to SIGKILL */
    bool is_apart;    /* nothing outside the job can make it look ready */
    uint32_t n_outer; /* processes of the sandbox's own between us and the command */
};
enum { ORDER_TEXT, ORDER_STDOUT, ORDER_STDERR, ORDER_DESCRIPTORS };

enum report_end {
    REPORT_EXITED,
    REPORT_SIGNALED,
    REPORT_TIMED_OUT,
    REPORT_STOPPED,
    REPORT_READY,       /* was ready, and has ended or was killed after that */
    REPORT_WAS_READY,   /* before it was started: it was not */
    REPORT_NOT_STARTED, /* sys and step say why */
    REPORT_STUCK        /* a process of the job could not be killed */
};

/** Supervisor to worker, when nothing of the job is left. */
struct report {
    enum report_end end;
    uint32_t number;
    int code;          /* exit status, or signal */
    int sys;           /* errno */
    char step[24];     /* of the start: "chdir" */
    int64_t wall_ns;   /* from exec to exit */
    int64_t ready_ns;  /* from exec; with REPORT_READY */
    bool is_killed;    /* with REPORT_READY: the grace was over */
    int64_t cpu_ns;    /* user and system, of the command and the children it waited for */
    int64_t rss_bytes; /* largest of any one of them */
};

/** The supervisor's whole life, in a forked child; `ctl` is its end of a SOCK_SEQPACKET pair. */
_Noreturn void supervisor_live(int ctl);

#endif
