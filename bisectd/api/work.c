/* SPDX-License-Identifier: Apache-2.0 */
#include "api/service.h"

void work_abandon(struct work *w)
{
    w->waiter = NULL;
    if (!w->is_under_way)
        w->release(w);
}

struct exchange *work_finish(struct work *w)
{
    w->is_under_way = false;
    w->is_done = true;
    if (!w->waiter)
        w->release(w);
    else
        return w->waiter;
    return NULL;
}
