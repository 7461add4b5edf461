/* SPDX-License-Identifier: Apache-2.0 */
/* The exit status by the contract of `git bisect run`. */
#include "workers/measure/kind.h"
#include <stdio.h>

enum { STATUS_SKIP = 125, STATUS_NO_PROGRAM = 126, STATUS_NOT_FOUND = 127, STATUS_ABORT = 128 };

void kind_exit(const struct observation *o, struct reading *r)
{
    const struct job_outcome *job = o->outcome;

    if (job->end == JOB_SIGNALED || job->code >= STATUS_ABORT) {
        r->status = RUN_ABORT;
        snprintf(r->reason, sizeof(r->reason), "%s, which ends a bisection by git's contract",
                 job->reason);
        return;
    }
    if (job->code == STATUS_SKIP) {
        r->status = RUN_CANNOT;
        r->is_final = true;
        snprintf(r->reason, sizeof(r->reason), "exited 125: cannot test");
        return;
    }
    reading_set(r, job->code == 0 ? 0 : 1);
    if (job->code == STATUS_NO_PROGRAM || job->code == STATUS_NOT_FOUND)
        reading_quote(r, "", o); /* bad by the contract, and hardly what was meant */
}
