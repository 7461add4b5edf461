/* SPDX-License-Identifier: Apache-2.0 */
#include "api/service.h"

void work_abandon(struct work *w)
{
    w->waiter = NULL;
    if (!w->is_under_way)
        w->release(w);
}

void exchange_await(struct exchange *x)
{
    struct work *w = x->work;

    if (!w->is_done)
        exchange_wait(x, (struct mono){INT64_MAX});
    else if (w->error.code)
        answer_error(x, &w->error);
    else if (w->answer)
        answer_json(x, 200, TAKE(w->answer));
    else
        answer_empty(x, 204);
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
