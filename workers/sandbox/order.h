/* SPDX-License-Identifier: Apache-2.0 */
/** What the worker, the supervisor and the one inside the walls tell each other of a job. */
#ifndef SANDBOX_ORDER_H
#define SANDBOX_ORDER_H

#include "model/inspection.h"
#include "model/ready.h"
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

enum order_kind { ORDER_RUN, ORDER_STOP };

/**
 * Towards the job. With ORDER_RUN come descriptors.
 *
 * The text holds NUL-terminated strings: n_wall of the command that puts up walls (0: there are
 * none), n_argv of the job's, the folder to start in, what readiness looks for, n_environment of
 * the job's variables.
 */
struct order {
    enum order_kind kind;
    uint32_t number; /* of the job; a stop for another one is ignored */
    uint32_t n_wall, n_argv, n_environment;
    uint32_t text_bytes;
    uint32_t has;        /* bit i: descriptor i comes along; order_send() sets it */
    int64_t timeout_ns;  /* 0: none */
    int64_t file_bytes;  /* RLIMIT_FSIZE; 0: none */
    int64_t n_processes; /* the kernel keeps a wall well behind it; 0: none */
    bool has_cpus;
    cpu_set_t cpus;        /* the only ones it may use */
    bool has_fixed_layout; /* no randomisation of addresses */
    enum ready_kind ready; /* other than exit: the job is ended once it is ready */
    uint16_t ready_port;
    int64_t grace_ns; /* then: from SIGTERM to SIGKILL */
};
enum {
    ORDER_TEXT,
    ORDER_STDOUT,
    ORDER_STDERR,
    ORDER_INSIDE, /* the program that runs the job inside walls */
    ORDER_GROUP,  /* cgroup.procs of the job's control groups, to be entered */
    ORDER_GROUP_TOO,
    ORDER_DESCRIPTORS
};

enum report_end {
    REPORT_EXITED,
    REPORT_SIGNALED,
    REPORT_TIMED_OUT,
    REPORT_STOPPED,
    REPORT_READY,       /* was ready, and has ended or was killed after that */
    REPORT_WAS_READY,   /* before it was started: it was not */
    REPORT_NOT_STARTED, /* sys and step say why */
    REPORT_NO_WALLS,    /* the walls fell, or never stood; words say why */
    REPORT_STUCK        /* a process of the job could not be killed */
};

/** Back from the job, when nothing of it is left. */
struct report {
    enum report_end end;
    uint32_t number;
    int code;           /* exit status, or signal */
    int sys;            /* errno */
    uint32_t n_left;    /* processes that it had left behind when it ended by itself */
    char step[24];      /* of the start: "chdir" */
    char words[400];    /* what the program that puts up walls had to say */
    int64_t wall_ns;    /* from exec to exit */
    int64_t ready_ns;   /* from exec; with REPORT_READY */
    bool is_killed;     /* with REPORT_READY: the grace was over */
    int64_t cpu_ns;     /* user and system, of the command and the children it waited for */
    int64_t rss_bytes;  /* largest of any one of them */
    struct usage usage; /* of all of them */
};

/** Sends one message with its descriptors, those < 0 left out; false with errno when it did not
 *  get through. `ctl` is a SOCK_SEQPACKET socket. */
bool order_send(int ctl, const struct order *o, const int fds[ORDER_DESCRIPTORS]);

enum order_got { ORDER_GOT, ORDER_NONE, ORDER_END };
/** Reads one ORDER_RUN; ORDER_NONE for anything else, ORDER_END when the other side is gone.
 *  Outputs: descriptors, close-on-exec and the caller's; -1 for those that did not come. */
enum order_got order_receive(int ctl, struct order *o, int fds[ORDER_DESCRIPTORS]);

#endif
