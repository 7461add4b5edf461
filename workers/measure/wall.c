/* SPDX-License-Identifier: Apache-2.0 */
/* Elapsed time, from exec of the shell to its exit. */
#include "workers/measure/kind.h"

void kind_wall(const struct observation *o, struct reading *r)
{
    reading_set_time(r, o->metric, o->outcome->wall_ns);
}
