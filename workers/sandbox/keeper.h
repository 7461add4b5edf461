/* SPDX-License-Identifier: Apache-2.0 */
/** The supervisor seen from the worker: starting it, and burying it when it has died. */
#ifndef SANDBOX_KEEPER_H
#define SANDBOX_KEEPER_H

#include "base/err.h"
#include <sys/types.h>

struct keeper {
    pid_t supervisor; /* 0: none lives */
    int ctl;          /* its socket; -1 */
};

MUST_CHECK enum err_code keeper_start(struct keeper *k, struct err *e);
/** It kills its job, if any, and leaves. */
void keeper_dismiss(struct keeper *k);
/** After its death: ends what it had started, which has come to us if we are a subreaper. */
void keeper_bury(struct keeper *k);

#endif
