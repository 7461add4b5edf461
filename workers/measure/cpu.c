/* SPDX-License-Identifier: Apache-2.0 */
/* User and system time of the command and the children it waited for. */
#include "workers/measure/kind.h"

void kind_cpu(const struct observation *o, struct reading *r)
{
    reading_set_time(r, o->metric, o->outcome->cpu_ns);
}
