/* SPDX-License-Identifier: Apache-2.0 */
/* Peak memory of the largest process of the command. */
#include "workers/measure/kind.h"

void kind_rss(const struct observation *o, struct reading *r)
{
    reading_set_memory(r, o->metric, o->outcome->rss_bytes);
}
