/* SPDX-License-Identifier: Apache-2.0 */
#include "workers/sandbox/keeper.h"
#include "base/clock.h"
#include "base/file.h"
#include "workers/sandbox/supervisor.h"
#include "workers/sandbox/tree.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUPERVISOR_GONE_NS (5 * NS_PER_S)

enum err_code keeper_start(struct keeper *k, struct err *e)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return err_sys(e, errno, "start the job supervisor");
    pid_t pid = fork();
    if (pid == 0)
        supervisor_live(pair[1], SUPERVISOR_OUTSIDE);
    int sys = errno;
    fd_close(pair[1]);
    if (pid < 0) {
        fd_close(pair[0]);
        return err_sys(e, sys, "start the job supervisor");
    }
    k->supervisor = pid;
    k->ctl = pair[0];
    return ERR_OK;
}

void keeper_dismiss(struct keeper *k)
{
    if (!k->supervisor)
        return;
    fd_close(k->ctl);
    waitpid(k->supervisor, NULL, 0);
    k->supervisor = 0;
    k->ctl = -1;
}

static void ignore_reaped(void *context, pid_t pid, int status, const struct rusage *used)
{
    (void)context;
    (void)pid;
    (void)status;
    (void)used;
}

void keeper_bury(struct keeper *k)
{
    int is_subreaper = 0;

    fd_close(k->ctl);
    kill(k->supervisor, SIGKILL);
    waitpid(k->supervisor, NULL, 0);
    k->supervisor = 0;
    k->ctl = -1;
    if (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) == 0 && is_subreaper)
        tree_kill_own(SUPERVISOR_GONE_NS, ignore_reaped, NULL);
}
