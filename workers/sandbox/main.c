/* SPDX-License-Identifier: Apache-2.0 */
/* bisect-job: starts, times and ends one job inside walls. Part of bisect-worker, which carries it
 * within itself and starts it as process 1 of the job's namespaces; see supervisor.h. */
#include "workers/sandbox/supervisor.h"

int main(void)
{
    supervisor_live(INSIDE_CTL, SUPERVISOR_INSIDE);
}
