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
 *
 * With walls there are two of them:
 *
 *     worker ==socket== supervisor -> bwrap -> bisect-job -> /bin/sh -ec COMMAND -> ...
 *                           ====== socket =======
 *
 * bisect-job is this same code as process 1 inside the walls, where it starts and times the
 * command: what bwrap takes is in no measurement. With it ends everything inside.
 */
#ifndef SANDBOX_SUPERVISOR_H
#define SANDBOX_SUPERVISOR_H

enum supervisor_side { SUPERVISOR_OUTSIDE, SUPERVISOR_INSIDE };

/** Where the one inside finds its socket, and where it was itself. */
enum { INSIDE_CTL = 3, INSIDE_PROGRAM = 4 };

/** The supervisor's whole life; `ctl` is its end of a SOCK_SEQPACKET pair. Outside: in a forked
 *  child. Inside: in a program of its own. */
_Noreturn void supervisor_live(int ctl, enum supervisor_side side);

#endif
