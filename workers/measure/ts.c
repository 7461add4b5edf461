/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up time: from exec of the shell until the program is ready. */
#include "model/ready.h"
#include "workers/measure/kind.h"
#include <stdio.h>
#include <string.h>

void kind_ts(const struct observation *o, struct reading *r)
{
    const struct job_outcome *job = o->outcome;
    const char *ready = o->metric->ready;
    bool is_clean = job->end == JOB_EXITED && job->code == 0;

    if (job->end == JOB_READY) {
        reading_set_time(r, o->metric, job->ready_ns);
        snprintf(r->reason, sizeof(r->reason), "%s", job->reason);
        return;
    }
    if (is_clean && (!ready || strcmp(ready, "exit") == 0)) {
        reading_set_time(r, o->metric, job->wall_ns);
        return;
    }
    r->status = RUN_CANNOT;
    if (!ready || strcmp(ready, "exit") == 0)
        reading_quote(r, "cannot measure: ", o);
    else if (is_clean)
        reading_quote(r, "cannot measure: ended before it was ready", o);
    else if (job->end == JOB_WAS_READY || job->end == JOB_LIMIT)
        reading_quote(r, "cannot measure: ", o);
    else
        reading_quote(r, "cannot measure: ended before it was ready: ", o);
}
